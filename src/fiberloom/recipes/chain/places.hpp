// SPDX-License-Identifier: BSD-3-Clause
// Where the files of a night's steps lie. Makes none of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fiberloom/recipes/chain/chain.hpp"
#include "fiberloom/recipes/chain/exposure_info.hpp"

namespace fiberloom::chain {

/// A frame of a field or a lamp, and what is known of its exposure.
struct Frame {
  const night::FrameTask* task = nullptr;
  ExposureInfo info;
  std::string number, petal;  ///< "00000012", "0"
  std::string path, folder;   ///< of its spectra, absolute

  [[nodiscard]] const std::string& camera() const { return task->camera; }
  [[nodiscard]] const std::string& night() const {
    return task->night.empty() ? info.night : task->night;
  }
};

/// Without detours and a '/' at its end; empty stays empty.
[[nodiscard]] std::string absolute(const std::string& path);

/// Files of passbands in a folder, which stars depend on.
[[nodiscard]] std::vector<std::string> passbands_in(const std::string& folder);

/// Of the run in `output`, an absolute path; files from elsewhere by the folders that `request`
/// names, which outlives it.
class Places {
 public:
  Places(std::string output, night::Compress compress, const ChainRequest& request);

  [[nodiscard]] std::string lamp_flat(const Frame& f) const;
  [[nodiscard]] std::string night_flat(const std::string& night, const std::string& camera) const;
  /// The flat of a field's frame: from elsewhere, that of its night or the newest by name, or the
  /// night's.
  [[nodiscard]] std::string flat(const Frame& f);
  [[nodiscard]] std::string sky(const Frame& f) const;
  [[nodiscard]] std::string stars(const Frame& f) const;
  [[nodiscard]] std::string flux(const Frame& f) const;
  /// From elsewhere, the newest by name; empty: none.
  [[nodiscard]] std::string average(const Frame& f);
  [[nodiscard]] std::string cframe(const Frame& f) const;
  [[nodiscard]] std::string quality(const Frame& f) const;
  [[nodiscard]] std::string picture(const Frame& f) const;  ///< of the exposure
  /// `rest`: what stands after "coadd-".
  [[nodiscard]] std::string coadd(const std::string& tile, const std::string& night,
                                  const std::string& rest) const;

 private:
  [[nodiscard]] std::string beside(const Frame& f, const std::string& name) const;
  [[nodiscard]] std::string newest(const std::string& folder, const std::string& prefix);

  std::string output_, ending_;
  const ChainRequest& request_;
  std::map<std::string, std::string> newest_;  ///< files of other folders, by their beginning
};

}  // namespace fiberloom::chain
