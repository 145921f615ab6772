// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/inpaint.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "loom/base/rng.hpp"
#include "loom/simd/isa_tables.hpp"
#include "tomoloom/prepare/inpaint_kernels.hpp"

namespace tomoloom {

LOOM_ISA_TABLES(InpaintKernels, kInpaint, inpaint_kernels_of)

const InpaintKernels& inpaint_kernels(Isa isa) { return inpaint_kernels_of(isa); }

namespace {

/// Pixels of the mask that one task does.
constexpr std::size_t kAtOnce = 256;
/// Blocks of random numbers that are spent on finding a value before values are counted.
constexpr std::size_t kDraws = 16;

/// Columns, rows and planes of a window that lie within the volume.
struct Box {
  std::size_t z, y, x, planes, rows, columns;
  [[nodiscard]] std::size_t size() const noexcept { return planes * rows * columns; }
};

/// A volume within a rim of zeros, so that neighbours and lines of windows are always there.
class Field {
 public:
  Field(std::span<float> values, std::span<const bool> mask, const InpaintShape& shape,
        std::size_t first, const InpaintChoice& choice, Isa isa)
      : shape_(shape),
        choice_(choice),
        kernels_(inpaint_kernels(isa)),
        first_(first),
        side_(2 * choice.reach + 1),
        line_((side_ + kInpaintLanes - 1) / kInpaintLanes * kInpaintLanes),
        deep_(shape.planes > 1 ? 1 : 0),
        row_step_(shape.columns + choice.reach + line_),
        plane_step_((shape.rows + 2) * row_step_),
        work_((shape.planes + 2 * deep_) * plane_step_ + line_, 0),
        left_(work_.size(), 0) {
    set_weights();
    for (std::size_t line = 0; line < shape.planes * shape.rows; ++line) {
      const std::size_t to = place(line / shape.rows, line % shape.rows, 0);
      for (std::size_t x = 0; x < shape.columns; ++x) {
        const std::size_t from = line * shape.columns + x;
        if (mask[from]) {
          left_[to + x] = kOpen;
          marked_.push_back(to + x);
        } else if (std::isfinite(values[from])) {
          work_[to + x] = values[from];
        }
      }
    }
  }

  void run(Executor& executor) {
    fill(executor);
    if (choice_.kind == Inpaint::kRandom) smooth(executor);
    for (std::size_t pass = 0; pass < choice_.passes; ++pass) {
      std::vector<std::size_t> all;
      std::copy_if(marked_.begin(), marked_.end(), std::back_inserter(all),
                   [&](std::size_t at) { return has_neighbour(at); });
      replace(all, executor);
    }
    if (choice_.kind == Inpaint::kRandom && choice_.passes > 0) smooth(executor);
  }
  void give_back(std::span<float> values) const {
    for (const std::size_t at : marked_) {
      const auto [z, y, x] = position(at);
      values[(z * shape_.rows + y) * shape_.columns + x] = work_[at];
    }
  }

 private:
  static constexpr std::uint8_t kOpen = 1, kNext = 2;  // of left_; 0: has its value, or needs none

  [[nodiscard]] std::size_t place(std::size_t z, std::size_t y, std::size_t x) const {
    return (z + deep_) * plane_step_ + (y + 1) * row_step_ + choice_.reach + x;
  }
  [[nodiscard]] std::array<std::size_t, 3> position(std::size_t at) const {
    return {at / plane_step_ - deep_, at % plane_step_ / row_step_ - 1,
            at % row_step_ - choice_.reach};
  }
  void set_weights() {
    const double pixels = std::pow(static_cast<double>(side_), deep_ > 0 ? 3 : 2);
    weights_.assign(line_, 0);
    for (std::size_t i = 0; i < side_; ++i) {
      const double d = static_cast<double>(i) - static_cast<double>(choice_.reach);
      weights_[i] = static_cast<float>(std::exp(-d * d / (2 * pixels)));
    }
  }

