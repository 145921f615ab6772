// SPDX-License-Identifier: BSD-3-Clause
#include "bench/fiberloom/redshift/sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "fiberloom/redshift/fitter.hpp"
#include "fiberloom/redshift/prepare.hpp"
#include "loom/base/rng.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom::bench {
namespace {

using namespace redshift;

double draw_z(const Template& t, double u, double normal) {
  if (t.spectype == "STAR") return normal * 100 / kLightKms;
  if (t.spectype == "QSO") return 0.3 + 3.5 * u;
  return 0.005 + 1.6 * u;
}

/// R with a variance of `extra` pixels^2 more: part of it moved to both neighbours.
void widen(Block& block, double extra) {
  const std::size_t nd = block.ndiag;
  std::vector<double> old(nd);
  for (std::size_t i = 0; i < block.pixels; ++i) {
    double* row = block.rows.data() + i * nd;
    std::copy(row, row + nd, old.begin());
    for (std::size_t m = 1; m + 1 < nd; ++m) {
      row[m] += extra / 2 * (old[m - 1] - 2 * old[m] + old[m + 1]);
    }
  }
}

/// Rows to DESI's diagonals.
void store_resolution(const Block& block, std::size_t target, parity::CoaddCamera& camera) {
  const std::size_t n = block.pixels, nd = block.ndiag, half = nd / 2;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t m = 0; m < nd; ++m) {
      if (i + m < half || i + m - half >= n) continue;
      camera.resolution[(target * nd + nd - 1 - m) * n + i + m - half] =
          static_cast<float>(block.rows[i * nd + m]);
    }
  }
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

parity::CoaddFile made_up_cameras() {
  parity::CoaddFile out;
  out.ids = {1};
  const struct {
    const char* band;
    double first;
    std::size_t n;
  } cameras[]{{"B", 3600, 2751}, {"R", 5760, 2326}, {"Z", 7520, 2881}};
  for (const auto& camera : cameras) {
    parity::CoaddCamera c;
    c.band = camera.band;
    c.ndiag = 11;
    for (std::size_t i = 0; i < camera.n; ++i) {
      c.wave.push_back(camera.first + 0.8 * static_cast<double>(i));
    }
    c.flux.assign(camera.n, 0.0F);
    c.ivar.assign(camera.n, 1.0F);
    c.resolution.assign(11 * camera.n, 0.0F);
    for (std::size_t column = 0; column < camera.n; ++column) {
      double sum = 0;
      const auto value = [](int d) { return std::exp(-0.5 * d * d / 1.0); };
      for (int d = -5; d <= 5; ++d) sum += value(d);
      for (int d = -5; d <= 5; ++d) {
        c.resolution[static_cast<std::size_t>(d + 5) * camera.n + column] =
            static_cast<float>(value(d) / sum);
      }
    }
    out.cameras.push_back(std::move(c));
  }
  return out;
}

namespace {

/// What truths are drawn from: templates with coefficients, and archetypes as templates of one
/// vector each, in groups that a kernel takes.
class Sources {
 public:
  Sources(const TargetSet& set, const TemplateSet& templates,
          std::span<const Archetypes> archetypes) {
    const ScanKernels& kernels = scan_kernels(active_isa());
    for (const Template& t : templates) {
      if (t.training.empty()) continue;
      of_kind_[t.spectype == "GALAXY" ? 0 : 1].push_back(&fitters_.emplace_back(set, t, kernels));
    }
    constexpr std::size_t kGroup = 8;
    for (const Archetypes& a : archetypes) {
      for (std::size_t first = 0; first < a.flux.rows() && a.spectype == "QSO"; first += kGroup) {
        Template& t = groups_.emplace_back();
        t.spectype = a.spectype;
        t.igm = Igm::kKamble20;
        t.wave = a.wave;
        t.flux = Array2D<double>(std::min(kGroup, a.flux.rows() - first), a.wave.size());
        std::copy(a.flux.row(first), a.flux.row(first) + t.flux.size(), t.flux.data());
        of_kind_[2].push_back(&fitters_.emplace_back(set, t, kernels));
      }
    }
  }
  /// Galaxies, stars and quasars in turn, or what there is.
  [[nodiscard]] const Fitter& pick(std::size_t target, double u) const {
    std::size_t kind = target % 3;
    for (std::size_t k = 0; k < 3 && of_kind_[kind].empty(); ++k) kind = k;
    const auto& all = of_kind_[kind];
    return *all.at(static_cast<std::size_t>(u * static_cast<double>(all.size())));
  }

