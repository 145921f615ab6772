// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/formats_test_support.hpp"
#include "fiberloom/formats/psf_shape_test_files.hpp"
#include "fiberloom/formats/sdss_test_files.hpp"
#include "fiberloom/templates/test_template_files.hpp"
#include "loom/files/gzip.hpp"
#include "tests/fiberloom/fuzz/targets.hpp"

namespace fiberloom::fuzz {
namespace {

template <class Write>
Bytes written(Write write) {
  const test::TempFolder folder;
  write(folder.file("seed.fits"));
  return test::read_bytes(folder.file("seed.fits"));
}

/// A version 2 PSF: one table, a domain in each row.
Bytes old_psf() {
  const std::vector<std::string> names{"X",       "Y",        "GHSIGX",   "GHSIGY",   "GH-0-0",
                                       "TAILAMP", "TAILCORE", "TAILXSCA", "TAILYSCA", "TAILINDE"};
  const std::vector<double> low(names.size(), 5000), high(names.size(), 6000),
      coeff(names.size() * 4, 0.5);
  RawTable t = fits::TableBuilder(names.size())
                   .add("PARAM", names, 8)
                   .add("WAVEMIN", low)
                   .add("WAVEMAX", high)
                   .add_vector("COEFF", coeff, 4, "( 2, 2)")
                   .build();
  t.header.set("PSFTYPE", "GAUSS-HERMITE");
  for (const char* key : {"NPIX_X", "NPIX_Y", "HSIZEX", "HSIZEY"}) t.header.set(key, 4);
  t.header.set("PSFVER", 2);
  t.header.set("GHDEGX", 0);
  t.header.set("GHDEGY", 0);
  MemorySink sink;
  fits::FitsWriter(sink).table("PSF", t);
  return sink.bytes();
}

Bytes in_memory(const test::Build& build) {
  MemorySink sink;
  fits::FitsWriter writer(sink);
  build(writer);
  return sink.bytes();
}

Table two_redshifts() {
  const std::vector<std::int64_t> ids{7, 8};
  const std::vector<double> z{0.5, 1.5};
  const std::vector<std::int32_t> zwarn{0, 4};
  const std::vector<std::string> types{"GALAXY", "STAR"};
  Table out;
  out.add("TARGETID", std::span(ids)).add("Z", std::span(z));
  out.add("ZWARN", std::span(zwarn)).add("SPECTYPE", std::span(types), 6);
  return out;
}

Bytes models() {
  return written([](const std::string& path) {
    const std::vector<float> values(2 * 5, 1.5F);
    const ModelCamera camera{"B", {3600, 3601, 3602, 3603, 3604}, values};
    write_models(path, {}, two_redshifts(), std::span(&camera, 1), Overwrite::kYes);
  });
}

Bytes redshifts() {
  return written([](const std::string& path) {
    RedshiftFile file;
    file.redshifts = two_redshifts();
    file.candidates = file.redshifts;
    file.fibermap = to_table(test::sample_fibermap(2));
    write_redshifts(path, file, Overwrite::kYes);
  });
}

Bytes stars() {
  MemorySink sink;
  fits::FitsWriter writer(sink);
  test::add_standard_stars(writer, 2, 12, {3, 4});
  return sink.bytes();
}

Bytes stellar_grid() {
  const std::vector<double> flux(24, 2.5), node{6000, 6500}, wave = linear_wave_grid(4000, 4011, 1);
  MemorySink sink;
  fits::FitsWriter writer(sink);
  writer.image("FLUX", std::span<const double>(flux), {12, 2}, fits::PixelType::kFloat32);
  writer.table("MODELS",
               fits::TableBuilder(2).add("TEFF", node).add("LOGG", node).add("FEH", node).build());
  writer.image("WAVELENGTH", std::span<const double>(wave), {12}, fits::PixelType::kFloat64);
  return sink.bytes();
}

/// All tables of desimodel's that are FITS, in one file.
Bytes model_tables() {
  const std::vector<double> nodes{1, 2, 3, 4}, wave{4000, 4100, 4200, 4300}, table(16, 0.5),
      cube(64, 0.25);
  MemorySink sink;
  fits::FitsWriter writer(sink);
  const auto image = [&](const char* name, const std::vector<double>& values,
                         const std::vector<std::size_t>& axes) {
    writer.image(name, std::span<const double>(values), axes, fits::PixelType::kFloat64);
  };
  for (const char* name : {"SIGMA", "OFFSET", "HLRAD"}) image(name, nodes, {4});
  for (const char* name : {"WAVELENGTH", "WAVE_R", "DFLUX_R"}) image(name, wave, {4});
  for (const char* name : {"POINT", "NEA", "ANGPERPIX"}) image(name, table, {4, 4});
  for (const char* name : {"DISK", "BULGE"}) image(name, cube, {4, 4, 4});
  return sink.bytes();
}

Bytes plate_scale() {
  std::string text = "# radius theta x x x x radial azimuthal arclength\n";
  for (int i = 0; i < 20; ++i) {
    text += std::to_string(25.5 * i) + " 0 0 0 0 0 " + std::to_string(67.5 + 0.01 * i * i) +
            " 69.25 1.5\n";
  }
  return {text.begin(), text.end()};
}

Bytes fiber_size() {
  std::string text = "positioners:\n";
  for (int i = 0; i < 20; ++i) text += "    parameter_" + std::to_string(i) + ": 107.0  # um\n";
  text += "fibers:\n    diameter_um: 107.0\n# mean\n    diameter_arcsec: 1.52 # of all\nend: 1\n";
  return {text.begin(), text.end()};
}

Bytes passband() {
  std::string text =
      "# %ECSV 0.9\n# - {name: wavelength, unit: nm, datatype: float64}\nwavelength response\n";
  for (int i = 0; i <= 40; ++i) {
    text += std::to_string(400 + 1.5 * i) + " " + std::to_string(0.025 * i * (40 - i) / 20) + "\n";
  }
  return {text.begin(), text.end()};
}

Bytes wave_text() {
  std::string text = "# Angstrom\n6000.5 # the first\n\n";
  for (int i = 1; i <= 60; ++i) text += std::to_string(6000.5 + 0.75 * i) + "\n";
  return {text.begin(), text.end()};
}

Bytes priors() {
  const std::vector<std::int64_t> ids{7, 8};
  const std::vector<double> z{0.5, 1.5}, sigma{0.1, 0.2};
  const std::vector<std::string> function{"gaussian", "gaussian"};
  MemorySink sink;
  fits::FitsWriter(sink).table("PRIORS", fits::TableBuilder(2)
                                             .add("TARGETID", ids)
                                             .add("FUNCTION", function, 10)
                                             .add("Z", z)
                                             .add("SIGMA", sigma)
                                             .build());
  return sink.bytes();
}

}  // namespace

std::vector<Seed> seeds() {
  const Bytes preproc = written([](const std::string& path) {
    write_preproc(path, test::sample_preproc(6, 40), Overwrite::kYes);
  });
  const Bytes psf = written(
      [](const std::string& path) { write_psf(path, test::sample_psf(3), Overwrite::kYes); });
  const Bytes frame = written([](const std::string& path) {
    write_frame(path, test::sample_frame(2, 12), Overwrite::kYes);
  });
  const Bytes flat = written([](const std::string& path) {
    write_fiber_flat(path, test::sample_fiber_flat(2, 12), Overwrite::kYes);
  });
  const Bytes sky = written(
      [](const std::string& path) { write_sky(path, test::sample_sky(2, 12), Overwrite::kYes); });
  const Bytes flux = written([](const std::string& path) {
    write_flux_calibration(path, test::sample_flux_calibration(2, 12), Overwrite::kYes);
  });
  return {
      {"preproc", fuzz_preproc, preproc},
      {"preproc_gz", fuzz_preproc, gzip(preproc)},
      {"psf", fuzz_psf, psf},
      {"psf_v2", fuzz_psf, old_psf()},
      {"psf_two_cores", fuzz_psf, in_memory([](auto& w) { test::add_two_cores(w); })},
      {"psf_spot_grid", fuzz_psf, in_memory([](auto& w) { test::add_spot_grid(w); })},
      {"psf_mono_spot", fuzz_psf, in_memory([](auto& w) { test::add_mono_spot(w); })},
      {"psf_pca_pix", fuzz_psf, in_memory([](auto& w) { test::add_pca_pix(w); })},
      {"frame", fuzz_frame, frame},
      {"spectra", fuzz_spectra, in_memory(test::add_coadd)},
      {"spectra_plate", fuzz_spectra, in_memory([](auto& w) { test::add_plate(w); })},
      {"spectra_sdss_frame", fuzz_spectra, in_memory([](auto& w) { test::add_sdss_frame(w); })},
      {"spectra_spec", fuzz_spectra, in_memory([](auto& w) { test::add_spec(w); })},
      {"redshifts", fuzz_redshifts, redshifts()},
      {"redshifts_models", fuzz_redshifts, models()},
      {"priors", fuzz_redshifts, priors()},
      {"calibration", fuzz_calibration, flat},
      {"calibration_sky", fuzz_calibration, sky},
      {"calibration_stars", fuzz_calibration, stars()},
      {"calibration_flux", fuzz_calibration, flux},
      {"calibration_grid", fuzz_calibration, stellar_grid()},
      {"calibration_model", fuzz_calibration, model_tables()},
      {"passband", fuzz_passband, passband()},
      {"passband_plate", fuzz_passband, plate_scale()},
      {"passband_fiber", fuzz_passband, fiber_size()},
      {"wave", fuzz_wave, in_memory([](auto& w) {
         const std::vector<double> wave{6000, 6001, 6002, 6000.5, 6001.5, 6003};
         w.image("WAVELENGTH", std::span<const double>(wave), {3, 2}, fits::PixelType::kFloat64);
       })},
      {"wave_text", fuzz_wave, wave_text()},
      {"template", fuzz_template, templates::test::template_bytes()},
      {"archetypes", fuzz_template, templates::test::archetype_bytes()},
      {"gunzip", fuzz_gunzip, gzip(psf)}};
}

}  // namespace fiberloom::fuzz