  /// use(place) of the 3 x 3 (x 3) around a place, in one order.
  template <class Use>
  void around(std::size_t at, const Use& use) const {
    const std::size_t first = at - deep_ * plane_step_ - row_step_ - 1;
    for (std::size_t z = 0; z < 1 + 2 * deep_; ++z) {
      for (std::size_t y = 0; y < 3; ++y) {
        for (std::size_t x = 0; x < 3; ++x) use(first + z * plane_step_ + y * row_step_ + x);
      }
    }
  }
  [[nodiscard]] bool has_neighbour(std::size_t at) const {
    bool found = false;
    around(at, [&](std::size_t i) { found = found || work_[i] != 0; });
    return found;
  }

  /// From the rim of the mask inwards.
  void fill(Executor& executor) {
    std::vector<std::size_t> rim;
    for (const std::size_t at : marked_) {
      if (has_neighbour(at)) rim.push_back(at);
    }
    for (const std::size_t at : rim) left_[at] = 0;
    while (!rim.empty()) {
      replace(rim, executor);
      std::vector<std::size_t> next;
      for (const std::size_t at : rim) {
        if (work_[at] == 0) continue;
        around(at, [&](std::size_t i) {
          if (left_[i] != kOpen) return;
          left_[i] = kNext;
          next.push_back(i);
        });
      }
      for (const std::size_t at : next) left_[at] = 0;
      rim.swap(next);
    }
  }
  /// Values of places, all from those that are there now; each list is a round of its own.
  void replace(const std::vector<std::size_t>& places, Executor& executor) {
    const CounterRng random(choice_.seed, round_++);
    each(places, executor, [&](std::size_t at, std::vector<float>& spare) {
      switch (choice_.kind) {
        case Inpaint::kMean:
          return mean(at);
        case Inpaint::kMedian:
          return deep_ > 0 ? median(at, spare) : median_of_plane(at, spare);
        case Inpaint::kRandom:
          break;
      }
      return drawn(at, random);
    });
  }
  /// The mean of what surrounds each place of the mask.
  void smooth(Executor& executor) {
    each(marked_, executor, [&](std::size_t at, std::vector<float>&) {
      float sum = 0, count = 0;
      around(at, [&](std::size_t i) {
        sum += work_[i];
        count += work_[i] != 0 ? 1.0F : 0.0F;
      });
      return count > 0 ? sum / count : 0;
    });
  }
  template <class Value>
  void each(const std::vector<std::size_t>& places, Executor& executor, const Value& value) {
    std::vector<float> values(places.size());
    executor.run((places.size() + kAtOnce - 1) / kAtOnce, [&](std::size_t task) {
      std::vector<float> spare;
      const std::size_t end = std::min(places.size(), (task + 1) * kAtOnce);
      for (std::size_t i = task * kAtOnce; i < end; ++i) values[i] = value(places[i], spare);
    });
    for (std::size_t i = 0; i < places.size(); ++i) work_[places[i]] = values[i];
  }

