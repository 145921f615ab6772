// SPDX-License-Identifier: BSD-3-Clause
// Groups of neighbouring fibres are the tasks, each with a strip of pixels of its own. Strips are
// added to the image colour by colour: two of one colour share no pixel, so that every pixel sums
// in one order whatever the number of threads.
#include "fiberloom/psf/forward_model.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <string>

#include "fiberloom/psf/column_turns.hpp"
#include "fiberloom/psf/forward_kernels.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/stop.hpp"
#include "loom/simd/isa_tables.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kGroupFibers = 10;

std::vector<double> checked_grid(const std::vector<double>& wave_aa) {
  if (wave_aa.empty()) throw Error(Status::kUsage, "the wavelength grid is empty");
  for (std::size_t i = 0; i < wave_aa.size(); ++i) {
    if (!std::isfinite(wave_aa[i]) || (i > 0 && wave_aa[i] <= wave_aa[i - 1])) {
      throw Error(Status::kUsage,
                  "the wavelength grid does not increase at bin " + std::to_string(i));
    }
  }
  return wave_aa;
}

std::string shape(std::size_t rows, std::size_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

}  // namespace

/// The pixels of a group as doubles, whole packs in every row.
struct ForwardModel::Strip {
  Buffer<double> pixels;
  long pitch = 0;

  void cover(const Group& g) {
    pitch = g.x1 - g.x0;
    const auto size = static_cast<std::size_t>(pitch) * static_cast<std::size_t>(g.y1 - g.y0);
    if (pixels.size() < size) pixels = Buffer<double>(size);
    std::fill(pixels.data(), pixels.data() + size, 0.0);
  }
  [[nodiscard]] double* row(const Group& g, int y) { return pixels.data() + (y - g.y0) * pitch; }
};

ForwardModel::ForwardModel(const PsfModel& psf, const std::vector<double>& wave_aa, int first_fiber,
                           int nfiber)
    : plan_(make_spot_plan(psf, checked_grid(wave_aa))),
      isa_(active_isa()),
      first_fiber_(first_fiber) {
  const int n = nfiber < 0 ? psf.nfiber() - first_fiber : nfiber;
  if (first_fiber < 0 || n < 1 || n > psf.nfiber() - first_fiber) {
    throw Error(kFiberRange, "fibres " + std::to_string(first_fiber) + " to " +
                                 std::to_string(first_fiber + n - 1) +
                                 " asked for, the PSF has 0 to " +
                                 std::to_string(psf.nfiber() - 1));
  }
  nfiber_ = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < nfiber_; i += kGroupFibers) {
    groups_.push_back({i, std::min(i + kGroupFibers, nfiber_), 0, 0, 0, 0});
    find_pixels(groups_.back());
  }
  find_colours();
}

void ForwardModel::find_pixels(Group& group) const {
  int x0 = INT_MAX, x1 = INT_MIN, y0 = INT_MAX, y1 = INT_MIN;
  for (std::size_t i = group.first; i < group.last; ++i) {
    const FiberTrace trace = trace_fiber(plan_, first_fiber_ + static_cast<int>(i));
    for (std::size_t j = 0; j < nwave(); ++j) {
      if (!trace.live[j]) continue;
      x0 = std::min(x0, trace.frame[j]);
      x1 = std::max(x1, trace.frame[j] + plan_.stride);
      y0 = std::min(y0, trace.y0[j]);
      y1 = std::max(y1, trace.y0[j] + plan_.ny);
    }
  }
  if (x0 < x1) {
    group.x0 = x0;
    group.x1 = x1;
    group.y0 = y0;
    group.y1 = y1;
  }
}

void ForwardModel::find_colours() {
  std::vector<ColumnRange> columns;
  for (const Group& g : groups_) columns.push_back({g.x0, g.x1});
  colours_ = column_turns(columns);
}

