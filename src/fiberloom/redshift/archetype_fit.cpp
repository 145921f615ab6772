// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/archetype_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "fiberloom/redshift/fitter.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::redshift {

/// Blurred columns on the pixels of all blocks, one after the other.
struct ArchetypeFitter::Columns {
  std::vector<double> weight, flux;
  std::vector<std::vector<double>> archetypes, legendre;
};

namespace {

/// out = R column, of one block.
void blur(const Block& block, std::span<const double> column, double* out) {
  const std::size_t half = block.ndiag / 2;
  for (std::size_t i = 0; i < block.pixels; ++i) {
    double sum = 0;
    for (std::size_t m = 0; m < block.ndiag; ++m) {
      if (i + m < half || i + m - half >= block.pixels) continue;
      sum += block.rows[i * block.ndiag + m] * column[i + m - half];
    }
    out[i] = sum;
  }
}

/// P_0 ... of the grid mapped to [-1, 1]: [term][pixel].
Array2D<double> polynomials(std::span<const double> wave, std::size_t terms) {
  Array2D<double> out(terms, wave.size(), 1.0);
  for (std::size_t i = 0; i < wave.size(); ++i) {
    const double x = 2 * (wave[i] - wave.front()) / (wave.back() - wave.front()) - 1;
    if (terms > 1) out(1, i) = x;
    for (std::size_t k = 2; k < terms; ++k) {
      const auto order = static_cast<double>(k);
      out(k, i) = ((2 * order - 1) * x * out(k - 1, i) - (order - 1) * out(k - 2, i)) / order;
    }
  }
  return out;
}

}  // namespace

Template archetype_group(const Archetypes& archetypes, std::size_t first, std::size_t most,
                         Igm igm) {
  Template t;
  const std::size_t n = std::min(most, archetypes.flux.rows() - first);
  t.igm = igm;
  t.wave = archetypes.wave;
  t.flux = Array2D<double>(n, t.wave.size());
  std::copy(archetypes.flux.row(first), archetypes.flux.row(first) + n * t.wave.size(),
            t.flux.data());
  return t;
}

ArchetypeFitter::ArchetypeFitter(const TargetSet& set, const Archetypes& archetypes, Igm igm,
                                 const ArchetypeOptions& options)
    : set_(set), archetypes_(archetypes), options_(options) {
  constexpr auto kGroup = static_cast<std::size_t>(kMostBasis);
  for (std::size_t first = 0; first < archetypes.flux.rows(); first += kGroup) {
    groups_.push_back(archetype_group(archetypes, first, kGroup, igm));
    samplers_.emplace_back(groups_.back(), set.grids, 0, scan_kernels(active_isa()));
  }
}

bool ArchetypeFitter::covers(double z) const noexcept { return samplers_.front().covers(z); }

std::vector<std::vector<double>> ArchetypeFitter::legendre_columns(
    const PreparedTarget& target) const {
  const bool each = options_.cameras == LegendreOf::kEachCamera;
  const std::size_t terms = options_.legendre;
  std::size_t pixels = 0, at = 0;
  for (const Block& block : target.blocks) pixels += block.pixels;
  std::vector<std::vector<double>> out(terms * (each ? target.blocks.size() : 1),
                                       std::vector<double>(pixels, 0.0));
  for (std::size_t b = 0; b < target.blocks.size(); ++b) {
    const Block& block = target.blocks[b];
    const Array2D<double> sharp = polynomials(set_.grids[block.grid].wave, terms);
    for (std::size_t k = 0; k < terms; ++k) {
      blur(block, {sharp.row(k), sharp.cols()}, out[(each ? b * terms : 0) + k].data() + at);
    }
    at += block.pixels;
  }
  return out;
}

void ArchetypeFitter::add_archetypes(const PreparedTarget& target, double z,
                                     Columns& columns) const {
  for (const Sampler& sampler : samplers_) {
    const std::size_t nb = sampler.nbasis();
    std::vector<double> pack(sampler.pack_size());
    sampler.sample(pack_of({&z, 1}), pack.data());
    for (std::size_t a = 0; a < nb; ++a) {
      std::vector<double>& column =
          columns.archetypes.emplace_back(std::vector<double>(columns.weight.size()));
      std::size_t at = 0;
      for (const Block& block : target.blocks) {
        std::vector<double> sharp(block.pixels);
        const double* first = pack.data() + sampler.grid_offset(block.grid) + a * kLanes;
        for (std::size_t i = 0; i < block.pixels; ++i) sharp[i] = first[i * nb * kLanes];
        blur(block, sharp, column.data() + at);
        at += block.pixels;
      }
    }
  }
}