  [[nodiscard]] Box box(std::size_t at) const {
    const auto [z, y, x] = position(at);
    const auto range = [&](std::size_t middle, std::size_t n) {
      const std::size_t begin = middle - std::min(middle, choice_.reach);
      return std::array{begin, std::min(n, middle + choice_.reach + 1) - begin};
    };
    const auto planes = range(z, shape_.planes), rows = range(y, shape_.rows),
               columns = range(x, shape_.columns);
    return {planes[0], rows[0], columns[0], planes[1], rows[1], columns[1]};
  }
  [[nodiscard]] float mean(std::size_t at) const {
    const auto [z, y, x] = position(at);
    const Box b = box(at);
    const WeightedSum sum = kernels_.weighted_sum(
        {.corner = work_.data() + place(b.z, b.y, 0) + x - choice_.reach,
         .planes = b.planes,
         .rows = b.rows,
         .columns = line_,
         .row_step = row_step_,
         .plane_step = plane_step_,
         .of_plane = weights_.data() + (deep_ > 0 ? b.z + choice_.reach - z : choice_.reach),
         .of_row = weights_.data() + b.y + choice_.reach - y,
         .of_column = weights_.data()});
    return sum.weights > 0 ? sum.values / sum.weights : 0;
  }
  /// Values of a box that there are, in one order.
  void collect(const Box& b, std::vector<float>& found) const {
    found.resize(b.size());
    std::size_t count = 0;
    for (std::size_t line = 0; line < b.planes * b.rows; ++line) {
      const float* const from = work_.data() + place(b.z + line / b.rows, b.y + line % b.rows, b.x);
      for (std::size_t x = 0; x < b.columns; ++x) {
        found[count] = from[x];
        count += from[x] != 0 ? 1 : 0;
      }
    }
    found.resize(count);
  }
  static float of_rank(std::vector<float>& found, std::size_t rank) {
    const auto at = found.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(found.begin(), at, found.end());
    return *at;
  }
  [[nodiscard]] float median(std::size_t at, std::vector<float>& found) const {
    collect(box(at), found);
    return found.empty() ? 0 : of_rank(found, found.size() / 2);
  }
  /// TomoPy's: of n values the one of rank n/2 of all but the lowest in the last column.
  [[nodiscard]] float median_of_plane(std::size_t at, std::vector<float>& found) const {
    const Box b = box(at);
    collect(b, found);
    if (found.empty()) return 0;
    float last = 0;
    for (std::size_t i = b.columns * b.rows; i-- > 0 && last == 0;) {
      last = work_[place(b.z, b.y + i % b.rows, b.x + i / b.rows)];
    }
    const std::size_t rank = found.size() / 2;
    if (rank + 1 >= found.size()) return last;
    found.erase(std::find(found.begin(), found.end(), last));
    return of_rank(found, rank);
  }
  /// The mean of two values of a box, each as likely as any other.
  [[nodiscard]] float drawn(std::size_t at, const CounterRng& random) const {
    const Box b = box(at);
    const auto [z, y, x] = position(at);
    const std::size_t own = first_ + (z * shape_.rows + y) * shape_.columns + x;
    const auto value = [&](std::uint64_t i) {
      const std::uint64_t line = i / b.columns;
      return work_[place(b.z + line / b.rows, b.y + line % b.rows, b.x + i % b.columns)];
    };
    float sum = 0;
    int found = 0;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      for (const std::uint32_t word : random.block(own * (kDraws + 1) + draw)) {
        const float candidate = value((std::uint64_t{word} * b.size()) >> 32);
        if (candidate == 0) continue;
        sum += candidate;
        if (++found == 2) return sum / 2;
      }
    }
    std::vector<float> all;  // few of many have a value
    collect(b, all);
    const auto words = random.block(own * (kDraws + 1) + kDraws);
    const auto any = [&](std::uint64_t word) { return all[(word * all.size()) >> 32]; };
    return all.empty() ? 0 : (any(words[0]) + any(words[1])) / 2;
  }

  InpaintShape shape_;
  InpaintChoice choice_;
  const InpaintKernels& kernels_;
  std::size_t first_;  ///< pixels of planes before these: random numbers are counted by pixels
  std::size_t side_, line_, deep_, row_step_, plane_step_;
  std::vector<float> weights_, work_;
  std::vector<std::uint8_t> left_;
  std::vector<std::size_t> marked_;
  std::uint64_t round_ = 0;
};

}  // namespace

void inpaint(std::span<float> values, std::span<const bool> mask, const InpaintShape& shape,
             const InpaintChoice& choice, Executor& executor, Isa isa) {
  Field field(values, mask, shape, 0, choice, isa);
  field.run(executor);
  field.give_back(values);
}

void inpaint_planes(std::span<float> values, std::span<const bool> mask, const InpaintShape& shape,
                    const InpaintChoice& choice, Executor& executor, Isa isa) {
  const InpaintShape plane{.planes = 1, .rows = shape.rows, .columns = shape.columns};
  executor.run(shape.planes, [&](std::size_t p) {
    const std::size_t first = p * plane.size();
    Field field(values.subspan(first, plane.size()), mask.subspan(first, plane.size()), plane,
                first, choice, isa);
    field.run(serial_executor());
    field.give_back(values.subspan(first, plane.size()));
  });
}

}  // namespace tomoloom
