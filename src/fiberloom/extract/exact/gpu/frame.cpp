// SPDX-License-Identifier: BSD-3-Clause
// Memory of a frame, then normal equations. (Solve: solve.cpp; sweeps and roots: roots.cpp;
// diagnostics.cpp.)
#include "fiberloom/extract/exact/gpu/frame.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/exact/gpu/roots.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact::gpu {

namespace {

// Poles of a window that go through one launch: what a clean frame has, and what a launch is worth
// while for.
constexpr int kUsualPoles = 16, kFewPoles = 5;

int chunks_of(int bins, int size) { return (bins + size - 1) / size; }

/// Which tiles to take, kTileShapes: none. Spots that meet are at most `reach` bins apart.
int tile_shape(int reach, const SpotStore& spots, std::size_t shared_bytes) {
  int i = 0;
  while (i < kTileShapes &&
         (kDeviceTiles[i].halo < reach || tile_bytes(kDeviceTiles[i].core, kDeviceTiles[i].halo,
                                                     spots.nx, spots.ny) > shared_bytes)) {
    ++i;
  }
  return i;
}

template <class T>
T* take_copy(Arena& arena, const std::vector<T>& values) {
  return arena.take<T>(std::max<std::size_t>(values.size(), 1));
}

}  // namespace

int band_index(int band) {
  int i = 0;
  while (i + 1 < kBandCount && kDeviceBands[i] < band) ++i;
  return i;
}

DeviceFrame::DeviceFrame(const Problem& problem, bool pixels_are_double, bool want_model)
    : p_(problem), double_pixels_(pixels_are_double), want_model_(want_model) {
  Arena measure;
  lay_out(measure);
}

DeviceFrame::DeviceFrame(const Problem& problem, bool pixels_are_double, bool want_model,
                         Stream& stream, const DeviceKernels& kernels, const Observer& observer,
                         const FrameNeeds& needs, void* memory, std::size_t bytes,
                         std::span<std::byte> mail, std::size_t shared_bytes)
    : p_(problem),
      double_pixels_(pixels_are_double),
      want_model_(want_model),
      stream_(&stream),
      k_(&kernels),
      observer_(&observer),
      shared_bytes_(shared_bytes),
      mail_(stream, mail) {
  Arena arena(memory, bytes, &stream);
  lay_out(arena);
  const std::size_t at = bytes - arena.left();
  auto* const scratch = static_cast<std::byte*>(memory) + at;
  const std::size_t others = needs.beside_roots;
  const bool beside = others + needs.roots <= arena.left();
  side_ = beside ? &stream.side() : stream_;
  scratch_ = Arena(scratch, beside ? others : arena.left(), &stream);
  root_scratch_ = beside ? Arena(scratch + others, arena.left() - others, &stream) : scratch_;
  outcomes_.resize(static_cast<std::size_t>(p_.nbundle()));
  roots_stage_ = std::make_unique<RootStage>(*this);
}
DeviceFrame::~DeviceFrame() = default;

