// SPDX-License-Identifier: BSD-3-Clause
// FITS files <-> structs. Data-model versions live here; no physics, no recipes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/psf/psf_model.hpp"
#include "loom/base/array.hpp"
#include "loom/files/atomic_file.hpp"  // Overwrite
#include "loom/fits/fits_reader.hpp"   // Verify
#include "loom/fits/raw_table.hpp"     // HeaderCards, RawTable

namespace fiberloom {

/// Of all readers here: the checksums of what is read are compared unless told otherwise; kCorrupt.
using fits::Verify;

/// A preprocessed CCD frame as in the file; apply_mask() has not been called.
struct PreprocFile {
  std::string path;  ///< the file really read (X or X.gz)
  CcdFrame ccd;
  Array2D<std::uint32_t> mask;  ///< empty when there is no MASK HDU
  HeaderCards header;           ///< of IMAGE
  std::optional<RawTable> fibermap;
  std::optional<double> readnoise;  ///< RDNOISE, or the mean of the READNOISE HDU
};

/// Reads .fits, .fits.gz, .fits.fz and tile-compressed HDUs, by HDU name (IMAGE or the first image
/// HDU; IVAR or the second). `path` falls back to path.gz, and x.gz to x. One clear Error for every
/// fault.
[[nodiscard]] PreprocFile read_preproc(const std::string& path, Verify verify = Verify::kYes);

/// FIBERMAP of any file that has one (HDU FIBERMAP, or the first table).
[[nodiscard]] RawTable read_fibermap(const std::string& path, Verify verify = Verify::kYes);

/// Lowest FIBER of a fibermap; nullopt where it has no such column, or no number in it.
[[nodiscard]] std::optional<std::int64_t> lowest_fiber(const RawTable& fibermap);

enum class Gh00 { kFile, kOne };  ///< defect B1: take the row as stored, or 1
struct PsfReadOptions {
  Gh00 gh00 = Gh00::kFile;
  bool tails = false;
  Verify verify = Verify::kYes;
};
struct PsfFile {
  std::string path;
  PsfModel model;
  HeaderCards header;  ///< of the PSF HDU
};
/// GAUSS-HERMITE versions 1, 2 (one table) and 3 (XTRACE, YTRACE, PSF).
[[nodiscard]] PsfFile read_psf(const std::string& path, const PsfReadOptions& options = {});

/// What write_frame puts down. The order and types of HDUs are desispec's (docs/formats.md).
struct FrameFile {
  HeaderCards header;    ///< becomes the FLUX header (NSPEC, WAVEMIN ... set by the pipeline)
  ExtractResult result;  ///< float64 here, float32 in the file
  std::optional<RawTable> fibermap;  ///< already sliced
  bool scores = true;
  HeaderCards resolution_header;  ///< extra cards for RESOLUTION (usually none)
};
/// Temporary name beside `path`, then fsync and rename: an existing file stays whole until then.
/// Gzipped when the name ends in .gz. Byte-reproducible. kOutputExists, kUnwritable, kDiskFull.
void write_frame(const std::string& path, const FrameFile& frame, Overwrite overwrite);

/// One image as the primary HDU (model, residual) with the given header cards; float32 [ny][nx].
void write_image(const std::string& path, const Array2D<float>& image, const HeaderCards& header,
                 const std::string& extname, Overwrite overwrite);

/// A frame as read back (ours, desispec's, spex's, exspec's): what compare needs.
struct FrameData {
  std::string path;
  HeaderCards header;
  std::vector<double> wave;
  Array2D<double> flux, ivar;
  Array2D<std::uint32_t> mask;  ///< empty when absent
  std::optional<Array3D<double>> resolution;
  std::optional<Array2D<double>> chi2pix;
  std::optional<RawTable> fibermap;
};
[[nodiscard]] FrameData read_frame(const std::string& path, Verify verify = Verify::kYes);

/// One CCD image, float32: the HDU of this name, else the first image of the file.
[[nodiscard]] Array2D<float> read_image(const std::string& path, const std::string& extname,
                                        Verify verify = Verify::kYes);

/// What simulate writes.
void write_preproc(const std::string& path, const PreprocFile& frame, Overwrite overwrite);
void write_psf(const std::string& path, const PsfFile& psf, Overwrite overwrite);
/// Truth: FLUX [nspec][nwave] (photons/Angstrom), WAVELENGTH, and FLUX defined as the bin sums of
/// an extraction grid.
struct TruthFile {
  std::string path;          ///< where it was read from
  std::vector<double> wave;  ///< the fine grid of the input spectra, Angstrom
  Array2D<double> flux;      ///< electrons/Angstrom on it
  RawTable fibermap;
};
void write_truth(const std::string& path, const TruthFile& truth, Overwrite overwrite);
[[nodiscard]] TruthFile read_truth(const std::string& path, Verify verify = Verify::kYes);

/// HDUs of a FITS file, one line each, for `info`.
struct HduSummary {
  int number = 0;
  std::string name, kind, type, shape;
  bool compressed = false;
  bool signed_data = false;  ///< has CHECKSUM or DATASUM
  std::string fault;         ///< "HDU 3 'MASK': DATASUM ...", where sums were compared; or empty
};
/// With Verify::kYes all data are read, and faults said; without, only the headers are.
[[nodiscard]] std::vector<HduSummary> list_hdus(const std::string& path,
                                                Verify verify = Verify::kNo);

}  // namespace fiberloom
