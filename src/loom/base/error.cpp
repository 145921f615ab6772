// SPDX-License-Identifier: BSD-3-Clause
// Names of the exit codes; messages of one line.
#include "loom/base/error.hpp"

namespace loom {

std::string one_line(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
      line += "\\x";
      line += kDigits[code >> 4U];
      line += kDigits[code & 15U];
    } else {
      line += c;
    }
  }
  return line;
}

std::string_view status_name(Status status) noexcept {
  switch (status) {
    case Status::kOk:
      return "success";
    case Status::kDifferent:
      return "compare: beyond the limits";
    case Status::kUsage:
      return "wrong command line";
    case Status::kSomeFailed:
      return "many frames or files: some failed or are missing";
    case Status::kNotFound:
      return "input file missing or unreadable";
    case Status::kMissingHdu:
      return "missing HDU";
    case Status::kMissingKeyword:
      return "missing keyword or column";
    case Status::kWrongShape:
      return "wrong type or shape";
    case Status::kCorrupt:
      return "truncated or corrupted file";
    case Status::kUnsupported:
      return "unsupported kind, version or option";
    case Status::kChanged:
      return "input changed while it was read";
    case Status::kNotCovered:
      return "PSF does not cover the wavelength grid";
    case Status::kSizeMismatch:
      return "sizes of IMAGE, IVAR, MASK or PSF disagree";
    case Status::kFiberRange:
      return "fibre range outside the PSF";
    case Status::kUnwritable:
      return "output not writable";
    case Status::kDiskFull:
      return "no space left for the output";
    case Status::kOutputExists:
      return "output exists (--no-clobber)";
    case Status::kNumerical:
      return "equations could not be solved";
    case Status::kInterrupted:
      return "interrupted";
    case Status::kDevice:
      return "GPU not there, too small, or failed";
    case Status::kMemory:
      return "not enough memory";
    case Status::kInternal:
      return "internal error";
    case Status::kBadTemplate:
      return "template file foreign or wrong";
    case Status::kTemplateRange:
      return "templates do not cover the spectra";
  }
  return "unknown";
}

}  // namespace loom
