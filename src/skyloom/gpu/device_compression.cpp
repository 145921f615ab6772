// SPDX-License-Identifier: BSD-3-Clause
// Twice over the samples, piece by piece: what each has is counted; the host, which alone sees them
// in their order, says where its runs go; then they are made.
#include "skyloom/gpu/device_compression.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "loom/device/device_stage.hpp"
#include "loom/device/send.hpp"
#include "skyloom/gpu/sky_kernels.hpp"

namespace skyloom {
namespace {

std::size_t over(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

/// Where the runs of each piece go, and how many there are: a run that began in one piece takes
/// what the next ones have of its pixel.
std::uint64_t plan_pieces(std::span<const gpu::PieceFacts> facts, std::size_t of_baseline,
                          std::span<gpu::PiecePlan> plans) {
  std::uint64_t runs = 0;
  std::size_t owner = 0;  // of the open run
  std::int32_t open = -1;
  for (std::size_t p = 0; p < facts.size(); ++p) {
    if (p % of_baseline == 0) open = -1;
    const gpu::PieceFacts& of = facts[p];
    plans[p] = {.first_run = runs, .last_piece = static_cast<std::uint32_t>(p), .joined = -1};
    if (of.first < 0) continue;
    std::uint32_t own = of.begun;
    if (of.first == open) {
      plans[owner].last_piece = static_cast<std::uint32_t>(p);
      plans[p].joined = open;
      --own;
    }
    if (own > 0) owner = p;
    open = of.last;
    runs += own;
  }
  return runs;
}

/// Runs by tiles and baselines; their places.
void add_segments(const TileGrid& tiles, std::span<const Pixel> pixels, std::uint64_t first,
                  std::uint64_t end, std::size_t baseline, Stream& to) {
  const std::size_t before = to.segments.size();
  for (std::uint64_t r = first; r < end; ++r) {
    const std::int32_t tile = tiles.tile(pixels[r]);
    to.runs[r].place = tiles.place(pixels[r]);
    if (to.segments.size() == before || to.segments.back().tile != tile) {
      to.segments.push_back({tile, static_cast<std::uint32_t>(baseline), 0});
    }
    ++to.segments.back().runs;
    to.good += static_cast<std::size_t>(to.runs[r].n);
  }
}

}  // namespace

struct DeviceCompression::Work {
  std::unique_ptr<loom::Stream> stream;
  HostMemory staging;
  DeviceMemory samples, runs;
  std::vector<gpu::PieceFacts> facts;
  std::vector<gpu::PiecePlan> plans;
  std::vector<Pixel> pixels;  ///< of runs

  void open(Device& device) {
    if (stream) return;
    stream = device.make_stream();
    staging = HostMemory(device, gpu::kStaging);
  }
  /// Room for `bytes`; what was there is lost.
  static void grow(Device& device, std::size_t bytes, DeviceMemory& memory) {
    if (memory.bytes() >= bytes) return;
    memory = {};
    memory = DeviceMemory(device, bytes);
  }
};

/// Of a detector.
struct DeviceCompression::Arrays {
  double *signal, *q, *u;
  Pixel* pixels;
  std::uint8_t* flags;
  gpu::PieceFacts* facts;
  gpu::PiecePlan* plans;

  Arrays(std::size_t samples, std::size_t pieces, Arena& arena)
      : signal(arena.take<double>(samples)),
        q(arena.take<double>(samples)),
        u(arena.take<double>(samples)),
        pixels(arena.take<Pixel>(samples)),
        flags(arena.take<std::uint8_t>(samples)),
        facts(arena.take<gpu::PieceFacts>(pieces)),
        plans(arena.take<gpu::PiecePlan>(pieces)) {}
};

namespace {

/// Of its runs.
struct RunArrays {
  Run* runs;
  RunProducts* products;
  Pixel* pixels;