void DeviceFrame::lay_out(Arena& a) {
  const long f = p_.nfiber(), rows = p_.nbin + 2L * p_.margin;
  image_ = a.take<std::byte>(image_bytes());
  ivar_ = a.take<std::byte>(image_bytes());
  ccd_ = {};
  ccd_.nx = p_.plan.npix_x;
  ccd_.ny = p_.plan.npix_y;
  if (double_pixels_) {
    ccd_.image_d = static_cast<const double*>(image_);
    ccd_.ivar_d = static_cast<const double*>(ivar_);
  } else {
    ccd_.image_f = static_cast<const float*>(image_);
    ccd_.ivar_f = static_cast<const float*>(ivar_);
  }
  shape_ = {p_.nfiber(),
            p_.nbundle(),
            p_.nbin,
            p_.margin,
            p_.band,
            p_.cross_band,
            p_.reach,
            take_copy(a, p_.bundle_of),
            take_copy(a, p_.bundle_first)};
  trace_ = {take_copy(a, p_.trace_x0), take_copy(a, p_.trace_y0), take_copy(a, p_.live),
            p_.bin_pitch()};
  live_first_ = take_copy(a, p_.live_first);
  live_last_ = take_copy(a, p_.live_last);
  direction_ = take_copy(a, p_.direction);
  strip_x_ = take_copy(a, p_.strip_x);
  solve_fiber_ = take_copy(a, p_.solve_fiber);
  solve_step_ = take_copy(a, p_.solve_step);
  lay_out_fits(a);
  const SpotPlan& plan = p_.plan;
  spot_args_.coef = a.take<double>(plan.coef.size());
  spot_args_.basis = a.take<double>(plan.basis.size());
  spot_args_.domain = take_copy(a, plan.domain);
  spot_args_.used = take_copy(a, plan.used);
  spot_args_.psf_fiber = take_copy(a, p_.psf_fiber);
  median_ = a.take<double>(static_cast<std::size_t>(p_.nbundle()));
  n_.own = take_packs(a, f, rows, p_.band + 1);
  for (int r = 0; r < p_.reach; ++r) {
    n_.cross[r] = take_packs(a, f, rows, 2 * p_.cross_band + 1);
  }
  for (Packs* each : {&n_.rhs, &n_.phi, &x_}) *each = take_packs(a, f, rows, 1);
  roots_ = take_packs(a, f, p_.nbin, p_.options.ndiag / 2 + 3);
  const int nspec = fiber_count(p_.options, p_.plan.nfiber);
  result_.spec_min = p_.options.spec_min;
  result_.nspec = nspec;
  result_.nwave = static_cast<int>(p_.options.wave.size());
  result_.guard = p_.grid.guard;
  result_.width = width_ = a.take<double>(p_.options.wave.size());
  result_.psf_fiber = spot_args_.psf_fiber;
  for (double** out :
       {&result_.flux, &result_.ivar, &result_.xflux, &result_.chi2pix, &result_.lost}) {
    *out = a.take<double>(result_values());
  }
  result_.resolution = a.take<float>(result_values() * static_cast<std::size_t>(p_.options.ndiag));
  if (want_model_) model_ = a.take<float>(strip_values() * static_cast<std::size_t>(p_.nbundle()));
}

std::size_t DeviceFrame::image_bytes() const {
  return static_cast<std::size_t>(p_.plan.npix_x) * static_cast<std::size_t>(p_.plan.npix_y) *
         (double_pixels_ ? sizeof(double) : sizeof(float));
}
std::size_t DeviceFrame::result_values() const {
  return static_cast<std::size_t>(result_.nspec) * static_cast<std::size_t>(result_.nwave);
}
std::size_t DeviceFrame::strip_values() const {
  return static_cast<std::size_t>(p_.rows) * static_cast<std::size_t>(p_.strip_pitch);
}

std::size_t DeviceFrame::chi2_values() const {
  return static_cast<std::size_t>(padded(p_.rows)) * static_cast<std::size_t>(p_.strip_pitch);
}

std::size_t DeviceFrame::upload_bytes() const {
  return (p_.trace_x0.size() * 2 + p_.psf_fiber.size() * 12 + p_.plan.domain.size() * 2) *
             sizeof(int) +
         p_.live.size() +
         (p_.plan.coef.size() + p_.plan.basis.size() + p_.options.wave.size() +
          static_cast<std::size_t>(shape_.rows()) * kWarp) *
             sizeof(double) +
         8192;
}