ArchetypeFit ArchetypeFitter::fit_columns(const PreparedTarget& target, const Columns& columns,
                                          const std::vector<std::size_t>& archetypes) const {
  std::vector<const std::vector<double>*> used;
  for (const std::size_t a : archetypes) used.push_back(&columns.archetypes[a]);
  for (const std::vector<double>& column : columns.legendre) used.push_back(&column);
  const std::size_t n = used.size(), free = archetypes.size();
  Array2D<double> m(n, n);
  std::vector<double> y(n), lower(n, -HUGE_VAL);
  const std::vector<double> upper(n, HUGE_VAL);
  std::fill_n(lower.begin(), free, 0.0);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a; b < n; ++b) {
      double sum = 0;
      for (std::size_t i = 0; i < columns.weight.size(); ++i) {
        sum += columns.weight[i] * (*used[a])[i] * (*used[b])[i];
      }
      m(a, b) = m(b, a) = sum;
    }
    for (std::size_t i = 0; i < columns.weight.size(); ++i) {
      y[a] += columns.weight[i] * columns.flux[i] * (*used[a])[i];
    }
  }
  Array2D<double> with_prior = m;
  const bool prior = options_.prior_sigma > 0 && options_.cameras == LegendreOf::kEachCamera;
  for (std::size_t a = free; a < n && prior; ++a) {
    with_prior(a, a) += 1 / (options_.prior_sigma * options_.prior_sigma);
  }
  const std::vector<double> c =
      solve_constrained(options_.constrained, with_prior, y, lower, upper);
  ArchetypeFit out;
  out.chi2 = target.weight_flux2 - chi2_gain(m, y, c);
  const auto split = c.begin() + static_cast<std::ptrdiff_t>(free);
  out.coefficients.assign(c.begin(), split);
  out.legendre.assign(split, c.end());
  for (const std::size_t a : archetypes) {
    out.subtype += (out.subtype.empty() ? "" : ";") + archetypes_.subtypes[a];
  }
  return out;
}

ArchetypeFit ArchetypeFitter::fit(const PreparedTarget& target, double z) const {
  Columns columns;
  for (const Block& block : target.blocks) {
    columns.weight.insert(columns.weight.end(), block.weight.begin(),
                          block.weight.begin() + block.pixels);
    columns.flux.insert(columns.flux.end(), block.flux.begin(), block.flux.begin() + block.pixels);
  }
  columns.legendre = legendre_columns(target);
  add_archetypes(target, z, columns);
  std::vector<ArchetypeFit> single;
  for (std::size_t a = 0; a < columns.archetypes.size(); ++a) {
    single.push_back(fit_columns(target, columns, {a}));
  }
  std::vector<std::size_t> order(single.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return single[a].chi2 < single[b].chi2; });
  if (options_.nearest <= 1) return single[order.front()];
  order.resize(std::min(order.size(), options_.nearest));
  return fit_columns(target, columns, order);
}

std::vector<std::vector<double>> ArchetypeFitter::models(const PreparedTarget& target,
                                                         const Candidate& candidate) const {
  Columns columns;
  for (const Block& block : target.blocks) {
    columns.weight.insert(columns.weight.end(), block.pixels, 0.0);
  }
  columns.legendre = legendre_columns(target);
  add_archetypes(target, candidate.z, columns);
  std::vector<double> sum(columns.weight.size(), 0.0);
  const auto add = [&](double c, const std::vector<double>& column) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += c * column[i];
  };
  std::istringstream names(candidate.subtype);
  std::size_t k = 0;
  for (std::string name; std::getline(names, name, ';'); ++k) {
    const auto found = std::find(archetypes_.subtypes.begin(), archetypes_.subtypes.end(), name);
    if (found == archetypes_.subtypes.end() || k >= candidate.coefficients.size()) continue;
    add(candidate.coefficients[k],
        columns.archetypes[static_cast<std::size_t>(found - archetypes_.subtypes.begin())]);
  }
  for (std::size_t i = 0; i < columns.legendre.size() && i < candidate.legendre.size(); ++i) {
    add(candidate.legendre[i], columns.legendre[i]);
  }
  std::vector<std::vector<double>> out;
  auto at = sum.begin();
  for (const Block& block : target.blocks) {
    const auto end = at + static_cast<std::ptrdiff_t>(block.pixels);
    out.emplace_back(at, end);
    at = end;
  }
  return out;
}

void take_archetype(const PreparedTarget& target, const ArchetypeFitter& fitter, Candidate& c) {
  if (!fitter.covers(c.z)) {
    throw Error(kTemplateRange, print("archetypes of %s do not cover the spectra at z = %g",
                                      c.spectype.c_str(), c.z));
  }
  ArchetypeFit fit = fitter.fit(target, c.z);
  c.method = "ARCH";
  c.template_subtype = std::move(c.subtype);
  c.subtype = std::move(fit.subtype);
  c.chi2 = fit.chi2;
  c.template_coefficients = std::move(c.coefficients);
  c.coefficients = std::move(fit.coefficients);
  c.legendre = std::move(fit.legendre);
}

}  // namespace fiberloom::redshift
