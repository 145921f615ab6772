// SPDX-License-Identifier: BSD-3-Clause
// Who computes what in a scan. A task is a run of redshift packs of one template, all targets: the
// template is put on the pixels once for all of them.
#include "fiberloom/redshift/scan.hpp"

#include <algorithm>

#include "fiberloom/redshift/fast_scan.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/work_pool.hpp"

namespace fiberloom::redshift {
namespace {

/// Pixels that stay in the inner caches while the targets pass: a template's share of them has
/// 64 x nbasis x kLanes doubles.
constexpr std::size_t kExactTile = 64;
/// Targets whose normal equations stay in cache.
constexpr std::size_t kTargetBlock = 64;
/// Packs of one task: scratch is set up once for them.
constexpr std::size_t kPacksOfTask = 4;

std::vector<double> covered(const Sampler& sampler, const Template& t, const TargetSet& set,
                            const ScanOptions& options) {
  std::vector<double> grid =
      options.step_kms > 0 ? denser(t.redshifts, options.step_kms) : t.redshifts;
  std::vector<double> good;
  std::copy_if(grid.begin(), grid.end(), std::back_inserter(good), [&](double z) {
    return options.coverage == Coverage::kPartial ? sampler.coverage(z) >= options.least_coverage
                                                  : sampler.covers(z);
  });
  if (good.size() == grid.size() || options.coverage != Coverage::kRequire) return good;
  throw Error(
      kTemplateRange,
      (t.file.empty() ? t.full_type() : t.file) +
          print(": %g-%g Angstrom at rest, redshifts %g to %g need %g-%g for spectra of "
                "%g-%g",
                t.wave.front(), t.wave.back(), grid.front(), grid.back(),
                set.lowest_edge() / (1 + grid.back()), set.highest_edge() / (1 + grid.front()),
                set.lowest_edge(), set.highest_edge()));
}

void exact_pack(const TargetSet& set, std::size_t first, Buffer<double>& pack,
                Buffer<double>& normal, Curve& curve) {
  const Fitter& fitter = *curve.fitter;
  const ZPack lanes = pack_of(std::span(curve.z).subspan(first));
  fitter.sampler().sample(lanes, pack.data());
  const std::vector<Sampler::Reach> reach = fitter.reach(lanes);
  PackFit fit;
  for (std::size_t t0 = 0; t0 < set.targets.size(); t0 += kTargetBlock) {
    const std::size_t count = std::min(kTargetBlock, set.targets.size() - t0);
    normal.fill(0);
    for (std::size_t g = 0; g < set.grids.size(); ++g) {
      for (std::size_t i = reach[g].first; i < reach[g].last; i += kExactTile) {
        for (std::size_t t = 0; t < count; ++t) {
          for (const Block& block : set.targets[t0 + t].blocks) {
            if (block.grid != g) continue;
            fitter.accumulate(block, pack.data(), i, std::min(kExactTile, reach[g].last - i),
                              normal.data() + t * fitter.normal_doubles());
          }
        }
      }
    }
    for (std::size_t t = 0; t < count; ++t) {
      fitter.finish(set.targets[t0 + t], reach, normal.data() + t * fitter.normal_doubles(), fit);
      store(fit, t0 + t, first, curve);
    }
  }
}

/// Products serve kGatherTargets at a time: for fewer the exact way costs less.
ScanMode mode_of(const TargetSet& set, const ScanOptions& options) {
  return set.targets.size() < kGatherTargets ? ScanMode::kExact : options.mode;
}

struct Task {
  std::size_t curve, first, last;  ///< redshifts [first, last)
};

std::vector<Task> tasks_of(std::span<const Curve> curves) {
  std::vector<Task> tasks;
  constexpr std::size_t kStep = kPacksOfTask * kLanes;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    for (std::size_t z = 0; z < curves[c].z.size(); z += kStep) {
      tasks.push_back({c, z, std::min(z + kStep, curves[c].z.size())});
    }
  }
  return tasks;
}

/// What tasks of one template after the other work with: megabytes, which fresh for each task cost
/// as much as the sampling of the templates.
struct ScanWork {
  const Fitter* fitter = nullptr;
  Buffer<double> pack, normal;  ///< normal: of an exact scan
  FastScan::Scratch scratch;    ///< of a fast one

