// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/scan_writer.hpp"

namespace tomoloom {

ScanWriter::ScanWriter(const std::string& path, Overwrite overwrite, const Sizes& sizes,
                       std::span<const double> theta_deg)
    : writer_(path, overwrite) {
  writer_.text("implements", "exchange:measurement");
  const auto frames = [&](const char* name, std::size_t count) {
    writer_.create(name, hdf5::Type::kUint16, {count, sizes.rows, sizes.columns});
  };
  frames("exchange/data", sizes.angles);
  writer_.describe("exchange/data", "axes", "theta:y:x");
  writer_.describe("exchange/data", "units", "counts");
  frames("exchange/data_white", sizes.flats);
  frames("exchange/data_dark", sizes.darks);
  writer_.create("exchange/theta", hdf5::Type::kFloat64, {theta_deg.size()});
  writer_.write("exchange/theta", 0, theta_deg);
  writer_.describe("exchange/theta", "units", "degrees");
}

void ScanWriter::projection(std::size_t number, std::span<const std::uint16_t> frame) {
  writer_.write("exchange/data", number, frame);
}
void ScanWriter::flat(std::size_t number, std::span<const std::uint16_t> frame) {
  writer_.write("exchange/data_white", number, frame);
}
void ScanWriter::dark(std::size_t number, std::span<const std::uint16_t> frame) {
  writer_.write("exchange/data_dark", number, frame);
}

void ScanWriter::note(const std::string& name, double value) {
  writer_.create("measurement/" + name, hdf5::Type::kFloat64, {1});
  writer_.write("measurement/" + name, 0, std::span<const double>(&value, 1));
}
void ScanWriter::note(const std::string& name, const std::string& value) {
  writer_.text("measurement/" + name, value);
}

void ScanWriter::commit() { writer_.commit(); }

}  // namespace tomoloom
