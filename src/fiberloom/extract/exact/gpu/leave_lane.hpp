// SPDX-License-Identifier: BSD-3-Clause
// Wide bands in parts of the axis alone: taking out the bins that ask for a wider band (rules:
// parts.hpp, recipe_lane.hpp).
#pragma once

#include "fiberloom/extract/exact/gpu/pixels_lane.hpp"
#include "fiberloom/extract/exact/gpu/root_lane.hpp"
#include "fiberloom/extract/exact/gpu/sweep_lane.hpp"

namespace fiberloom::exact::gpu {

/// Of a whole batch, whose places are its positions.
struct LeaveArgs {
  RootArgs root;
  const double* allowed;   ///< [count] what the band may cut off; negative: nothing is left out
  const double* diagonal;  ///< [count] of rows that are left out
  unsigned char* beyond;   ///< [rows by bin][padded count]
  PlaceView places;
  unsigned char* left;  ///< [bundles of places][nbin]
};

/// Which entries of the last diagonal are beyond what is allowed, in any window. Threads: rows by
/// bin x padded count.
struct LeaveBeyondKernel {
  using Args = LeaveArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const RootArgs& r = a.root;
    const long pitch = padded(r.count), row = thread / pitch;
    const int i = static_cast<int>(thread % pitch);
    if (row >= r.shape.rows()) return;
    const bool asked = i < r.count && a.allowed[i] >= 0;
    a.beyond[thread] = asked && is_beyond(i, static_cast<int>(row) - r.shape.margin, a) ? 1 : 0;
  }

 private:
  FL_LANE_HD static bool is_beyond(int i, int j, const Args& a) {
    const RootArgs& r = a.root;
    const double share = cut_off_share(r.band, r.band, r.band, tail_of(r.decay));
    const int core = window_of(j < 0 ? 0 : j, r.cut.stride, r.cut.count);
    for (int w = core > 0 ? core - 1 : 0; w <= core + 1 && w < r.cut.count; ++w) {
      const int row = j - r.cut.first(w);
      if (row < 0 || row + r.band >= r.cut.rows) continue;
      const long lane = root_lane(i, w, r.cut);
      const double entry = *r.s.at(i, r.shape.margin + j, r.band);
      if (entry_error(share, entry, *r.weight.at(lane, row), *r.weight.at(lane, row + r.band)) >
          a.allowed[i])
        return true;
    }
    return false;
  }
};

/// Takes the flux of the bins that such entries ask for, and their ones, which mark them. Threads:
/// bins x padded count.
struct LeaveMarkKernel {
  using Args = LeaveArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const RootArgs& r = a.root;
    const long pitch = padded(r.count);
    const int bin = static_cast<int>(thread / pitch), i = static_cast<int>(thread % pitch);
    if (bin >= r.shape.nbin || i >= r.count || a.allowed[i] < 0) return;
    bool beyond = false;
    FL_UNROLL
    for (int j = bin - left_behind(r.band); j <= bin + left_before(r.band); ++j)
      beyond = beyond || a.beyond[(r.shape.margin + j) * pitch + i] != 0;
    if (!beyond) return;
    *r.x.at(i, r.shape.margin + bin) = 0.0;
    *r.ones.at(i, r.shape.margin + bin) = 0.0;
  }
};

/// S without the bins that are marked. Threads: rows by bin x padded count.
struct LeaveOutKernel {
  using Args = LeaveArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const RootArgs& r = a.root;
    const long pitch = padded(r.count), row = thread / pitch;
    const int i = static_cast<int>(thread % pitch);
    if (row >= r.shape.rows() || i >= r.count || a.allowed[i] < 0) return;
    const bool out = is_out(i, row, a);
    for (int d = 1; d <= r.band; ++d) {
      if (out || is_out(i, row + d, a)) *r.s.at(i, row, d) = 0.0;
    }
    if (out) *r.s.at(i, row) = a.diagonal[i];
  }
  FL_LANE_HD static bool is_out(int i, long row, const Args& a) {
    const long bin = row - a.root.shape.margin;
    return bin >= 0 && bin < a.root.shape.nbin && *a.root.ones.at(i, row) == 0.0;
  }
};

/// Which bins any fibre of a bundle leaves out. Threads: bins x bundles.
struct LeaveUnionKernel {
  using Args = LeaveArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long nbin = a.root.shape.nbin, bin = thread % nbin;
    const int bundle = static_cast<int>(thread / nbin);
    if (bundle >= a.places.nbundle) return;
    bool out = false;
    for (int f = 0; f < a.places.fibers[bundle]; ++f) {
      const int i = a.places.place(f, bundle);
      out = out || (a.allowed[i] >= 0 && LeaveOutKernel::is_out(i, bin + a.root.shape.margin, a));
    }
    a.left[thread] = out ? 1 : 0;
  }
};

}  // namespace fiberloom::exact::gpu
