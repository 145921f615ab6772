// SPDX-License-Identifier: BSD-3-Clause
// Who computes what in a scan. A task is a run of redshift packs of one template, all targets: the
// template is put on the pixels once for all of them.
#include "fiberloom/redshift/scan.hpp"

#include <algorithm>
#include <exception>

#include "fiberloom/redshift/fast_scan.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/work_pool.hpp"

namespace fiberloom::redshift {
namespace {

/// Targets whose normal equations stay in cache.
constexpr std::size_t kTargetBlock = 64;
/// Packs of one task: scratch is set up once for them, and at neighbouring redshifts a part of the
/// pixels sees the same knots.
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

/// A pack of an exact task.
struct ExactPack {
  ZPack lanes;
  std::vector<Sampler::Reach> reach;
  std::vector<Sampler::OnGrid> on;
};

/// Normal equations of targets [t0, t0 + count) at all packs of a task: part by part of a grid each
/// pack is sampled, and all targets pass.
void accumulate_exact(const TargetSet& set, const Fitter& fitter, std::span<const ExactPack> packs,
                      std::size_t t0, std::size_t count, Buffer<double>& part,
                      Buffer<double>& normal) {
  normal.fill(0);
  const std::size_t doubles = fitter.normal_doubles();
  for (std::size_t g = 0; g < set.grids.size(); ++g) {
    for (std::size_t i = 0; i < set.grids[g].wave.size(); i += Fitter::kPart) {
      for (std::size_t p = 0; p < packs.size(); ++p) {
        const Sampler::Reach reach = packs[p].reach[g];
        const std::size_t low = std::max(i, reach.first);
        const std::size_t high = std::min(i + Fitter::kPart, reach.last);
        if (low >= high) continue;
        fitter.sampler().sample(packs[p].on[g], low, high - low, part.data());
        for (std::size_t t = 0; t < count; ++t) {
          for (const Block& block : set.targets[t0 + t].blocks) {
            if (block.grid != g) continue;
            fitter.accumulate(block, part.data(), low, low, high - low,
                              normal.data() + (p * kTargetBlock + t) * doubles);
          }
        }
      }
    }
  }
}

void exact_task(const TargetSet& set, std::size_t first, std::size_t last, Buffer<double>& part,
                Buffer<double>& normal, Curve& curve) {
  const Fitter& fitter = *curve.fitter;
  std::vector<ExactPack> packs;
  for (std::size_t z = first; z < last; z += kLanes) {
    ExactPack& pack = packs.emplace_back();
    pack.lanes = pack_of(std::span(curve.z).subspan(z));
    pack.reach = fitter.reach(pack.lanes);
    for (std::size_t g = 0; g < set.grids.size(); ++g) {
      pack.on.push_back(fitter.sampler().on_grid(pack.lanes, g));
    }
  }
  PackFit fit;
  for (std::size_t t0 = 0; t0 < set.targets.size(); t0 += kTargetBlock) {
    const std::size_t count = std::min(kTargetBlock, set.targets.size() - t0);
    accumulate_exact(set, fitter, packs, t0, count, part, normal);
    for (std::size_t p = 0; p < packs.size(); ++p) {
      for (std::size_t t = 0; t < count; ++t) {
        const std::size_t at = (p * kTargetBlock + t) * fitter.normal_doubles();
        fitter.finish(set.targets[t0 + t], packs[p].lanes, packs[p].reach, normal.data() + at,
                      kLeastPivot, fit);
        store(fit, t0 + t, first + p * kLanes, curve);
      }
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
  Buffer<double> pack;        ///< of an exact scan a part of one
  Buffer<double> normal;      ///< of an exact scan
  FastScan::Scratch scratch;  ///< of a fast one

  void suit(const Fitter& wanted, ScanMode mode, const FastScan& fast) {
    if (fitter == &wanted) return;
    fitter = &wanted;
    if (mode == ScanMode::kExact) {
      pack = Buffer<double>(wanted.part_doubles());
      normal = Buffer<double>(kPacksOfTask * kTargetBlock * wanted.normal_doubles());
    } else {
      pack = Buffer<double>(wanted.sampler().pack_size());
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
                                const ScanOptions& options, Executor& executor) {
  const ScanKernels& kernels = scan_kernels(active_isa());
  std::vector<Curve> curves(templates.size());
  std::vector<std::exception_ptr> failures(templates.size());  // the first template's is told
  executor.run(templates.size(), [&](std::size_t k) {
    try {
      curves[k].fitter = std::make_unique<Fitter>(set, templates[k], kernels, options.fit);
      curves[k].z = covered(curves[k].fitter->sampler(), templates[k], set, options);
    } catch (const Error&) {
      failures[k] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
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
  std::vector<Curve> curves = empty_curves(set, templates, options, executor);
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
  const bool by_device = mode == ScanMode::kFast && scanner != nullptr;
  if (by_device && scanner->scan(set, curves, executor)) return curves;
  const FastScan fast = mode == ScanMode::kFast ? FastScan(set, executor) : FastScan();
  const std::vector<Task> tasks = tasks_of(curves);
  WorkPool<ScanWork> works;
  executor.run(tasks.size(), [&](std::size_t index) {
    const Task& task = tasks[index];
    Curve& curve = curves[task.curve];
    const Fitter& fitter = *curve.fitter;
    auto work = works.borrow();
    work->suit(fitter, mode, fast);
    if (mode == ScanMode::kExact) {
      exact_task(set, task.first, task.last, work->pack, work->normal, curve);
      return;
    }
    PackFit fit;
    for (std::size_t z = task.first; z < task.last; z += kLanes) {
      const ZPack lanes = pack_of(std::span(curve.z).subspan(z));
      fitter.sampler().sample(lanes, work->pack.data());
      const std::vector<Sampler::Reach> reach = fitter.reach(lanes);
      fast.accumulate(fitter, reach, work->pack.data(), work->scratch);
      for (std::size_t t = 0; t < set.targets.size(); ++t) {
        fitter.finish(set.targets[t], lanes, reach, work->scratch.normal_of(t), kLeastGatheredPivot,
                      fit);
        store(fit, t, z, curve);
      }
    }
  });
  return curves;
}

}  // namespace fiberloom::redshift
