// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/pipeline/night/run_folder.hpp"

#include <fstream>
#include <iterator>

#include "fiberloom/fits/atomic_file.hpp"

namespace fiberloom::night {

RunFolder::RunFolder(std::string output) : output_(std::move(output)) {
  while (output_.size() > 1 && output_.back() == '/') output_.pop_back();
}

void RunFolder::create() const {
  for (const std::string& folder : {claims(), runs(), receipts(), failures(), options()}) {
    make_folders(folder);
  }
}

std::string RunFolder::receipt(const std::string& name) const {
  return receipts() + "/" + name + ".json";
}

std::string RunFolder::failure(const std::string& name) const {
  return failures() + "/" + name + ".json";
}

void write_text_file(const std::string& path, const std::string& text, Overwrite overwrite) {
  fits::write_whole(path, text, overwrite);
}

std::optional<std::string> read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  try {
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  } catch (const std::ios_base::failure&) {  // EIO, ESTALE, a folder of that name
    return std::nullopt;
  }
}

}  // namespace fiberloom::night
