// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/model_spool.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  const int error = errno;
  throw Error(write_status(error), path + ": " + what + ": " + std::strerror(error), error);
}

}  // namespace

ModelSpool::ModelSpool(const std::string& beside, std::size_t columns)
    : path_(beside), columns_(columns) {
  make_folder_of(beside);
  std::string folder = std::filesystem::path(follow_links(beside)).parent_path().string();
  if (folder.empty()) folder = ".";
  std::string name = folder + "/.models-XXXXXX";
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) fail(path_, "cannot create a temporary file beside it");
  ::unlink(name.c_str());
}

ModelSpool::ModelSpool(ModelSpool&& o) noexcept
    : path_(std::move(o.path_)),
      columns_(o.columns_),
      rows_(o.rows_),
      fd_(std::exchange(o.fd_, -1)),
      map_(std::exchange(o.map_, nullptr)) {}

ModelSpool::~ModelSpool() {
  if (map_ != nullptr) ::munmap(map_, rows_ * columns_ * sizeof(float));
  if (fd_ >= 0) ::close(fd_);
}

void ModelSpool::append(const std::vector<double>& row) {
  std::vector<float> values(columns_, 0.0F);
  for (std::size_t i = 0; i < row.size() && i < columns_; ++i) {
    constexpr double kMost = std::numeric_limits<float>::max();
    const double value = std::isfinite(row[i]) ? row[i] : 0;
    values[i] = static_cast<float>(std::clamp(value, -kMost, kMost));
  }
  const char* at = reinterpret_cast<const char*>(values.data());
  std::size_t left = columns_ * sizeof(float);
  auto offset = static_cast<off_t>(rows_ * left);
  while (left > 0) {
    const ssize_t n = ::pwrite(fd_, at, left, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, "cannot write models");
    at += n;
    offset += n;
    left -= static_cast<std::size_t>(n);
  }
  ++rows_;
}

std::span<const float> ModelSpool::values() {
  const std::size_t n = rows_ * columns_;
  if (n == 0) return {};
  if (map_ == nullptr) {
    void* const map = ::mmap(nullptr, n * sizeof(float), PROT_READ, MAP_SHARED, fd_, 0);
    if (map == MAP_FAILED) fail(path_, "cannot read models back");
    map_ = map;
  }
  return {static_cast<const float*>(map_), n};
}

}  // namespace fiberloom
