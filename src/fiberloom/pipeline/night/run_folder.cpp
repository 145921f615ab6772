// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/pipeline/night/run_folder.hpp"

#include <cerrno>
#include <filesystem>

#include "fiberloom/base/error.hpp"
#include "fiberloom/fits/atomic_file.hpp"
#include "fiberloom/fits/input_file.hpp"

namespace fiberloom::night {

namespace fs = std::filesystem;

RunFolder::RunFolder(std::string output) : output_(std::move(output)) {
  while (output_.size() > 1 && output_.back() == '/') output_.pop_back();
}

void RunFolder::create() const {
  for (const std::string& folder : {claims(), runs(), receipts(), failures()}) {
    make_folders(folder);
  }
}

std::string RunFolder::receipt(const std::string& name) const {
  return receipts() + "/" + name + ".json";
}

std::string RunFolder::failure(const std::string& name) const {
  return failures() + "/" + name + ".json";
}

void write_text_file(const std::string& path, const std::string& text) {
  fits::AtomicFile file(path, Overwrite::kYes);
  file.write_at(0, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  file.commit();
}

std::optional<std::string> read_text_file(const std::string& path) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  try {
    return fits::read_text(path, kMaxBytes);
  } catch (const Error&) {  // not there, EIO, ESTALE, a folder or pipe of that name
    return std::nullopt;
  }
}

void make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error && fs::is_directory(path)) return;
  const bool full = error.value() == ENOSPC || error.value() == EDQUOT;
  throw Error(full ? Status::kDiskFull : Status::kUnwritable,
              path + ": cannot make this folder" + (error ? " (" + error.message() + ")" : ""));
}

}  // namespace fiberloom::night