void DeviceFrame::upload(const void* image, const void* ivar, void* spare) {
  const DeviceStage stage(*stream_, "copy in");
  upload_image(image_, image);
  upload_image(ivar_, ivar);
  Arena host(spare, upload_bytes());  // page-locked, as the pixels are: no copy waits
  const auto put = [&](const auto* to, const auto& values) {
    using T = std::remove_cvref_t<decltype(values[0])>;
    if (values.size() == 0) return;
    T* from = host.take<T>(values.size());
    std::copy_n(values.data(), values.size(), from);
    stream_->copy_in(const_cast<T*>(to), from, values.size() * sizeof(T));
  };
  put(shape_.bundle_of, p_.bundle_of);
  put(shape_.bundle_first, p_.bundle_first);
  put(trace_.x0, p_.trace_x0);
  put(trace_.y0, p_.trace_y0);
  put(trace_.live, p_.live);
  put(live_first_, p_.live_first);
  put(live_last_, p_.live_last);
  put(direction_, p_.direction);
  put(strip_x_, p_.strip_x);
  put(solve_fiber_, p_.solve_fiber);
  put(solve_step_, p_.solve_step);
  put(fit_first_, p_.fit_first);
  put(fit_last_, p_.fit_last);
  put(spot_args_.domain, p_.plan.domain);
  put(spot_args_.used, p_.plan.used);
  put(spot_args_.psf_fiber, p_.psf_fiber);
  put(width_, bin_widths(p_.options.wave));
  put(spot_args_.coef, p_.plan.coef);
  put(spot_args_.basis, p_.plan.basis);
  // margins are read, and bins without light are not written
  for (const Packs& array : {n_.own, n_.cross[0], n_.cross[1], n_.rhs, n_.phi, x_}) {
    if (array.data != nullptr) clear(*stream_, array, p_.nfiber());
  }
}

/// By rows on the host, by columns on the device.
void DeviceFrame::upload_image(void* columns, const void* host) {
  Arena scratch = scratch_;
  std::byte* rows = scratch.take<std::byte>(image_bytes());
  stream_->copy_in(rows, host, image_bytes());
  const auto transpose = [&]<class T>(Launch<TransposeArgs<T>> kernel) {
    const TransposeArgs<T> args{reinterpret_cast<const T*>(rows), static_cast<T*>(columns), ccd_.nx,
                                ccd_.ny};
    kernel(*stream_, TransposeKernel<T>::blocks(args), args);
  };
  double_pixels_ ? transpose(k_->transpose_d) : transpose(k_->transpose_f);
}

void DeviceFrame::clear(Stream& on, const Packs& array, long lanes) {
  on.zero(array.data, static_cast<std::size_t>(Packs::size(lanes, array.rows, array.width)) * 8);
}

SpotStore DeviceFrame::store_of(int first, int last, Arena& scratch) const {
  SpotStore s{};
  s.first = p_.bundle_first[static_cast<std::size_t>(first)];
  s.count = p_.bundle_first[static_cast<std::size_t>(last)] - s.first;
  s.nbin = p_.nbin;
  s.nx = p_.plan.nx;
  s.ny = p_.plan.ny;
  s.pitch = p_.bin_pitch();
  for (std::uint32_t** half : {&s.pixels.high, &s.pixels.low})
    *half = scratch.take<std::uint32_t>(static_cast<std::size_t>(s.nx * s.ny) *
                                        static_cast<std::size_t>(s.step()));
  s.scale = scratch.take<double>(static_cast<std::size_t>(s.step()));
  return s;
}

std::size_t DeviceFrame::group_bytes(int first, int last) const {
  Arena measure;
  const SpotStore store = store_of(first, last, measure);
  Arena median = measure;  // beside spots that are kept
  median_arrays(median);
  const auto rows = static_cast<std::size_t>(padded(p_.rows) * store.count);
  measure.take<double>(rows * static_cast<std::size_t>(p_.light_columns));
  measure.take<int>(rows);
  measure.take<float>(chi2_values() * static_cast<std::size_t>(last - first));
  measure.take<float>(chi2_values() * static_cast<std::size_t>(last - first));
  measure.take<unsigned>(fit_parts(last - first) * kFitBins);
  measure.take<double>(fit_parts(last - first) * kFitSums);
  return std::max(measure.used(), median.used()) + 256;
}

/// All but the roots, everything at once; where roots may begin behind it.
std::size_t DeviceFrame::full_bytes() const {
  Arena measure;
  measure.take<std::byte>(std::max(
      image_bytes(), (p_.nbundle() > 0 ? group_bytes(0, p_.nbundle()) : 0) + solve_bytes()));
  measure.take<std::byte>(0);
  return measure.used();
}

int DeviceFrame::group_end(int first) const {
  int last = p_.nbundle();
  while (last > first + 1 && group_bytes(first, last) > scratch_.left()) --last;
  return last;
}

