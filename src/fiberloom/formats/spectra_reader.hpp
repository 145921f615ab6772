// SPDX-License-Identifier: BSD-3-Clause
// Spectra by rows: for files that are larger than what should be in memory. Any of DESI's files
// that hold spectra: coadds, spectra, and the frames of one camera; and SDSS's spPlate, spCFrame
// and spec.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

namespace formats {
struct SdssImages;
}

/// An open file whose tables and wavelengths have been read, and whose spectra have not. Threads
/// may share it.
class SpectraReader {
 public:
  struct Camera {
    std::string name;  ///< "B": what stands before _FLUX; of a frame by its CAMERA, or ""
    std::vector<double>
        wave;               ///< Angstrom, increasing; of spectra with waves of their own: the first
    std::size_t ndiag = 0;  ///< of RESOLUTION; 0: none
    bool has_sigma = false;  ///< SIGMA stands for RESOLUTION
    std::string unit{};      ///< BUNIT of FLUX
  };

  /// Throws as read_spectra() and read_frame(); of SDSS's files also kMissingKeyword. Checksums of
  /// tables are compared.
  explicit SpectraReader(const std::string& path, Verify verify = Verify::kYes,
                         AndMask and_mask = AndMask::kIgnore)
      : SpectraReader(fits::FitsReader::open(path, verify), and_mask) {}
  explicit SpectraReader(fits::FitsReader file, AndMask and_mask = AndMask::kIgnore);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Of the primary HDU.
  [[nodiscard]] const HeaderCards& header() const noexcept { return header_; }
  [[nodiscard]] const std::vector<Camera>& cameras() const noexcept { return cameras_; }
  [[nodiscard]] std::size_t nspec() const noexcept { return nspec_; }
  /// Has each spectrum wavelengths of its own (spCFrame)? read() then gives one at a time.
  [[nodiscard]] bool has_own_waves() const noexcept { return !waves_.empty(); }
  /// Is it a file of SDSS's, with an ANDMASK?
  [[nodiscard]] bool is_sdss() const noexcept { return sdss_; }
  /// A row for each spectrum; exp_fibermap, of coadds: a row for each exposure of each target.
  std::optional<Table> fibermap, scores, exp_fibermap;

  /// The grid of another file that is the same (same_grid()) in the place of the camera's own, so
  /// that all who compare grids number by number find one. Not of spectra with waves of their own.
  void take_grid(std::size_t camera, const std::vector<double>& wave);

  /// Compares the checksums of the spectra: reads all of them once. Throws kCorrupt.
  void verify() const;

  /// Resolution of Gaussians where a file has SIGMA (Angstrom, of each bin, or of each bin of each
  /// spectrum) and no RESOLUTION. These spectra of a camera in this order, without tables. Bytes
  /// that are read: those of the rows, but for compressed images, which are unpacked once and kept.
  [[nodiscard]] Spectra read(std::size_t camera, std::span<const std::size_t> rows) const;

 private:
  struct Parts {
    const fits::Hdu *flux = nullptr, *ivar = nullptr, *mask = nullptr, *resolution = nullptr,
                    *sigma = nullptr;
    std::size_t first = 0, kept = 0;  ///< pixels of the images that the camera has; kept 0: all
    bool sigma_in_pixels = false;     ///< instead of Angstrom
  };
  void open_desi(const fits::FitsReader& file);
  void add_sdss_images(const formats::SdssImages& images, std::size_t kept, AndMask and_mask);
  void open_plate(const fits::FitsReader& file, AndMask and_mask);
  void open_sdss_frame(const fits::FitsReader& file, AndMask and_mask);
  [[nodiscard]] Spectra read_whole(std::span<const std::size_t> rows) const;
  void add_camera(const std::string& name, const std::string& prefix);
  void add_sigma(const std::string& name, const fits::Hdu& flux, Parts& parts) const;
  [[nodiscard]] Array2D<double> read_sigma(const Parts& parts,
                                           std::span<const std::size_t> rows) const;
  template <class T>
  [[nodiscard]] Array2D<T> read_image(const Parts& parts, const fits::Hdu& hdu,
                                      std::span<const std::size_t> rows) const;
  template <class T>
  void read_rows(const fits::Hdu& hdu, std::span<const std::size_t> rows, T* out) const;

  std::string path_;
  bool sdss_ = false;
  std::optional<fits::FitsReader> file_;  ///< closed where `whole_` has all of it
  std::optional<Spectra> whole_;          ///< of a spec file, which holds one target
  HeaderCards header_;
  std::vector<Camera> cameras_;
  std::vector<Parts> parts_;
  Array2D<double> waves_;     ///< of each spectrum, where they differ
  std::vector<bool> usable_;  ///< of these: have they wavelengths at all?
  std::size_t nspec_ = 0;
  struct Unpacked;
  std::shared_ptr<Unpacked> unpacked_;  ///< compressed images, once read
};

}  // namespace fiberloom
