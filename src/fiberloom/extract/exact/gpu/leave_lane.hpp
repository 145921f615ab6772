// SPDX-License-Identifier: BSD-3-Clause
// Wide bands in parts of the axis alone: taking out the bins that ask for a wider band, and
// gathering parts as frames of their own (rules: parts.hpp, recipe_lane.hpp).
#pragma once

#include "fiberloom/extract/exact/gpu/pixels_lane.hpp"
#include "fiberloom/extract/exact/gpu/root_lane.hpp"

namespace fiberloom::exact::gpu {

/// Of a batch whose S, x and ones are its own.
struct LeaveArgs {
  RootArgs root;
  Packs x, ones;           ///< by position and bin, to be written: root's own
  const double* allowed;   ///< [count] what the band may cut off; negative: nothing is left out
  const double* diagonal;  ///< [count] of rows that are left out
  unsigned char* beyond;   ///< [rows by bin][padded count]
  int parts;               ///< of the places: bundles
  const int* part_place;   ///< [parts + 1] first position of each
  unsigned char* left;     ///< [parts][nbin]
};

/// x and ones of the batch. Threads: rows by bin x padded count.
struct LeaveCopyKernel {
  using Args = LeaveArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.root.count), row = thread / pitch;
    const int i = static_cast<int>(thread % pitch);
    if (row >= a.root.shape.rows() || i >= a.root.count) return;
    *a.x.at(i, row) = *a.root.x_at(i, row);
    *a.ones.at(i, row) = *a.root.ones_at(i, row);
  }
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
    *a.x.at(i, r.shape.margin + bin) = 0.0;
    *a.ones.at(i, r.shape.margin + bin) = 0.0;
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
    return bin >= 0 && bin < a.root.shape.nbin && *a.ones.at(i, row) == 0.0;
  }
};

/// Which bins any fibre of a bundle leaves out. Threads: bins x bundles.
struct LeaveUnionKernel {
  using Args = LeaveArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long nbin = a.root.shape.nbin, part = thread / nbin, bin = thread % nbin;
    if (part >= a.parts) return;
    bool out = false;
    for (int i = a.part_place[part]; i < a.part_place[part + 1]; ++i) {
      out = out || (a.allowed[i] >= 0 && LeaveOutKernel::is_out(i, bin + a.root.shape.margin, a));
    }
    a.left[thread] = out ? 1 : 0;
  }
};

/// Parts of the axis as a frame of their own.
struct PartArgs {
  Shape from, to;
  NormalView n, part_n;  ///< of the frame; of the parts, by place
  Packs x, part_x, part_ones;
  int count;          ///< places
  const int* fiber;   ///< [count] of the frame
  const int* origin;  ///< [count] bin of the frame where a place's axis begins
  const int* length;  ///< [count] its bins; to.nbin or fewer
};
/// Nothing crosses the ends of a part; beyond them rows are the identity's, times an element of its
/// own diagonal: bounds are what they are however long the others' axes. Threads: rows by bin of
/// the parts x padded count.
struct PartGatherKernel {
  using Args = PartArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.count), row = thread / pitch, i = thread % pitch;
    if (row >= a.to.rows() || i >= a.count) return;
    const int f = a.fiber[i];
    const long bin = row - a.to.margin, from = a.from.margin + a.origin[i] + bin;
    const int length = a.length[i];
    const bool inside = bin >= 0 && bin < length;
    for (int d = 0; d <= a.from.band; ++d) {
      const bool meets = inside && bin + d < length;
      const double identity = d == 0 ? *a.n.own.at(f, a.from.margin + a.origin[i]) : 0.0;
      *a.part_n.own.at(i, row, d) = meets ? *a.n.own.at(f, from, d) : identity;
    }
    const int cb = a.from.cross_band;
    for (int k = -cb; k <= cb; ++k) {
      const bool meets = inside && bin + k >= 0 && bin + k < length;
      *a.part_n.cross[0].at(i, row, cb + k) = meets ? *a.n.cross[0].at(f, from, cb + k) : 0.0;
    }
    const long in_grid = from - a.from.margin;
    const bool counts = inside && in_grid >= 0 && in_grid < a.from.nbin;
    *a.part_x.at(i, row) = counts ? *a.x.at(f, from) : 0.0;
    *a.part_ones.at(i, row) = counts ? 1.0 : 0.0;
  }
};

}  // namespace fiberloom::exact::gpu
