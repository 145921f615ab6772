// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fiberloom/fuzz/targets.hpp"

#include <algorithm>
#include <cstdlib>

#include "fiberloom/formats/desimodel_file.hpp"
#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/formats/spectra_reader.hpp"
#include "fiberloom/formats/wave_file.hpp"
#include "fiberloom/templates/priors_file.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "loom/base/error.hpp"
#include "loom/files/gzip.hpp"
#include "loom/files/parallel_gunzip.hpp"

namespace fiberloom::fuzz {
namespace {

constexpr std::size_t kMaxUnpacked = std::size_t{8} << 20;

/// Runs `parse` on the file in `bytes`; Errors are expected.
template <class Parse>
void run(std::span<const std::uint8_t> bytes, Parse parse) {
  try {
    parse(fits::FitsReader::from_memory(bytes, "fuzz.fits", kMaxUnpacked));
  } catch (const Error&) {
  }
}

}  // namespace

void fuzz_preproc(std::span<const std::uint8_t> bytes) {
  run(bytes, [](const fits::FitsReader& file) {
    (void)formats::summarise(file);
    const PreprocFile frame = formats::parse_preproc(file, NoiseMap::kByPixel);
    for (const char* key : {"CAMERA", "EXPID", "FLAVOR"}) (void)frame.header.text(key);
    if (frame.fibermap) (void)frame.fibermap->column("FIBER");
    if (frame.fibermap) (void)frame.fibermap->slice(0, 1);
  });
}

void fuzz_psf(std::span<const std::uint8_t> bytes) {
  run(bytes, [](const fits::FitsReader& file) {
    const PsfFile psf = formats::parse_psf(file, {.gh00 = Gh00::kOne, .tails = true});
    // Stamps are bounded by the reader, so one spot is cheap whatever the file says.
    (void)spot_reference(psf.model, 0, psf.model.x.wave_min);
  });
}

void fuzz_frame(std::span<const std::uint8_t> bytes) {
  run(bytes,
      [](const fits::FitsReader& file) { (void)formats::parse_frame(file, FrameTables::kAll); });
}

void fuzz_spectra(std::span<const std::uint8_t> bytes) {
  run(bytes, [](const fits::FitsReader& file) {
    const SpectraFile spectra = formats::parse_spectra(file);
    for (const auto* table : {&spectra.fibermap, &spectra.exp_fibermap, &spectra.scores}) {
      if (!table->has_value()) continue;
      for (const Column& column : (*table)->columns) {
        (void)(*table)->column(column.name);
        (void)(*table)->integers(column.name, -1);
        (void)(*table)->text_column(column.name);
      }
      (void)to_raw_table(*table);
    }
  });
  run(bytes, [](const fits::FitsReader& file) {
    const SpectraReader reader(file, AndMask::kUse);
    const std::size_t last = reader.nspec() - 1;
    for (std::size_t c = 0; c < reader.cameras().size(); ++c) {
      (void)reader.read(c, std::span(&last, 1));
    }
  });
}

void fuzz_redshifts(std::span<const std::uint8_t> bytes) {
  run(bytes, [](const fits::FitsReader& file) {
    const RedshiftFile redshifts = formats::parse_redshifts(file);
    for (const Column& column : redshifts.redshifts.columns) {
      (void)redshifts.redshifts.column(column.name);
      (void)redshifts.redshifts.text_column(column.name);
    }
    (void)to_raw_table(redshifts.redshifts);
  });
  run(bytes, [](const fits::FitsReader& file) {
    const ModelReader models(file);
    for (std::size_t c = 0; c < models.cameras().size() && models.redshifts().rows > 0; ++c) {
      (void)models.read(c, models.redshifts().rows - 1);
    }
  });
  run(bytes, [](const fits::FitsReader& file) { (void)templates::parse_priors(file); });
}

void fuzz_calibration(std::span<const std::uint8_t> bytes) {
  run(bytes, [](const fits::FitsReader& file) { (void)formats::parse_fiber_flat(file); });
  run(bytes, [](const fits::FitsReader& file) { (void)formats::parse_sky(file); });
  run(bytes, [](const fits::FitsReader& file) { (void)formats::parse_standard_stars(file); });
  run(bytes, [](const fits::FitsReader& file) { (void)formats::parse_stellar_grid(file); });
  run(bytes, [](const fits::FitsReader& file) { (void)formats::parse_flux_calibration(file); });
  run(bytes, [](const fits::FitsReader& file) { (void)formats::parse_acceptance(file); });
  run(bytes, [](const fits::FitsReader& file) { (void)formats::parse_noise_area(file); });
  run(bytes, [](const fits::FitsReader& file) { (void)formats::parse_snr_template(file, 'r'); });
}

void fuzz_passband(std::span<const std::uint8_t> bytes) {
  const std::string text(bytes.begin(), bytes.end());
  FocalPlane plane;
  const auto look = [](auto parse) {
    try {
      parse();
    } catch (const Error&) {  // an answer
    }
  };
  look([&] { (void)parse_passband(text, "fuzz.ecsv"); });
  look([&] { formats::parse_plate_scale(text, "fuzz.txt", plane); });
  look([&] { formats::parse_fiber_size(text, "fuzz.yaml", plane); });
}

void fuzz_wave(std::span<const std::uint8_t> bytes) {
  run(bytes, [](const fits::FitsReader& file) { (void)parse_wave_fits(file); });
  try {
    (void)parse_wave_text(std::string(bytes.begin(), bytes.end()), "fuzz.txt");
  } catch (const Error&) {  // an answer
  }
}

void fuzz_template(std::span<const std::uint8_t> bytes) {
  run(bytes, [](const fits::FitsReader& file) { (void)templates::parse_template(file); });
  run(bytes, [](const fits::FitsReader& file) { (void)templates::parse_archetypes(file); });
}

namespace {

/// Says that it has threads, and has none.
class InTurn final : public Executor {
 public:
  void run(std::size_t n, const std::function<void(std::size_t)>& task) override {
    for (std::size_t i = 0; i < n; ++i) task(i);
  }
  [[nodiscard]] std::size_t concurrency() const noexcept override { return 3; }
};

}  // namespace

/// By one thread and by several: these give the same bytes, or nothing.
void fuzz_gunzip(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kSmallPart = 64;
  InTurn executor;
  const auto pieces = parallel_gunzip(bytes, kMaxUnpacked, executor, kSmallPart);
  loom::Bytes whole;
  try {
    whole = gunzip(bytes, "fuzz.gz", kMaxUnpacked);
  } catch (const Error&) {
    if (pieces) std::abort();
    return;
  }
  if (!pieces) return;
  std::size_t at = 0;
  for (const Piece& p : *pieces) {
    if (p.size > whole.size - at ||
        !std::equal(p.view().begin(), p.view().end(), whole.storage.data() + at))
      std::abort();
    at += p.size;
  }
  if (at != whole.size) std::abort();
}

}  // namespace fiberloom::fuzz
