// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/frame_memory.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "fiberloom/extract/oversample.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/byte_order.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/files/input_file.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom {
namespace {

constexpr std::uint64_t kProgram = 24 << 20;  // its code, libraries and stacks, as far as touched
constexpr std::uint64_t kTilesUnpack = 5;     // .fz: typical ratio
constexpr std::uint64_t kGzipUnpacksAtMost = 1032;
// Output that is packed is made in memory, with room to grow; of a bin flux, ivar, mask and chi2,
// eleven diagonals.
constexpr std::uint64_t kPackedBytesPerBin = 2 * (4 * 4 + 11 * 4);

bool packs(const std::string& path) { return loom::has_ending(path, ".gz"); }

/// Image, weights and a mask of 32 bits, which may be packed in the file; a packed file is unpacked
/// as a whole first.
std::uint64_t reading_bytes(const ImageFileSize& file, std::uint64_t pixels) {
  const std::uint64_t raw = std::max(file.unpacked_bytes, file.file_bytes);
  return pixels + pixels / 2 + (raw > file.file_bytes ? raw + file.file_bytes : 0);
}

}  // namespace

ImageFileSize measure_image(const std::string& path) {
  std::string found;
  try {
    found = resolve_path(path);
  } catch (const Error&) {
    return {};
  }
  struct stat info {};
  if (::stat(found.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  ImageFileSize size;
  size.file_bytes = size.unpacked_bytes = static_cast<std::uint64_t>(info.st_size);
  if (loom::has_ending(found, ".fz")) size.unpacked_bytes *= kTilesUnpack;
  if (!packs(found) || size.file_bytes < 4) return size;
  std::array<std::uint8_t, 4> b{};
  try {
    if (InputFile(found).read(size.file_bytes - 4, b) < b.size()) return size;
  } catch (const Error&) {
    return size;
  }
  const std::uint64_t isize = load_le<std::uint32_t>(b.data());
  // damaged files may say anything
  size.unpacked_bytes = std::clamp(isize, size.file_bytes, kGzipUnpacksAtMost * size.file_bytes);
  return size;
}

void require_memory_to_read(const std::string& path, const ImageFileSize& file,
                            const MemoryGrant& grant) {
  // what .fz unpacks to is a guess, on which nothing is refused
  const bool guessed = loom::has_ending(path, ".fz");
  const std::uint64_t raw = guessed ? file.file_bytes : file.unpacked_bytes;
  const std::uint64_t least = kProgram + raw + raw / 8;  // a mask is packed as a rule
  if (least <= grant.bytes) return;
  throw Error(Status::kMemory, path + ": reading it needs at least " + gigabytes(least) +
                                   " of memory, " + gigabytes(grant.bytes) + " is " + grant.by);
}

std::uint64_t FrameMemory::holding() const noexcept {
  return std::max(reading, engine.shared + std::max(pixels, writing));
}

std::uint64_t FrameMemory::peak(std::size_t threads) const noexcept {
  return kProgram + std::max(holding(), pixels + engine.with(threads));
}

namespace {

/// FrameGrid's arrays of the fibres, and the engine's copy.
std::uint64_t fiber_grid_bytes(const PsfModel& psf, const GridSize& grid) {
  return 3 * sizeof(double) * static_cast<std::uint64_t>(psf.nfiber()) * grid.nwave;
}

}  // namespace

EngineMemory engine_memory(const ExtractJob& job, const PsfModel& psf,
                           const std::array<double, 3>& wave) {
  ExtractOptions options = engine_options(job);
  GridSize grid{wave[0], wave[1], wave[2], 1};
  if (wave[2] > 0 && wave[1] >= wave[0]) {
    grid.nwave = static_cast<std::size_t>(std::min((wave[1] - wave[0]) / wave[2], 1e9)) + 1;
  }
  const auto of_engine = [&] {
    EngineMemory memory = job.method == Method::kExact ? exact_memory(psf, options, grid)
                                                       : patch_memory(psf, options, grid);
    memory.needs_cpu = needs_cpu(psf, options);
    return memory;
  };
  if (job.barycentric_fibers || !job.wave_file.empty()) {
    options.fiber_wave = Array2D<double>(1, 1, 0.0);  // there will be one: its size is added here
  }
  if (options.oversample <= 1 || options.oversample > kOversampleRange.high) {
    EngineMemory memory = of_engine();
    if (!options.fiber_wave.empty()) memory.shared += fiber_grid_bytes(psf, grid);
    return memory;
  }
  const EngineMemory coarse = of_engine();
  grid.nwave *= static_cast<std::size_t>(options.oversample);
  grid.step_aa /= options.oversample;
  options.ndiag = finer_diagonals(options);
  EngineMemory memory = of_engine();
  memory.shared += static_cast<std::size_t>(1 + options.oversample) * coarse.shared;
  if (!options.fiber_wave.empty()) memory.shared += fiber_grid_bytes(psf, grid);
  memory.bins = coarse.bins;
  return memory;
}

FrameMemory frame_memory(const ExtractJob& job, const Engine& engine, const EngineMemory& memory,
                         const ImageFileSize& file, std::uint64_t pixels) {
  FrameMemory need;
  need.pixels = pixels > 0 ? pixels : std::max(file.unpacked_bytes, file.file_bytes);
  need.reading = reading_bytes(file, need.pixels);
  need.engine = memory;
  if (engine.device() != nullptr && !memory.needs_cpu) {
    // workspaces are on the card; here its page-locked copies of pixels and results
    need.engine.task = 0;
    need.engine.shared += 2 * need.pixels + memory.shared;
  }
  // two derivatives in double, of which one is a frame, what is left of them, models; two results
  if (moves_traces(job)) need.engine.shared += 6 * need.pixels + memory.shared;
  // a frame without them, two images, read noise; light and what it changes by; its image, in
  // bundles and whole
  if (takes_wings_off(job)) {
    need.engine.shared += (job.options.model_variance ? 4 : 3) * need.pixels + memory.shared;
  }
  const std::uint64_t image = need.pixels / 2;  // a model or residual, at most as large
  if (packs(job.output)) need.writing = memory.bins * kPackedBytesPerBin;
  if (packs(job.model) || packs(job.residual)) need.writing = std::max(need.writing, 2 * image);
  if (!job.residual.empty()) need.writing += need.pixels + image;
  return need;
}

std::size_t threads_that_fit(const FrameMemory& need, const MemoryGrant& grant, std::size_t threads,
                             const std::string& image, double step_aa) {
  for (std::size_t n = std::max<std::size_t>(threads, 1); n > 0; --n) {
    if (need.peak(n) + n * grant.per_thread <= grant.bytes) return n;
  }
  const bool reading = need.peak(1) <= kProgram + need.reading;  // whatever is extracted
  throw Error(Status::kMemory,
              image + print(": %zu bins by %g Angstrom need ", need.engine.bins, step_aa) +
                  gigabytes(need.peak(1) + grant.per_thread) + " of memory with one thread, " +
                  gigabytes(grant.bytes) + " is " + grant.by +
                  (reading ? "; reading the image takes that much"
                           : "; a coarser step, a shorter range (-w) or fewer fibres (-n) need "
                             "less"));
}

}  // namespace fiberloom
