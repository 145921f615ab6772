// SPDX-License-Identifier: BSD-3-Clause
// Targets of one file of redshifts, from all files that belong to it: spectra, models, chi2 and
// candidates, as they are there or made anew from templates.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/recipes/redshift/fit_targets.hpp"
#include "fiberloom/recipes/redshift_page/page_target.hpp"
#include "fiberloom/recipes/redshift_page/redshift_page.hpp"

namespace fiberloom::redshift_page {

/// Arrays that many targets of a page share.
struct SharedGrids {
  struct Wave {
    std::string name;
    std::vector<double> wave;
  };
  std::vector<Wave> waves;
  std::vector<std::vector<double>> redshifts;
  /// The place of a grid, which is put there where there is none.
  [[nodiscard]] std::size_t wave_at(const std::string& name, const std::vector<double>& wave);
  [[nodiscard]] std::size_t redshifts_at(const std::vector<double>& z);
};

struct SourceFiles {
  const PageInput& input;
  const RedshiftFile& redshifts;
  const RedshiftModels* models;  ///< null: no templates
  Verify verify;
};

/// What is told of a file, on the page.
using Notes = std::vector<std::string>;

/// Calls `take` with each target of `rows` (of the table of redshifts) whose spectra are there, 64
/// at a time in memory. Throws kFiberRange where none of them is.
void for_each_target(const SourceFiles& files, const std::vector<std::size_t>& rows,
                     SharedGrids& grids, Notes& notes, Executor& executor, const Observer& observer,
                     const std::function<void(std::size_t row, const PageTarget&)>& take);

}  // namespace fiberloom::redshift_page