 private:
  std::deque<Template> groups_;
  std::deque<Fitter> fitters_;
  std::array<std::vector<const Fitter*>, 3> of_kind_;
};

std::vector<double> draw_coefficients(const Template& t, double u) {
  std::vector<double> c(t.nbasis(), 0.0);
  if (t.training.empty()) {
    c[static_cast<std::size_t>(u * static_cast<double>(c.size()))] = 1;
    return c;
  }
  const auto row = static_cast<std::size_t>(u * static_cast<double>(t.training.rows()));
  for (std::size_t a = 0; a < c.size(); ++a) c[a] = t.training(row, a);
  return c;
}

}  // namespace

Sample draw(const TemplateSet& templates, std::span<const Archetypes> archetypes,
            const parity::CoaddFile& base, const SampleOptions& options) {
  SerialExecutor executor;
  const TargetSet set = prepare(base.views(),
                                {.least_row_sum = 0,
                                 .negative_nsig = 0,
                                 .hot_pixel_nsig = 0,
                                 .sky_line_share = 0,
                                 .mask_sky_lines = false},
                                executor);
  const Sources sources(set, templates, archetypes);
  Sample out;
  for (const parity::CoaddCamera& c : base.cameras) {
    parity::CoaddCamera camera{c.band, c.wave, {}, {}, {}, {}, c.ndiag};
    camera.flux.assign(options.targets * c.wave.size(), 0.0F);
    camera.ivar.assign(options.targets * c.wave.size(), 0.0F);
    camera.resolution.assign(options.targets * c.wave.size() * c.ndiag, 0.0F);
    out.file.cameras.push_back(std::move(camera));
  }
  const CounterRng rng(options.seed, 77);
  for (std::size_t t = 0; t < options.targets; ++t) {
    const auto u = rng.uniform2(10 * t), v = rng.uniform2(10 * t + 1);
    const Fitter& fitter = sources.pick(t, u[0]);
    const std::vector<double> c = draw_coefficients(fitter.source(), u[1]);
    const Truth truth{fitter.source().spectype,
                      draw_z(fitter.source(), v[0], rng.normal(10 * t + 3)),
                      options.least_snr * std::pow(options.most_snr / options.least_snr, v[1])};
    std::vector<std::vector<double>> models;
    std::vector<double> snr;
    std::vector<Block> blocks = set.targets[0].blocks;
    for (Block& block : blocks) {
      widen(block, options.resolution_spread * rng.uniform(10 * t + 2));
      models.push_back(fitter.model(block, truth.z, c));
      for (std::size_t i = 0; i < block.pixels; ++i) {
        if (block.weight[i] > 0) snr.push_back(models.back()[i] * std::sqrt(block.weight[i]));
      }
    }
    const double scale = truth.snr / std::max(std::abs(median(snr)), 1e-300);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      parity::CoaddCamera& camera = out.file.cameras[b];
      const std::size_t n = blocks[b].pixels;
      for (std::size_t i = 0; i < n; ++i) {
        const double ivar = blocks[b].weight[i];
        const double noise = rng.normal((t + 1000) * 100000 + b * 10000 + i);
        const double sigma = ivar > 0 ? 1 / std::sqrt(ivar) : 0;
        camera.flux[t * n + i] = static_cast<float>(scale * models[b][i] + noise * sigma);
        camera.ivar[t * n + i] = static_cast<float>(ivar);
      }
      store_resolution(blocks[b], t, camera);
    }
    out.file.ids.push_back(static_cast<std::int64_t>(1000 + t));
    out.truth.push_back(truth);
  }
  return out;
}

void write_sample(const std::string& path, const Sample& sample) {
  fits::write_fits(path, Overwrite::kYes, [&](fits::FitsWriter& writer) {
    const std::size_t n = sample.truth.size();
    writer.table("FIBERMAP", fits::TableBuilder(n).add("TARGETID", sample.file.ids).build());
    for (const parity::CoaddCamera& c : sample.file.cameras) {
      const std::size_t nw = c.wave.size();
      using fits::PixelType;
      writer.image(c.band + "_WAVELENGTH", std::span(c.wave), {nw}, PixelType::kFloat64);
      writer.image(c.band + "_FLUX", std::span(c.flux), {nw, n}, PixelType::kFloat32);
      writer.image(c.band + "_IVAR", std::span(c.ivar), {nw, n}, PixelType::kFloat32);
      writer.image(c.band + "_RESOLUTION", std::span(c.resolution), {nw, c.ndiag, n},
                   PixelType::kFloat32);
    }
    std::vector<std::string> type;
    std::vector<double> z, snr;
    for (const Truth& t : sample.truth) {
      type.push_back(t.spectype);
      z.push_back(t.z);
      snr.push_back(t.snr);
    }
    writer.table(
        "TRUTH",
        fits::TableBuilder(n).add("SPECTYPE", type, 6).add("Z", z).add("SNR", snr).build());
  });
}

}  // namespace fiberloom::bench