  RunArrays(std::size_t n, Arena& arena)
      : runs(arena.take<Run>(n)),
        products(arena.take<RunProducts>(n)),
        pixels(arena.take<Pixel>(n)) {}
};

}  // namespace

DeviceCompression::DeviceCompression(Device& device, const SkyGrid& grid)
    : device_(device), grid_(grid) {
  (void)gpu::sky_kernels(device);  // or throws
}

DeviceCompression::~DeviceCompression() = default;

bool DeviceCompression::takes(std::size_t step, std::size_t samples) noexcept {
  const std::size_t length = step == 0 ? samples : std::min(step, samples);
  return length > 0 && static_cast<double>(length) <= kMostSamples;
}

double DeviceCompression::shared_bytes(double samples, bool plate) noexcept {
  return sizeof(double) * samples * static_cast<double>(plate ? kPlateRows : kBoresightRows);
}

double DeviceCompression::work_bytes(double samples, double runs) noexcept {
  constexpr double kOfPiece = sizeof(gpu::PieceFacts) + sizeof(gpu::PiecePlan);
  constexpr double kOfRun = sizeof(Run) + sizeof(RunProducts) + sizeof(Pixel);
  return samples * (3 * sizeof(double) + sizeof(Pixel) + 1 + kOfPiece / gpu::kPiece) +
         runs * kOfRun;
}

void DeviceCompression::begin(const Boresight& boresight, std::size_t step) {
  boresight_ = &boresight;
  samples_ = boresight.cols();
  step_ = step == 0 ? samples_ : step;
  auto work = works_.borrow();
  work->open(device_);
  const std::size_t n = boresight.rows() * samples_;
  Work::grow(device_, n * sizeof(double), rows_);
  const DeviceStage stage(*work->stream, "boresight");
  for (std::size_t row = 0; row < boresight.rows(); ++row) {
    send(*work->stream, static_cast<double*>(rows_.data()) + row * samples_,
         {boresight.row(row), samples_}, work->staging);
  }
}

void DeviceCompression::send_samples(Work& work, const Arrays& at, std::span<const double> signal,
                                     std::span<const std::uint8_t> flags) const {
  send(*work.stream, at.signal, signal, work.staging);
  send(*work.stream, at.flags, flags, work.staging);
}

void DeviceCompression::expand(Work& work, const Arrays& at, const Detector& detector) const {
  ExpandView view = expand_view(*boresight_, 0, detector, grid_,
                                {{at.pixels, samples_}, {at.q, samples_}, {at.u, samples_}});
  const auto row = [&](std::size_t number) {
    return static_cast<const double*>(rows_.data()) + number * samples_;
  };
  view.x = row(0);
  view.y = row(1);
  view.z = row(2);
  view.w = row(3);
  if (view.plate_cos != nullptr) {
    view.plate_cos = row(kPlateAngle + 1);
    view.plate_sin = row(kPlateAngle + 2);
  }
  gpu::sky_kernels(device_).expand(*work.stream, static_cast<long>(samples_), view);
}

/// Counts, plans and makes them; the host's arrays of `work` and of `to` then have all that is
/// known of them.
void DeviceCompression::fetch_runs(Work& work, const Arrays& at, Stream& to) const {
  const gpu::SkyKernels& kernels = gpu::sky_kernels(device_);
  const auto pieces = static_cast<long>(work.facts.size());
  const gpu::SampleView samples{.pixels = at.pixels,
                                .q = at.q,
                                .u = at.u,
                                .signal = at.signal,
                                .flags = at.flags,
                                .samples = samples_,
                                .step = step_,
                                .pieces = over(step_, gpu::kPiece)};
  kernels.count(*work.stream, pieces, {.of = samples, .facts = at.facts});
  fetch(*work.stream, work.facts, at.facts, work.staging);
  const std::uint64_t runs = plan_pieces(work.facts, samples.pieces, work.plans);
  to.runs.resize(runs);
  to.products.resize(runs);
  work.pixels.resize(runs);
  if (runs == 0) return;
  Arena measure;
  (void)RunArrays(runs + runs / 4, measure);  // detectors are alike
  Work::grow(device_, measure.used(), work.runs);
  Arena arena(work.runs.data(), work.runs.bytes(), work.stream.get());
  const RunArrays made(runs, arena);
  send(*work.stream, at.plans, work.plans, work.staging);
  kernels.compress(*work.stream, pieces,
                   {.of = samples,
                    .plans = at.plans,
                    .runs = made.runs,
                    .products = made.products,
                    .pixels = made.pixels});
  fetch(*work.stream, to.runs, made.runs, work.staging);
  fetch(*work.stream, to.products, made.products, work.staging);
  fetch(*work.stream, work.pixels, made.pixels, work.staging);
}

Stream DeviceCompression::compress(const Detector& detector, double weight,
                                   std::span<const double> signal,
                                   std::span<const std::uint8_t> flags) {
  auto work = works_.borrow();
  work->open(device_);
  const std::size_t of_baseline = over(step_, gpu::kPiece), baselines = over(samples_, step_);
  work->facts.resize(baselines * of_baseline);
  work->plans.resize(work->facts.size());
  Arena measure;
  (void)Arrays(samples_, work->facts.size(), measure);
  Work::grow(device_, measure.used(), work->samples);
  Stream out;
  out.weight = weight;
  {
    // also tells the card of this thread, which may be new to it
    const DeviceStage stage(*work->stream, "compress");
    Arena arena(work->samples.data(), work->samples.bytes(), work->stream.get());
    const Arrays at(samples_, work->facts.size(), arena);
    send_samples(*work, at, signal, flags);
    expand(*work, at, detector);
    fetch_runs(*work, at, out);
  }
  (void)work->stream->take_stage_times();
  for (const gpu::PieceFacts& facts : work->facts) {
    out.flagged += facts.flagged;
    out.not_finite += facts.not_finite;
  }
  for (std::size_t b = 0; b < baselines; ++b) {
    const bool last = b + 1 == baselines;
    const std::uint64_t end = last ? out.runs.size() : work->plans[(b + 1) * of_baseline].first_run;
    add_segments({grid_.tile_shift(), grid_.tiles()}, work->pixels,
                 work->plans[b * of_baseline].first_run, end, b, out);
    out.lengths.push_back(static_cast<std::uint32_t>(std::min(step_, samples_ - b * step_)));
  }
  return out;
}

}  // namespace skyloom