  void suit(const Fitter& wanted, ScanMode mode, const FastScan& fast) {
    if (fitter == &wanted) return;
    fitter = &wanted;
    pack = Buffer<double>(wanted.sampler().pack_size());
    if (mode == ScanMode::kExact) {
      normal = Buffer<double>(kTargetBlock * wanted.normal_doubles());
    } else {
      scratch = fast.scratch(wanted);
    }
  }
};

}  // namespace

void store(const PackFit& fit, std::size_t target, std::size_t first, Curve& curve) {
  for (std::size_t lane = 0; lane < kLanes && first + lane < curve.z.size(); ++lane) {
    curve.chi2(target, first + lane) = fit.chi2[lane];
    curve.penalty(target, first + lane) = fit.penalty[lane];
    for (std::size_t a = 0; a < curve.coefficients.cols(); ++a) {
      curve.coefficients(target, first + lane, a) = static_cast<float>(fit.coefficient(a, lane));
    }
    if (!curve.evidence.empty()) curve.evidence(target, first + lane) = fit.evidence[lane];
  }
}

std::vector<Curve> empty_curves(const TargetSet& set, const TemplateSet& templates,
                                const ScanOptions& options) {
  const ScanKernels& kernels = scan_kernels(active_isa());
  std::vector<Curve> curves;
  for (const Template& t : templates) {
    Curve curve;
    curve.fitter = std::make_unique<Fitter>(set, t, kernels, options.fit);
    curve.z = covered(curve.fitter->sampler(), t, set, options);
    curves.push_back(std::move(curve));
  }
  if (std::all_of(curves.begin(), curves.end(), [](const Curve& c) { return c.z.empty(); })) {
    throw Error(kTemplateRange,
                print("none of %zu templates covers %g-%g Angstrom at any redshift asked for",
                      templates.size(), set.lowest_edge(), set.highest_edge()));
  }
  return curves;
}

std::vector<Curve> scan(const TargetSet& set, const TemplateSet& templates,
                        const ScanOptions& options, Executor& executor, FastScanner* scanner) {
  std::vector<Curve> curves = empty_curves(set, templates, options);
  for (Curve& curve : curves) {
    curve.chi2 = Array2D<double>(set.targets.size(), curve.z.size());
    curve.penalty = Array2D<double>(set.targets.size(), curve.z.size());
    if (options.keep_coefficients) {
      curve.coefficients =
          Array3D<float>(set.targets.size(), curve.z.size(), curve.fitter->nbasis());
    }
    if (curve.fitter->has_evidence()) {
      curve.evidence = Array2D<double>(set.targets.size(), curve.z.size());
    }
  }
  const ScanMode mode = mode_of(set, options);
  if (mode == ScanMode::kFast && scanner != nullptr && scanner->scan(set, curves, executor)) {
    return curves;
  }
  const FastScan fast = mode == ScanMode::kFast ? FastScan(set) : FastScan();
  const std::vector<Task> tasks = tasks_of(curves);
  WorkPool<ScanWork> works;
  executor.run(tasks.size(), [&](std::size_t index) {
    const Task& task = tasks[index];
    Curve& curve = curves[task.curve];
    const Fitter& fitter = *curve.fitter;
    auto work = works.borrow();
    work->suit(fitter, mode, fast);
    if (mode == ScanMode::kExact) {
      for (std::size_t z = task.first; z < task.last; z += kLanes) {
        exact_pack(set, z, work->pack, work->normal, curve);
      }
      return;
    }
    PackFit fit;
    for (std::size_t z = task.first; z < task.last; z += kLanes) {
      const ZPack lanes = pack_of(std::span(curve.z).subspan(z));
      fitter.sampler().sample(lanes, work->pack.data());
      const std::vector<Sampler::Reach> reach = fitter.reach(lanes);
      fast.accumulate(fitter, reach, work->pack.data(), work->scratch);
      for (std::size_t t = 0; t < set.targets.size(); ++t) {
        fitter.finish(set.targets[t], reach, work->scratch.normal_of(t), fit);
        store(fit, t, z, curve);
      }
    }
  });
  return curves;
}

}  // namespace fiberloom::redshift
