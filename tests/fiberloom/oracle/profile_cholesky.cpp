// SPDX-License-Identifier: BSD-3-Clause
// Row-wise Cholesky with skipped leading zeros, extended precision.
#include "tests/fiberloom/oracle/profile_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::oracle {

Real dot(const Real* a, const Real* b, std::size_t n) {
  Real s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    s0 += a[k] * b[k];
    s1 += a[k + 1] * b[k + 1];
    s2 += a[k + 2] * b[k + 2];
    s3 += a[k + 3] * b[k + 3];
  }
  for (; k < n; ++k) s0 += a[k] * b[k];
  return (s0 + s1) + (s2 + s3);
}

ProfileMatrix submatrix(const ProfileMatrix& m, const std::vector<std::size_t>& keep) {
  ProfileMatrix out;
  for (std::size_t a = 0; a < keep.size(); ++a) {
    const auto begin = std::lower_bound(keep.begin(), keep.end(), m.first[keep[a]]) - keep.begin();
    const auto first = std::min(static_cast<std::size_t>(begin), a);
    std::vector<Real> values;
    for (std::size_t b = first; b <= a; ++b) values.push_back(m.lower(keep[a], keep[b]));
    out.append_row(first, std::move(values));
  }
  return out;
}

ProfileMatrix cholesky(ProfileMatrix m) {
  for (std::size_t i = 0; i < m.size(); ++i) {
    auto& ri = m.row[i];
    const std::size_t fi = m.first[i];
    for (std::size_t j = fi; j <= i; ++j) {
      const std::size_t from = std::max(fi, m.first[j]);
      const Real known = j > from ? dot(&ri[from - fi], &m.row[j][from - m.first[j]], j - from) : 0;
      Real& entry = ri[j - fi];
      if (j < i) {
        entry = (entry - known) / m.row[j].back();
        continue;
      }
      entry -= known;
      if (!(entry > 0)) {
        throw Error(Status::kNumerical, "oracle: pivot " + std::to_string(i) + " of " +
                                            std::to_string(m.size()) + " is not positive");
      }
      entry = std::sqrt(entry);
    }
  }
  return m;
}

void solve_lower(const ProfileMatrix& l, std::vector<Real>& b, std::size_t start) {
  for (std::size_t i = start; i < l.size(); ++i) {
    const std::size_t from = std::max(start, l.first[i]);
    const Real known = i > from ? dot(&l.row[i][from - l.first[i]], &b[from], i - from) : 0;
    b[i] = (b[i] - known) / l.row[i].back();
  }
}

void solve_upper(const ProfileMatrix& l, std::vector<Real>& b) {
  for (std::size_t i = l.size(); i-- > 0;) {
    b[i] /= l.row[i].back();
    for (std::size_t j = l.first[i]; j < i; ++j) b[j] -= l.row[i][j - l.first[i]] * b[i];
  }
}

}  // namespace fiberloom::oracle
