// SPDX-License-Identifier: BSD-3-Clause
// Groups of neighbouring fibres are the tasks. Groups whose columns overlap never run together:
// they have different colours, and the colours run one after the other, so that each pixel sums its
// spots in one order whatever the number of threads.
#include "fiberloom/simulate/project.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "fiberloom/simulate/spot_evaluator.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kGroupFibers = 10;

struct Group {
  std::size_t first = 0, last = 0;  ///< rows of the spectra
  double x_min = 0, x_max = 0;      ///< columns that its spots may touch
};

std::vector<Group> make_groups(const PsfModel& psf, const std::vector<double>& wave,
                               std::size_t nspec, std::size_t first_fiber, Executor& executor) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < nspec; i += kGroupFibers) {
    groups.push_back({i, std::min(i + kGroupFibers, nspec), 0, 0});
  }
  executor.run(groups.size(), [&](std::size_t g) {
    Group& group = groups[g];
    group.x_min = 1e300;
    group.x_max = -1e300;
    for (std::size_t i = group.first; i < group.last; ++i) {
      for (const double w : wave) {
        const double x = psf.x(first_fiber + i, w);
        group.x_min = std::min(group.x_min, x - psf.stamp_nx() / 2 - 1);
        group.x_max = std::max(group.x_max, x + psf.stamp_nx() / 2 + 1);
      }
    }
  });
  return groups;
}

/// Groups by colour; two of one colour share no column.
std::vector<std::vector<std::size_t>> colour(const std::vector<Group>& groups) {
  std::vector<std::vector<std::size_t>> colours;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto apart = [&](const std::vector<std::size_t>& members) {
      return std::all_of(members.begin(), members.end(), [&](std::size_t m) {
        return groups[m].x_max < groups[g].x_min || groups[g].x_max < groups[m].x_min;
      });
    };
    const auto found = std::find_if(colours.begin(), colours.end(), apart);
    if (found != colours.end()) {
      found->push_back(g);
    } else {
      colours.push_back({g});
    }
  }
  return colours;
}

void add_spot(const Spot& spot, double electrons, Array2D<double>& image) {
  const int rows = static_cast<int>(image.rows()), cols = static_cast<int>(image.cols());
  const int r0 = std::max(spot.y0, 0), r1 = std::min(spot.y0 + spot.ny, rows);
  const int c0 = std::max(spot.x0, 0), c1 = std::min(spot.x0 + spot.nx, cols);
  for (int r = r0; r < r1; ++r) {
    double* const out = image.row(static_cast<std::size_t>(r));
    const double* const in = spot.value.data() + static_cast<std::ptrdiff_t>(r - spot.y0) * spot.nx;
    for (int c = c0; c < c1; ++c) out[c] += electrons * in[c - spot.x0];
  }
}

}  // namespace

Array2D<double> project(const PsfModel& psf, const std::vector<double>& wave_aa,
                        const Array2D<double>& electrons, Executor& executor, int first_fiber,
                        const std::function<void(std::size_t)>& projected) {
  if (electrons.cols() != wave_aa.size()) {
    throw Error(kSizeMismatch, "project: " + std::to_string(electrons.cols()) + " bins of flux, " +
                                   std::to_string(wave_aa.size()) + " wavelengths");
  }
  if (first_fiber < 0 || static_cast<std::size_t>(first_fiber) + electrons.rows() >
                             static_cast<std::size_t>(psf.nfiber())) {
    throw Error(kFiberRange, "project: more spectra than fibres in the PSF");
  }
  const auto first = static_cast<std::size_t>(first_fiber);
  Array2D<double> image(static_cast<std::size_t>(psf.npix_y), static_cast<std::size_t>(psf.npix_x),
                        0.0);
  const auto groups = make_groups(psf, wave_aa, electrons.rows(), first, executor);
  for (const auto& members : colour(groups)) {
    executor.run(members.size(), [&](std::size_t m) {
      const Group& group = groups[members[m]];
      SpotEvaluator spot(psf);
      for (std::size_t i = group.first; i < group.last; ++i) {
        for (std::size_t j = 0; j < wave_aa.size(); ++j) {
          const double e = electrons(i, j);
          if (e != 0) add_spot(spot(first + i, wave_aa[j]), e, image);
        }
        if (projected) projected(1);
      }
    });
  }
  return image;
}

std::vector<double> lit_wave_grid(const PsfModel& psf, double anchor_aa, double tile_aa,
                                  double step_aa, int first_fiber, int nfiber) {
  const double origin = anchor_aa + 0.5 * (step_aa - tile_aa);
  const int last_fiber = nfiber < 0 ? psf.nfiber() : first_fiber + nfiber;
  const auto touches = [&](double w) {
    for (int f = first_fiber; f < last_fiber; ++f) {
      const double y = psf.y(static_cast<std::size_t>(f), w);
      if (y > -psf.stamp_ny() / 2 - 1 && y < psf.npix_y + psf.stamp_ny() / 2) return true;
    }
    return false;
  };
  const double k_min = std::ceil((psf.y.wave_min - origin) / step_aa);
  const double k_max = std::floor((psf.y.wave_max - origin) / step_aa);
  std::vector<double> wave;
  for (double k = k_min; k <= k_max; k += 1.0) {
    const double w = origin + k * step_aa;
    if (touches(w)) wave.push_back(w);
  }
  return wave;
}

}  // namespace fiberloom
