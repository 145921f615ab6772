// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/exposure_qa_file.hpp"

#include "loom/fits/fits_writer.hpp"

namespace fiberloom {

void write_exposure_qa(const std::string& path, const ExposureQaFile& file, Overwrite overwrite) {
  RawTable fibers = to_raw_table(file.fibers);
  fibers.header.cards.insert(fibers.header.cards.end(), file.header.cards.begin(),
                             file.header.cards.end());
  fits::write_fits(path, overwrite, [&](fits::FitsWriter& writer) {
    writer.table("FIBERQA", fibers);
    writer.table("PETALQA", to_raw_table(file.petals));
  });
}

}  // namespace fiberloom
