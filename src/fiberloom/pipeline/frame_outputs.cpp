// SPDX-License-Identifier: BSD-3-Clause
// Where the results go.
#include "fiberloom/pipeline/frame_outputs.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <variant>

#include "fiberloom/base/error.hpp"
#include "fiberloom/pipeline/frame_header.hpp"

namespace fiberloom {
namespace {

namespace fs = std::filesystem;

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::weakly_canonical(a, ignored) == fs::weakly_canonical(b, ignored);
}

void check_output(const std::string& path, Overwrite overwrite) {
  std::error_code ignored;
  if (overwrite == Overwrite::kNo && fs::exists(path, ignored)) {
    throw Error(Status::kOutputExists, path + ": exists, and --no-clobber was given");
  }
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    throw Error(Status::kUnwritable,
                path + ": is not a regular file and cannot be replaced by one");
  }
  check_folder(path);
}

/// Removes what was newly written when a later step throws.
class NewFiles {
 public:
  NewFiles() = default;
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    std::error_code ignored;
    for (const std::string& path : paths_) fs::remove(path, ignored);
  }
  template <class Write>
  void write(const std::string& path, Write&& write_it) {
    std::error_code ignored;
    const bool replaces = fs::exists(path, ignored);
    write_it();
    if (!replaces) paths_.push_back(path);
  }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
};

}  // namespace

void check_folder(const std::string& path) {
  std::error_code ignored;
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, ignored)) {
    throw Error(Status::kUnwritable, path + ": no folder " + folder.string());
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    const int error = errno;
    throw Error(Status::kUnwritable,
                path + ": cannot write in " + folder.string() + " (" + std::strerror(error) + ")",
                error);
  }
}

void check_outputs(const ExtractJob& job) {
  const std::string* const outputs[] = {&job.output, &job.model, &job.residual};
  const std::string* const inputs[] = {&job.image, &job.psf, &job.fibermap};
  for (std::size_t i = 0; i < std::size(outputs); ++i) {
    const std::string& path = *outputs[i];
    if (path.empty()) continue;
    for (const std::string* input : inputs) {
      if (!input->empty() && same_file(path, *input)) {
        throw Error(Status::kUsage, path + ": is an input, it cannot be an output too");
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (!outputs[j]->empty() && same_file(path, *outputs[j])) {
        throw Error(Status::kUsage, path + ": is asked for as two different outputs");
      }
    }
    check_output(path, job.overwrite);
  }
}

Array2D<float> residual_image(const CcdFrame& ccd, const Array2D<float>& model) {
  Array2D<float> residual(model.rows(), model.cols());
  std::visit(
      [&](const auto& image, const auto& ivar) {
        for (std::size_t i = 0; i < residual.size(); ++i) {
          const double difference = static_cast<double>(image.data()[i]) - model.data()[i];
          residual.data()[i] = ivar.data()[i] > 0 ? static_cast<float>(difference) : 0.0F;
        }
      },
      ccd.image.data(), ccd.ivar.data());
  return residual;
}

void write_outputs(const ExtractJob& job, const CcdFrame& ccd, const HeaderCards& header,
                   ExtractResult result, const std::optional<RawTable>& fibermap, Tracer* tracer) {
  const Span span(tracer, "write");
  NewFiles files;
  if (!job.model.empty()) {
    files.write(job.model, [&] {
      write_image(job.model, result.model, image_header(header), "MODEL", job.overwrite);
    });
  }
  if (!job.residual.empty()) {
    files.write(job.residual, [&] {
      write_image(job.residual, residual_image(ccd, result.model), image_header(header), "RESIDUAL",
                  job.overwrite);
    });
  }
  FrameFile frame;
  frame.header = header;
  frame.result = std::move(result);
  frame.fibermap = fibermap;
  frame.scores = job.scores;
  write_frame(job.output, frame, job.overwrite);
  files.keep();
}

}  // namespace fiberloom
