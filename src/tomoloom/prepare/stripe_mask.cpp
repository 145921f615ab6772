// SPDX-License-Identifier: BSD-3-Clause
// Weights to the mask of what is a stripe: bytes of 0 and 1, many of them at a time.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tomoloom/prepare/mirrored_window.hpp"
#include "tomoloom/prepare/stripe_search.hpp"

namespace tomoloom {
namespace {

using Flags = std::vector<std::uint8_t>;

/// Lines of flags that lie beside each other: [line][column].
struct Plane {
  std::size_t lines = 0, columns = 0;
  Flags flags;
  Plane(std::size_t line_count, std::size_t column_count)
      : lines(line_count), columns(column_count), flags(lines * columns) {}
  [[nodiscard]] std::uint8_t* line(std::size_t i) { return flags.data() + i * columns; }
  [[nodiscard]] const std::uint8_t* line(std::size_t i) const { return flags.data() + i * columns; }
};

/// out[x] = one[x] | other[x].
void either(const std::uint8_t* one, const std::uint8_t* other, std::size_t n, std::uint8_t* out) {
  for (std::size_t x = 0; x < n; ++x) out[x] = one[x] | other[x];
}

/// How many flags of its column there are in the window around each line; those stay that are in a
/// window with at least `least` and at most `most`.
class WindowCount {
 public:
  WindowCount(std::size_t lines, std::size_t columns, std::size_t reach)
      : window_(lines, reach), counts_(columns) {}

  void keep(std::int64_t least, std::int64_t most, const Plane& in, Plane& out) {
    std::fill(counts_.begin(), counts_.end(), 0);
    for (const std::uint32_t at : window_.first()) add(in.line(at), 1);
    for (std::size_t i = 0; i < in.lines; ++i) {
      for (const WindowExchange& e : window_.to(i)) {
        add(in.line(e.come), 1);
        add(in.line(e.gone), -1);
      }
      const std::uint8_t* const from = in.line(i);
      std::uint8_t* const to = out.line(i);
      for (std::size_t x = 0; x < in.columns; ++x) {
        to[x] = counts_[x] >= least && counts_[x] <= most ? from[x] : std::uint8_t{0};
      }
    }
  }

 private:
  void add(const std::uint8_t* flags, std::int32_t sign) {
    std::int32_t* const counts = counts_.data();
    for (std::size_t x = 0; x < counts_.size(); ++x) counts[x] += sign * flags[x];
  }
  MirroredWindow window_;
  std::vector<std::int32_t> counts_;
};

/// Closes gaps of one sinogram.
class GapCloser {
 public:
  GapCloser(std::size_t lines, std::size_t columns)
      : old_(lines, columns),
        before_(lines, columns),
        after_(lines, columns),
        spare_(lines, columns) {}

  /// Flags that have such on both sides within `across` columns, or within `along` lines; whether
  /// any has come.
  bool close(std::size_t across, std::size_t along, Plane& plane) {
    old_ = plane;
    gather(old_.columns, 1, across);
    for (std::size_t i = 0; i < old_.lines; ++i) mirror_columns(i, across);
    join(plane);
    gather(old_.lines * old_.columns, old_.columns, along);
    mirror_lines(along);
    join(plane);
    return plane.flags != old_.flags;
  }

