// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/joint_templates.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/filters/legendre.hpp"

namespace skyloom {

std::size_t most_shared(const JointWishes& wishes, std::span<const double> azimuth) {
  std::size_t out = wishes.plate.harmonics * (wishes.plate.drift ? 4 : 2);
  if (wishes.ground.any() && !azimuth.empty()) {
    const GroundPlaces places = ground_places(wishes.ground, azimuth);
    out +=
        places.bins * (places.phase.empty() ? wishes.ground.drift + 1 : *wishes.ground.order + 1);
  }
  return std::min(out, kMostShared);
}

JointTemplates::JointTemplates(const JointWishes& wishes, std::span<const double> azimuth,
                               std::span<const double> angles, std::span<const Stretch> stretches)
    : wishes_(wishes),
      stretches_(stretches.begin(), stretches.end()),
      samples_(std::max(azimuth.size(), angles.size())),
      own_(wishes.polynomial ? *wishes.polynomial + 1 : 0) {
  if (!stretches_.empty()) samples_ = std::max(samples_, stretches_.back().end);
  if (wishes.plate.any()) {
    harmonics_ = columns_a_harmonic() * wishes.plate.harmonics;
    for (const double angle : angles) {
      cosines_.push_back(std::cos(angle));
      sines_.push_back(std::sin(angle));
    }
  }
  shared_ = harmonics_;
  if (wishes.ground.any()) {
    ground_ = ground_places(wishes.ground, azimuth);
    const std::size_t lowest = lowest_ground_order(wishes);
    if (ground_.phase.empty()) {
      find_bins();
    } else {
      orders_ = *wishes.ground.order + 1 - std::min(lowest, *wishes.ground.order + 1);
      shared_ += orders_ * ground_.bins;
    }
  }
  check_shared();
  find_shared();
}

void JointTemplates::check_shared() const {
  if (shared_ <= kMostShared) return;
  throw Error(Status::kUsage,
              print("--joint: %zu templates of azimuth and plate together: expected %zu at most",
                    shared_, kMostShared));
}

JointTemplates JointTemplates::with(std::vector<std::vector<double>> given) const {
  JointTemplates out = *this;
  for (std::size_t k = 0; k < given.size(); ++k) {
    for (std::vector<std::uint32_t>& in : out.in_) {
      in.push_back(static_cast<std::uint32_t>(shared_ + k));
    }
  }
  out.shared_ += given.size();
  out.given_.insert(out.given_.end(), std::make_move_iterator(given.begin()),
                    std::make_move_iterator(given.end()));
  out.check_shared();
  return out;
}

void JointTemplates::find_bins() {
  std::vector<std::size_t> counts(ground_.bins);
  for (const Stretch& stretch : stretches_) {
    for (std::size_t i = stretch.first; i < stretch.end; ++i) ++counts[ground_.place[i]];
  }
  const std::size_t bins = ground_.azimuth_bins;
  std::size_t left_out = bins;  // none
  if (wishes_.polynomial && bins > 0) {
    std::vector<std::size_t> all(bins);  // of all ways and steps
    for (std::size_t b = 0; b < ground_.bins; ++b) all[b % bins] += counts[b];
    left_out = static_cast<std::size_t>(std::max_element(all.begin(), all.end()) - all.begin());
    if (wishes_.ground.left_out) left_out = ground_.place[*wishes_.ground.left_out] % bins;
  }
  of_bin_.assign(ground_.bins, -1);
  for (std::size_t b = 0; b < ground_.bins; ++b) {
    if (counts[b] == 0 || b % bins == left_out) continue;
    of_bin_[b] = static_cast<std::int32_t>(shared_);
    shared_ += rows_a_bin();
  }
}

void JointTemplates::find_shared() {
  for (const Stretch& stretch : stretches_) {
    std::set<std::uint32_t> here;
    for (std::size_t k = 0; k < harmonics_; ++k) here.insert(static_cast<std::uint32_t>(k));
    std::vector<std::uint8_t> seen(ground_.bins, 0);
    for (std::size_t i = stretch.first; i < stretch.end && ground_.bins > 0; ++i) {
      seen[ground_.place[i]] = 1;
    }
    for (std::size_t b = 0; b < seen.size(); ++b) {
      if (seen[b] == 0) continue;
      if (orders_ == 0 && of_bin_.size() > b && of_bin_[b] >= 0) {
        for (std::size_t k = 0; k < rows_a_bin(); ++k) {
          here.insert(static_cast<std::uint32_t>(of_bin_[b]) + static_cast<std::uint32_t>(k));
        }
      }
      for (std::size_t k = 0; k < orders_; ++k) {
        here.insert(static_cast<std::uint32_t>(harmonics_ + b * orders_ + k));
      }
    }
    in_.emplace_back(here.begin(), here.end());
  }
}

std::optional<std::uint32_t> JointTemplates::bin_template(std::size_t sample) const noexcept {
  if (of_bin_.empty()) return std::nullopt;
  const std::int32_t found = of_bin_[ground_.place[sample]];
  if (found < 0) return std::nullopt;
  return static_cast<std::uint32_t>(found);
}

JointBlock::JointBlock(const JointTemplates& templates)
    : templates_(templates),
      kernels_(harmonic_kernels(active_isa())),
      row_of_(templates.shared(), -1) {}

double* JointBlock::add_row(std::size_t number) {
  number_.push_back(number);
  if (rows_.size() < number_.size() * kTemplateBlock) rows_.resize(number_.size() * kTemplateBlock);
  return rows_.data() + (number_.size() - 1) * kTemplateBlock;
}

std::size_t JointBlock::place_of(std::uint32_t shared) const {
  const auto in = templates_.shared_in(stretch_);
  return templates_.own() +
         static_cast<std::size_t>(std::lower_bound(in.begin(), in.end(), shared) - in.begin());
}

void JointBlock::make(std::size_t stretch, std::size_t first, std::size_t n) {
  stretch_ = stretch;
  number_.clear();
  const auto rows_from = [&](std::size_t count) {
    const std::size_t before = number_.size();
    for (std::size_t k = 0; k < count; ++k) (void)add_row(before + k);
    return rows_.data() + before * kTemplateBlock;
  };
  const Stretch& of = templates_.stretches()[stretch];
  const auto block = [&](std::size_t begin, std::size_t end) {
    const auto length = static_cast<double>(end - begin);
    return TemplateBlock{.n = n,
                         .first_time = static_cast<double>(2 * (first - begin) + 1) / length - 1,
                         .time_step = 2 / length};
  };
  if (templates_.own() > 0) {
    TemplateBlock own = block(of.first, of.end);
    own.trends = templates_.own();
    own.cosine = own.sine = still_.data();
    own.rows = rows_from(own.trends);
    kernels_.make(own);
  }
  if (templates_.harmonics_ > 0) {
    TemplateBlock plate = block(0, templates_.samples_);
    plate.cosine = templates_.cosines_.data() + first;
    plate.sine = templates_.sines_.data() + first;
    plate.harmonics = templates_.wishes_.plate.harmonics;
    plate.drift = templates_.wishes_.plate.drift;
    plate.rows = rows_from(templates_.harmonics_);  // they come first in every stretch
    kernels_.make(plate);
  }
  if (templates_.orders_ > 0) add_orders(first, n);
  if (!templates_.of_bin_.empty()) add_bins(first, n);
  if (!templates_.given_.empty()) add_given(first, n);
}

void JointBlock::add_orders(std::size_t first, std::size_t n) {
  const std::size_t orders = templates_.orders_, lowest = lowest_ground_order(templates_.wishes_);
  scratch_.resize(lowest + orders);
  for (std::uint32_t way = 0; way < templates_.ground_.bins; ++way) {
    const auto goes = templates_.ground_.place.begin() + static_cast<std::ptrdiff_t>(first);
    if (std::find(goes, goes + static_cast<std::ptrdiff_t>(n), way) ==
        goes + static_cast<std::ptrdiff_t>(n)) {
      continue;
    }
    const std::size_t before = number_.size();
    const std::size_t place =
        place_of(static_cast<std::uint32_t>(templates_.harmonics_ + way * orders));
    for (std::size_t k = 0; k < orders; ++k) (void)add_row(place + k);
    double* const rows = rows_.data() + before * kTemplateBlock;
    std::fill_n(rows, orders * kTemplateBlock, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      if (templates_.ground_.place[first + i] != way) continue;
      legendre(templates_.ground_.phase[first + i], lowest + orders, scratch_.data());
      for (std::size_t k = 0; k < orders; ++k) rows[k * kTemplateBlock + i] = scratch_[lowest + k];
    }
  }
}

void JointBlock::add_bins(std::size_t first, std::size_t n) {
  const std::size_t rows = templates_.rows_a_bin();
  const auto last = static_cast<double>(std::max<std::size_t>(templates_.samples_, 2) - 1);
  std::vector<std::uint32_t> seen;
  for (std::size_t i = 0; i < n; ++i) {
    const auto shared = templates_.bin_template(first + i);
    if (!shared) continue;
    std::ptrdiff_t& row = row_of_[*shared];
    if (row < 0) {
      row = static_cast<std::ptrdiff_t>(number_.size());
      const std::size_t place = place_of(*shared);
      for (std::size_t k = 0; k < rows; ++k) {
        std::fill_n(add_row(place + k), kTemplateBlock, 0.0);
      }
      seen.push_back(*shared);
    }
    const double time = 2 * static_cast<double>(first + i) / last - 1;
    double value = 1;
    for (std::size_t k = 0; k < rows; ++k, value *= time) {
      rows_[(static_cast<std::size_t>(row) + k) * kTemplateBlock + i] = value;
    }
  }
  for (const std::uint32_t shared : seen) row_of_[shared] = -1;
}

void JointBlock::add_given(std::size_t first, std::size_t n) {
  const std::size_t count = templates_.given_.size();
  const std::size_t place = place_of(static_cast<std::uint32_t>(templates_.shared_ - count));
  for (std::size_t k = 0; k < count; ++k) {
    double* const row = add_row(place + k);
    std::copy_n(templates_.given_[k].data() + first, n, row);
    std::fill(row + n, row + kTemplateBlock, 0.0);
  }
}

}  // namespace skyloom
