// SPDX-License-Identifier: BSD-3-Clause
// Small frames of which a seed says what is missing, how wide the grid's steps are and how far it
// runs past the CCD.
#pragma once

#include <algorithm>
#include <random>
#include <utility>

#include "fiberloom/bench/small_case.hpp"

namespace fiberloom {

/// Random numbers of a seed alone, the same everywhere.
class Dice {
 public:
  explicit Dice(unsigned seed) : bits_(seed) {}
  int below(int n) { return static_cast<int>(bits_() % static_cast<unsigned>(n)); }
  int between(int a, int b) { return a + below(b - a + 1); }
  bool once_in(int n) { return below(n) == 0; }

 private:
  std::mt19937 bits_;
};

inline void kill(Array2D<double>& ivar, int y, int x, int rows, int columns) {
  for (int j = std::max(y, 0); j < std::min(y + rows, static_cast<int>(ivar.rows())); ++j) {
    for (int i = std::max(x, 0); i < std::min(x + columns, static_cast<int>(ivar.cols())); ++i)
      ivar(static_cast<std::size_t>(j), static_cast<std::size_t>(i)) = 0;
  }
}

inline void spoil(Array2D<double>& ivar, Dice& dice) {
  const int ny = static_cast<int>(ivar.rows()), nx = static_cast<int>(ivar.cols());
  for (int n = dice.below(3); n > 0; --n)  // dead columns
    kill(ivar, dice.below(ny), dice.below(nx), dice.between(20, ny), dice.between(1, 3));
  for (int n = dice.below(3); n > 0; --n)  // dead blocks
    kill(ivar, dice.below(ny), dice.below(nx), dice.between(5, 60), dice.between(5, 30));
  if (dice.once_in(3)) kill(ivar, dice.below(ny), 0, dice.between(1, 12), nx);  // saturated rows
  if (dice.once_in(3)) kill(ivar, 0, 0, ny, dice.between(1, nx / 2));           // an amplifier
  for (int n = dice.below(200); n > 0; --n)                                     // cosmic rays
    kill(ivar, dice.below(ny), dice.below(nx), dice.between(1, 6), dice.between(1, 3));
}

enum class Crosstalk { kSometimes, kNone };

inline SmallCase random_case(unsigned seed, Crosstalk crosstalk) {
  Dice dice(seed);
  SmallFrameOptions o;
  o.seed = seed;
  o.nfiber = dice.between(2, 7);
  o.nwave = static_cast<std::size_t>(dice.between(30, 420));
  o.step_aa = 0.6 + 0.1 * dice.below(6);
  o.margin_aa = dice.between(20, 110);
  const double share = dice.once_in(3) ? 0.002 * dice.below(4) : 0;
  if (crosstalk == Crosstalk::kSometimes) o.crosstalk = share;
  SerialExecutor serial;
  SmallCase c = make_small_case(o, dice.between(2, 4), serial);
  spoil(std::get<Array2D<double>>(c.ccd.ivar.data()), dice);
  apply_mask(c.ccd, {});
  if (dice.once_in(2)) {  // past the CCD
    const double first = c.options.wave.front(), step = c.options.wave[1] - first;
    const double past = 0.04 * (c.psf.y.wave_max - c.psf.y.wave_min);  // 0.05 are allowed
    const int most = static_cast<int>((first - c.psf.y.wave_min + past) / step),
              before = most - dice.below(20), behind = dice.once_in(2) ? before : 0;
    c.options.wave.resize(c.options.wave.size() + static_cast<std::size_t>(before + behind));
    for (std::size_t j = 0; j < c.options.wave.size(); ++j)
      c.options.wave[j] = first + (static_cast<double>(j) - before) * step;
  }
  return c;
}

}  // namespace fiberloom