 private:
  /// before_, after_: whether there is a flag up to `reach` places back, or on; places are `step`
  /// flags apart, in runs of `run` flags. Doubles the reach until it is that long.
  void gather(std::size_t run, std::size_t step, std::size_t reach) {
    before_.flags = old_.flags;
    after_.flags = old_.flags;
    for (std::size_t have = 0; have < reach;) {
      const std::size_t more = std::min(have + 1, reach - have), shift = std::min(more * step, run);
      for (std::size_t at = 0; at < old_.flags.size(); at += run) {
        const std::uint8_t* from = before_.flags.data() + at;
        std::uint8_t* to = spare_.flags.data() + at;
        std::copy_n(from, shift, to);
        either(from + shift, from, run - shift, to + shift);
      }
      before_.flags.swap(spare_.flags);
      for (std::size_t at = 0; at < old_.flags.size(); at += run) {
        const std::uint8_t* from = after_.flags.data() + at;
        std::uint8_t* to = spare_.flags.data() + at;
        either(from, from + shift, run - shift, to);
        std::copy_n(from + run - shift, shift, to + run - shift);
      }
      after_.flags.swap(spare_.flags);
      have += more;
    }
  }
  /// Near the ends of a line what is beyond them is mirrored about the place itself.
  void mirror_columns(std::size_t i, std::size_t reach) {
    const std::size_t n = old_.columns;
    const std::uint8_t* const from = old_.line(i);
    const auto any = [&](std::size_t begin, std::size_t end) {
      return begin < end && std::find(from + begin, from + end, 1) != from + end;
    };
    for (std::size_t x = 0; x < std::min(reach, n); ++x) {
      before_.line(i)[x] |= static_cast<std::uint8_t>(any(2 * x + 1, std::min(x + reach + 1, n)));
      const std::size_t back = n - 1 - x;  // places from `back` - reach on
      if (2 * back + 1 < n) continue;
      after_.line(i)[back] |=
          static_cast<std::uint8_t>(any(back - std::min(back, reach), 2 * back + 1 - n));
    }
  }
  void mirror_lines(std::size_t reach) {
    const std::size_t n = old_.lines, columns = old_.columns;
    for (std::size_t i = 0; i < std::min(reach, n); ++i) {
      for (std::size_t at = 2 * i + 1; at < std::min(i + reach + 1, n); ++at) {
        either(before_.line(i), old_.line(at), columns, before_.line(i));
      }
      const std::size_t back = n - 1 - i;
      for (std::size_t at = back - std::min(back, reach); at + n < 2 * back + 1; ++at) {
        either(after_.line(back), old_.line(at), columns, after_.line(back));
      }
    }
  }
  void join(Plane& plane) const {
    for (std::size_t k = 0; k < plane.flags.size(); ++k) {
      const int both = before_.flags[k] & after_.flags[k];
      plane.flags[k] = static_cast<std::uint8_t>(plane.flags[k] | both);
    }
  }
  Plane old_, before_, after_, spare_;
};

/// Of one angle, [row][column]: what goes on over too many rows is no stripe.
void drop_deep(const StripeMaskChoice& choice, Plane& plane) {
  if (choice.min_depth == 0) return;
  const auto most = static_cast<std::int64_t>(0.01F * static_cast<float>(choice.sensitivity) *
                                              static_cast<float>(choice.min_depth));
  const Plane old = plane;
  WindowCount(plane.lines, plane.columns, choice.min_depth / 2).keep(0, most, old, plane);
}

/// Of one row, [angle][column].
void shape_sinogram(const StripeMaskChoice& choice, Plane& plane) {
  const std::size_t half = choice.min_length / 2;
  const auto least = static_cast<std::int64_t>(0.01F * static_cast<float>(choice.sensitivity) *
                                               static_cast<float>(choice.min_length));
  const auto all = static_cast<std::int64_t>(2 * half + 1);
  Plane other(plane.lines, plane.columns);
  WindowCount lengths(plane.lines, plane.columns, half);
  lengths.keep(least, all, plane, other);
  lengths.keep(static_cast<std::int64_t>(half), all, other, plane);
  GapCloser gaps(plane.lines, plane.columns);
  for (std::size_t round = 0; round < choice.min_width; ++round) {
    if (!gaps.close(choice.min_width / 2, 2 * choice.min_width, plane)) break;
  }
}

}  // namespace

void stripe_mask(std::span<const float> weights, const StackShape& shape,
                 const StripeMaskChoice& choice, std::span<bool> mask, Executor& executor) {
  const std::size_t n = shape.columns;
  const auto threshold = static_cast<float>(choice.threshold);
  run_in_parts(executor, shape.angles, 1, [&](std::size_t first, std::size_t count) {
    Plane plane(shape.rows, n);
    for (std::size_t a = first; a < first + count; ++a) {
      const std::size_t at = a * shape.rows * n;
      for (std::size_t k = 0; k < plane.flags.size(); ++k) {
        plane.flags[k] = static_cast<std::uint8_t>(weights[at + k] <= threshold);
      }
      drop_deep(choice, plane);
      for (std::size_t k = 0; k < plane.flags.size(); ++k) mask[at + k] = plane.flags[k] != 0;
    }
  });
  run_in_parts(executor, shape.rows, 1, [&](std::size_t first, std::size_t count) {
    Plane plane(shape.angles, n);
    for (std::size_t row = first; row < first + count; ++row) {
      const auto line = [&](std::size_t a) { return mask.data() + (a * shape.rows + row) * n; };
      for (std::size_t a = 0; a < shape.angles; ++a) std::copy_n(line(a), n, plane.line(a));
      shape_sinogram(choice, plane);
      for (std::size_t a = 0; a < shape.angles; ++a) {
        std::transform(plane.line(a), plane.line(a) + n, line(a), [](auto f) { return f != 0; });
      }
    }
  });
}

}  // namespace tomoloom
