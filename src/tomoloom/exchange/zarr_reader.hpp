// SPDX-License-Identifier: BSD-3-Clause
// Volumes as OME-Zarr (Zarr version 2), read slice by slice: the first level, whoever wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loom/json/json.hpp"
#include "tomoloom/exchange/frame_source.hpp"

namespace tomoloom {

/// Whether a folder says that it is Zarr of version 2.
[[nodiscard]] bool is_zarr(const std::string& path);

/// A file of those that describe a folder of Zarr. Throws kNotFound, kCorrupt.
[[nodiscard]] Json read_zarr_json(const std::string& path);

/// Slices of the array that `multiscales` names first: three axes, others before them of length 1;
/// <f4, <f8, <u2 or |u1, C order, chunks raw or packed by zlib. A chunk that is not there holds the
/// array's fill value. Of packed chunks those of one layer are kept, unpacked: frames() is for one
/// thread at a time.
class ZarrReader final : public FrameSource {
 public:
  /// Throws kNotFound, kCorrupt (no such JSON, chunks of another size), kWrongShape, kUnsupported
  /// (another version, kind of number or packing; slices or chunks too large for any detector).
  explicit ZarrReader(const std::string& folder);

  void frames(const std::string& name, std::size_t frame, std::size_t frames, std::size_t first,
              std::size_t rows, FrameBlock& out) const override;
  [[nodiscard]] std::vector<std::size_t> chunk(const std::string& name) const override;
  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] std::uint64_t buffer_bytes() const noexcept override;

 private:
  enum class Number { kFloat32, kFloat64, kUint16, kUint8 };
  void parse(const std::string& file);
  void parse_kind(const Json& array, const std::string& file);
  [[nodiscard]] std::size_t number_bytes() const noexcept;
  [[nodiscard]] std::string chunk_path(std::size_t layer, std::size_t y, std::size_t x) const;
  /// `out`: what slices [from, from + count) of a chunk hold, as floats.
  void read_chunk(std::size_t layer, std::size_t y, std::size_t x, std::size_t from,
                  std::size_t count, std::vector<float>& out) const;
  void to_floats(const std::uint8_t* bytes, std::vector<float>& out) const;
  void read_layer(std::size_t layer) const;
  /// Slices [from, from + count) of a layer to out, [slice][row][column] of the whole slices.
  void gather(std::size_t layer, std::size_t from, std::size_t count, float* out) const;

  std::string folder_;  ///< of the array
  std::string separator_, leading_;
  std::vector<std::size_t> chunk_;  ///< slices, rows, columns of one
  Number number_ = Number::kFloat32;
  bool packed_ = false;
  float fill_ = 0;
  mutable std::size_t kept_ = 0;      ///< the layer in layer_, from 1 on; 0: none
  mutable LargeVector<float> layer_;  ///< [slice][row][column], of packed chunks
  mutable LargeVector<float> slice_;  ///< a whole slice, where rows of one are asked for
  mutable std::vector<std::uint8_t> packed_bytes_, bytes_;
  mutable std::vector<float> voxels_;  ///< of a chunk
};

}  // namespace tomoloom
