// SPDX-License-Identifier: BSD-3-Clause
// Titarenko's removal as TomoPy has it (Miqueles et al. 2014): the correction q of the mean row p
// solves (H^T H + alpha) q = -H^T H p with H a first or second difference; the two corrected
// sinograms are combined by their geometric mean, lifted so that it exists.
#include <algorithm>
#include <cmath>

#include "tomoloom/prepare/stripe_kinds.hpp"
#include "tomoloom/prepare/stripe_mean_lane.hpp"

namespace tomoloom {
namespace {

/// Of some angles: the mean of each column, and how far the sums of lines are apart.
struct MeanLine {
  std::vector<double> mean;
  double spread = 0;
};
MeanLine mean_line(const Sinogram& s, std::size_t first, std::size_t end) {
  MeanLine out{.mean = std::vector<double>(s.columns, 0)};
  double low = INFINITY, high = -INFINITY;
  for (std::size_t a = first; a < end; ++a) {
    const double sum =
        stripe_kernels().add_line(&s.values[a * s.columns], s.columns, out.mean.data());
    low = std::min(low, sum);
    high = std::max(high, sum);
  }
  for (double& m : out.mean) m /= static_cast<double>(end - first);
  out.spread = high - low;
  return out;
}

/// What is added to each column, after a difference of this order.
std::vector<double> correction(const MeanLine& line, int order) {
  const std::size_t n = line.mean.size();
  std::vector<double> band(n * (static_cast<std::size_t>(order) + 1)), q(n);
  lane::TitarenkoLine{.mean = line.mean.data(),
                      .n = static_cast<long>(n),
                      .order = order,
                      .spread = line.spread,
                      .band = band.data(),
                      .q = q.data(),
                      .band_line = static_cast<long>(n)}
      .solve();
  return q;
}

}  // namespace

std::vector<std::size_t> titarenko_ends(std::size_t angles, std::size_t blocks) {
  const std::size_t step =
      blocks == 0 ? angles : std::max<std::size_t>(1, angles / std::min(blocks, angles));
  std::vector<std::size_t> ends;
  for (std::size_t first = 0; first < angles; first = ends.back()) {
    // what is left over belongs to the last block
    ends.push_back(first + 2 * step > angles ? angles : first + step);
  }
  return ends;
}

void titarenko(Sinogram& s, double alpha, std::size_t blocks) {
  std::vector<float> least(s.columns, INFINITY);
  std::size_t first = 0;
  for (const std::size_t end : titarenko_ends(s.angles, blocks)) {
    const MeanLine line = mean_line(s, first, end);
    const auto q1 = correction(line, 1), q2 = correction(line, 2);
    for (std::size_t a = first; a < end; ++a) {
      stripe_kernels().corrected_product(&s.at(a, 0), q1.data(), q2.data(), s.columns,
                                         least.data());
    }
    first = end;
  }
  const float lift =
      static_cast<float>(alpha) * std::fabs(*std::min_element(least.begin(), least.end()));
  for (float& v : s.values) v = std::sqrt(std::max(0.0F, v + lift));
}

}  // namespace tomoloom