void ForwardModel::project_group(const Group& group, View2D<const double> electrons, Strip& strip,
                                 Array2D<double>& image) const {
  const SpotKernel spots = spot_kernels(isa_).spots;
  const ForwardKernels& kernels = forward_kernels(isa_);
  Buffer<double> tile(kLanes * plan_.spot_size());
  strip.cover(group);
  for (std::size_t i = group.first; i < group.last; ++i) {
    const int fiber = first_fiber_ + static_cast<int>(i);
    const FiberTrace trace = trace_fiber(plan_, fiber);
    const double* e = electrons.row(i);
    for (std::size_t j0 = 0; j0 < nwave(); j0 += kLanes) {
      const std::size_t j1 = std::min(j0 + kLanes, nwave());
      const auto lit = [&](std::size_t j) { return trace.live[j] && e[j] != 0; };
      bool any = false;
      for (std::size_t j = j0; j < j1; ++j) any = any || lit(j);
      if (!any) continue;
      make_spots(spots, plan_, fiber, static_cast<int>(j0), trace, tile.data());
      for (std::size_t j = j0; j < j1; ++j) {
        if (!lit(j)) continue;
        kernels.add(tile.data() + (j - j0) * plan_.spot_size(), e[j], plan_.ny, plan_.stride,
                    strip.row(group, trace.y0[j]) + (trace.frame[j] - group.x0), strip.pitch);
      }
    }
  }
  const int c0 = std::max(group.x0, 0), c1 = std::min(group.x1, plan_.npix_x);
  for (int y = std::max(group.y0, 0); y < std::min(group.y1, plan_.npix_y); ++y) {
    const double* in = strip.row(group, y);
    double* out = image.row(static_cast<std::size_t>(y));
    for (int c = c0; c < c1; ++c) out[c] += in[c - group.x0];
  }
}

void ForwardModel::gather_group(const Group& group, View2D<const double> image, Strip& strip,
                                Array2D<double>& electrons) const {
  const SpotKernel spots = spot_kernels(isa_).spots;
  const ForwardKernels& kernels = forward_kernels(isa_);
  Buffer<double> tile(kLanes * plan_.spot_size());
  strip.cover(group);
  const int c0 = std::max(group.x0, 0), c1 = std::min(group.x1, plan_.npix_x);
  for (int y = std::max(group.y0, 0); y < std::min(group.y1, plan_.npix_y); ++y) {
    const double* in = image.row(static_cast<std::size_t>(y));
    double* out = strip.row(group, y);
    for (int c = c0; c < c1; ++c) out[c - group.x0] = in[c];
  }
  for (std::size_t i = group.first; i < group.last; ++i) {
    const int fiber = first_fiber_ + static_cast<int>(i);
    const FiberTrace trace = trace_fiber(plan_, fiber);
    for (std::size_t j0 = 0; j0 < nwave(); j0 += kLanes) {
      const std::size_t j1 = std::min(j0 + kLanes, nwave());
      if (std::none_of(trace.live.data() + j0, trace.live.data() + j1, [](auto l) { return l; })) {
        continue;
      }
      make_spots(spots, plan_, fiber, static_cast<int>(j0), trace, tile.data());
      for (std::size_t j = j0; j < j1; ++j) {
        if (!trace.live[j]) continue;
        electrons(i, j) = kernels.dot(tile.data() + (j - j0) * plan_.spot_size(),
                                      strip.row(group, trace.y0[j]) + (trace.frame[j] - group.x0),
                                      plan_.ny, plan_.stride, strip.pitch);
      }
    }
  }
}

Array2D<double> ForwardModel::project(View2D<const double> electrons, Executor& executor,
                                      const Observer& observer) const {
  if (electrons.rows != nfiber_ || electrons.cols != nwave()) {
    throw Error(kSizeMismatch, "project: flux is " + shape(electrons.rows, electrons.cols) +
                                   ", expected " + shape(nfiber_, nwave()) + " (fibres x bins)");
  }
  Array2D<double> image(npix_y(), npix_x(), 0.0);
  for (const auto& members : colours_) {
    executor.run(members.size(), [&](std::size_t m) {
      stop_if_asked(observer);
      Strip strip;
      project_group(groups_[members[m]], electrons, strip, image);
    });
  }
  return image;
}

Array2D<double> ForwardModel::adjoint(View2D<const double> image, Executor& executor,
                                      const Observer& observer) const {
  if (image.rows != npix_y() || image.cols != npix_x()) {
    throw Error(kSizeMismatch, "adjoint: image is " + shape(image.rows, image.cols) +
                                   ", expected " + shape(npix_y(), npix_x()) + " (rows x columns)");
  }
  Array2D<double> electrons(nfiber_, nwave(), 0.0);
  executor.run(groups_.size(), [&](std::size_t g) {
    if (groups_[g].dark()) return;
    stop_if_asked(observer);
    Strip strip;
    gather_group(groups_[g], image, strip, electrons);
  });
  return electrons;
}

LOOM_ISA_TABLES(ForwardKernels, kForward, forward_kernels)

}  // namespace fiberloom