void DeviceFrame::make_spots(Stream& on, const SpotStore& store) {
  const SpotPlan& plan = p_.plan;
  SpotArgs args = spot_args_;
  args.nseries = plan.nseries;
  args.ncoef = plan.ncoef;
  args.degree_x = plan.degree_x;
  args.degree_y = plan.degree_y;
  args.has_tails = plan.has_tails ? 1 : 0;
  args.basis_pitch = plan.nwave_padded;
  args.trace = trace_;
  args.store = store;
  const bool desi =
      DesiSpotsKernel::fits(plan.nx, plan.ny, plan.degree_x, plan.degree_y) && !plan.has_tails;
  if (desi) {
    k_->spots(on, DesiSpotsKernel::blocks(args), args);
  } else {
    k_->spots_any(on, store.step(), args);
  }
}

void DeviceFrame::assemble() {
  const bool whole = group_end(0) == p_.nbundle();
  for (int first = 0; first < p_.nbundle();) {
    stop_if_asked(observer_);
    const int last = group_end(first);
    Arena scratch = scratch_;
    const SpotStore store = store_of(first, last, scratch);
    {
      const DeviceStage stage(*stream_, "spots");
      make_spots(*stream_, store);
    }
    {
      const DeviceStage stage(*stream_, "normal equations");
      multiply(store, first, last);
    }
    if (whole && p_.tuning.device_spots == DeviceSpots::kKept) {
      kept_ = store;
      after_spots_ = scratch;
    }
    first = last;
  }
  {
    const DeviceStage stage(*stream_, "prior");
    add_prior();
  }
  if (side_ != stream_) roots_stage_->begin();
}

/// In tiles where a block's memory holds one, else straight from the store; second neighbours
/// always so.
void DeviceFrame::multiply(const SpotStore& store, int first, int last) {
  AssembleArgs args{shape_, trace_, ccd_, store, n_, first, p_.own_band, 0, 0};
  const int shape = tile_shape(std::max(p_.own_band, p_.cross_band), store, shared_bytes_);
  const bool tiles = shape < kTileShapes;
  if (tiles) {
    args.tiles = chunks_of(p_.nbin, kDeviceTiles[shape].core);
    k_->tiles[shape](*stream_, static_cast<long>(last - first) * args.tiles, args);
  } else {
    k_->weigh(*stream_, store.step(), args);
  }
  for (args.pair = tiles ? 2 : 0; args.pair <= p_.reach; ++args.pair)
    k_->product(*stream_, ProductKernel::threads(args), args);
}

void DeviceFrame::decorrelate() {
  roots_stage_->run();
  stream_->wait_for(*side_);  // diagnostics
}

FrameNeeds frame_needs(const Problem& problem, bool pixels_are_double, bool want_model) {
  DeviceFrame frame(problem, pixels_are_double, want_model);
  Arena measure;
  frame.lay_out(measure);
  FrameNeeds needs;
  needs.fixed = measure.used() + 512;
  needs.upload = frame.upload_bytes();
  // the longest letters have a number for each candidate of a band, window and fibre, or a byte for
  // each bin of a bundle
  needs.mail =
      (std::size_t{1} << 16) +
      static_cast<std::size_t>(padded(problem.nfiber())) * kMostKept * kLanes * sizeof(double) +
      static_cast<std::size_t>(problem.nbundle()) * kFitBins * sizeof(unsigned) +
      static_cast<std::size_t>(problem.nbundle()) * static_cast<std::size_t>(problem.nbin);
  const std::size_t solve = frame.solve_bytes(), least_roots = RootStage::least_bytes(frame);
  const auto roots_with = [&](int poles) {
    return std::max(RootStage::full_bytes(frame, poles), least_roots);
  };
  needs.beside_roots = frame.full_bytes();
  needs.roots = roots_with(kFewPoles);
  std::size_t one = 0;
  for (int b = 0; b < problem.nbundle(); ++b) one = std::max(one, frame.group_bytes(b, b + 1));
  Arena image;
  image.take<std::byte>(frame.image_bytes());
  needs.least_scratch = std::max({solve, one, least_roots, image.used() + 256});
  needs.full_scratch =
      std::max(needs.least_scratch, needs.beside_roots + roots_with(kUsualPoles) + 256);
  return needs;
}

}  // namespace fiberloom::exact::gpu
