// SPDX-License-Identifier: BSD-3-Clause
// FITS files <-> structs. Data-model versions live here; no physics, no recipes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/ccd/ccd_frame.hpp"
#include "fiberloom/formats/tables.hpp"
#include "fiberloom/psf/psf_model.hpp"
#include "fiberloom/psf/trace_change.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "loom/base/array.hpp"
#include "loom/files/atomic_file.hpp"  // Overwrite
#include "loom/fits/fits_reader.hpp"   // Verify
#include "loom/fits/raw_table.hpp"     // HeaderCards, RawTable

namespace fiberloom {

/// Of all readers here: the checksums of what is read are compared unless told otherwise; kCorrupt.
using fits::Verify;

/// Of SDSS's spectra: pixels that were bad in all exposures have no weight anyway; does whatever
/// else ANDMASK says of a pixel (a bright sky, say) drop it too?
enum class AndMask { kIgnore, kUse };

/// By which rrboss numbers the targets of a plate: plate 1e9 + MJD 1e4 + fibre.
[[nodiscard]] std::int64_t sdss_target_id(std::int64_t plate, std::int64_t mjd,
                                          std::int64_t fiber) noexcept;

/// A preprocessed CCD frame as in the file; apply_mask() has not been called.
struct PreprocFile {
  std::string path;  ///< the file really read (X or X.gz)
  CcdFrame ccd;
  Array2D<std::uint32_t> mask;  ///< empty when there is no MASK HDU
  HeaderCards header;           ///< of IMAGE
  std::optional<RawTable> fibermap;
  std::optional<double> readnoise;  ///< RDNOISE, or the mean of the READNOISE HDU
};

/// How much of the HDU READNOISE is wanted: the mean, or all of it in ccd.readnoise.
enum class NoiseMap { kMean, kByPixel };

/// Reads .fits, .fits.gz, .fits.fz and tile-compressed HDUs, by HDU name (IMAGE or the first image
/// HDU; IVAR or the second). `path` falls back to path.gz, and x.gz to x. One clear Error for every
/// fault. The threads of `executor`, where there is one, unpack a .gz together.
[[nodiscard]] PreprocFile read_preproc(const std::string& path, Verify verify = Verify::kYes,
                                       NoiseMap noise = NoiseMap::kMean,
                                       Executor* executor = nullptr);

/// FIBERMAP of any file that has one (HDU FIBERMAP, or the first table).
[[nodiscard]] RawTable read_fibermap(const std::string& path, Verify verify = Verify::kYes);

/// Lowest FIBER of a fibermap; nullopt where it has no such column, or no number in it.
[[nodiscard]] std::optional<std::int64_t> lowest_fiber(const RawTable& fibermap);
[[nodiscard]] std::optional<std::int64_t> lowest_fiber(const Table& fibermap);

enum class Gh00 { kFile, kOne };  ///< defect B1: take the row as stored, or 1
struct PsfReadOptions {
  Gh00 gh00 = Gh00::kFile;
  bool tails = false;
  bool status = false;  ///< leave out fibres whose STATUS is not 0
  Verify verify = Verify::kYes;
};
struct PsfFile {
  std::string path;
  PsfModel model;
  HeaderCards header;  ///< of the PSF HDU
};
/// GAUSS-HERMITE versions 1, 2 (one table) and 3 (XTRACE, YTRACE, PSF), GAUSS-HERMITE2, SPOTGRID,
/// MONOSPOT, PCA-PIX.
[[nodiscard]] PsfFile read_psf(const std::string& path, const PsfReadOptions& options = {});

/// Spectra as the file of a frame has them (float32 there, float64 here): ours, desispec's, spex's,
/// exspec's.
struct FrameFile : Spectra {
  std::string path;         ///< that was read
  HeaderCards header;       ///< of FLUX
  Array2D<double> chi2pix;  ///< [nspec][nwave]; empty: none
  int spec_min = 0;  ///< first fibre of its camera, where neither FIBERMAP nor header says it
  /// [nspec][nwave] Angstrom: each fibre's own bins, of which `wave` is the mean; empty: all have
  /// `wave`
  Array2D<double> fiber_wave;
  /// [nspec][ndiag][n nwave]: (s, k, j) is the response of bin j / n - ndiag/2 + k to light of the
  /// n-th part j of bin j / n, per Angstrom; empty: the spectra were not solved on finer bins
  Array3D<float> fine_resolution;
  /// [nspec][ndiag][nwave]: (s, k, j) is the correlation coefficient of flux (s, j) and (s + 1, j -
  /// ndiag/2 + k); empty: not known
  Array3D<float> fiber_correlation;
  std::vector<double> fiber_heliocor;  ///< [nspec] barycentric factors; empty: HELIOCOR alone
};
/// Throws kUnsupported for a frame whose fibres have grids of their own: for steps that need one.
void require_one_grid(const FrameFile& frame);
/// Which tables of a frame are read: a fault in one that nobody asked for is nobody's.
enum class FrameTables { kFibermap, kAll };
[[nodiscard]] FrameFile read_frame(const std::string& path, Verify verify = Verify::kYes,
                                   FrameTables tables = FrameTables::kFibermap);
/// Writes MASK as 0 where there is none. The order and types of HDUs are desispec's
/// (docs/fiberloom/formats.md); NSPEC, WAVEMIN ... are set by who makes the header.
/// Temporary name beside `path`, then fsync and rename: an existing file stays whole until then.
/// Gzipped when the name ends in .gz. Byte-reproducible. kOutputExists, kUnwritable, kDiskFull.
/// With `together` its name waits for the others there, here and below.
void write_frame(const std::string& path, const FrameFile& frame, Overwrite overwrite,
                 FilesTogether* together = nullptr);

/// Bits of the pixels of a CCD, [ny][nx], as the tile-compressed HDU MASK of a preprocessed frame.
void write_mask(const std::string& path, const Array2D<std::uint32_t>& mask, Overwrite overwrite,
                FilesTogether* together = nullptr);

/// One image as the primary HDU (model, residual) with the given header cards; float32 [ny][nx].
void write_image(const std::string& path, const Array2D<float>& image, const HeaderCards& header,
                 const std::string& extname, Overwrite overwrite,
                 FilesTogether* together = nullptr);

/// One CCD image, float32: the HDU of this name, else the first image of the file.
struct ImageFile {
  HeaderCards header;
  Array2D<float> pixels;  ///< [ny][nx]
};
[[nodiscard]] ImageFile read_image(const std::string& path, const std::string& extname,
                                   Verify verify = Verify::kYes);

/// What simulate writes.
void write_preproc(const std::string& path, const PreprocFile& frame, Overwrite overwrite,
                   FilesTogether* together = nullptr);
void write_psf(const std::string& path, const PsfFile& psf, Overwrite overwrite,
               FilesTogether* together = nullptr);
/// The PSF file `source`, of any kind, HDU by HDU with its traces and widths changed; `notes` are
/// cards that the header with the PSF's keywords gets. Throws kUnsupported where the file has no
/// room for the change.
void write_moved_psf(const std::string& path, const std::string& source, Verify verify,
                     const TraceChange& change, const HeaderCards& notes, Overwrite overwrite,
                     FilesTogether* together = nullptr);
/// Truth: FLUX [nspec][nwave] (photons/Angstrom), WAVELENGTH, and FLUX defined as the bin sums of
/// an extraction grid.
struct TruthFile {
  std::string path;          ///< where it was read from
  HeaderCards header;        ///< of FLUX: what exposure it is of
  std::vector<double> wave;  ///< the fine grid of the input spectra, Angstrom
  Array2D<double> flux;      ///< electrons/Angstrom on it
  Table fibermap;
};
void write_truth(const std::string& path, const TruthFile& truth, Overwrite overwrite,
                 FilesTogether* together = nullptr);
[[nodiscard]] TruthFile read_truth(const std::string& path, Verify verify = Verify::kYes);

/// A DESI file of spectra, or of coadds: the same targets in several cameras.
struct SpectraFile {
  struct Camera {
    std::string name;    ///< "B": what stands before _FLUX
    HeaderCards header;  ///< of FLUX: BUNIT
    Spectra spectra;     ///< without tables: they are of all cameras
  };
  std::string path;
  HeaderCards header;                     ///< of the primary HDU
  std::vector<Camera> cameras;            ///< in the order of the file; one at least
  std::optional<Table> fibermap, scores;  ///< a row for each spectrum
  std::optional<Table> exp_fibermap;      ///< of coadds: a row for each exposure of each target
  bool is_frame = false;                  ///< one camera's frame, as calibrated frames are
  [[nodiscard]] std::size_t nspec() const noexcept { return cameras.front().spectra.nspec(); }
};
/// A frame (FLUX, WAVELENGTH ..., CAMERA in its header) is taken as a file of its one camera. Else
/// HDUs {CAMERA}_WAVELENGTH, _FLUX, _IVAR and, where they are there, _MASK, _RESOLUTION; FIBERMAP,
/// EXP_FIBERMAP, SCORES. Throws kMissingHdu without a camera or with half of one, kWrongShape where
/// shapes or numbers of rows differ, kCorrupt where wavelengths do not increase.
[[nodiscard]] SpectraFile read_spectra(const std::string& path, Verify verify = Verify::kYes);
/// An empty primary HDU with `header`; FIBERMAP, EXP_FIBERMAP; of each camera WAVELENGTH (float64),
/// FLUX and IVAR (float32), MASK (int32, 0 where there is none), RESOLUTION (float32, where there
/// is one); SCORES. As write_frame otherwise. kInternal where shapes differ.
void write_spectra(const std::string& path, const SpectraFile& file, Overwrite overwrite);

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
