// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/templates/built_in.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "fiberloom/templates/basis.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::templates {
namespace {

using redshift::Template;

/// log10 of the wavelength from `first` by 1e-4 to at least `last`, Angstrom.
std::vector<double> log_grid(double first, double last) {
  std::vector<double> wave;
  const double start = std::round(std::log10(first) * 1e4) / 1e4;
  for (int i = 0; wave.empty() || wave.back() < last; ++i) {
    wave.push_back(std::pow(10.0, start + 1e-4 * i));
  }
  return wave;
}

struct Line {
  double wave_aa, strength;  ///< vacuum
};

/// Adds lines of Gaussian profile; strength is the flux of one (unit: continuum x Angstrom).
void add_lines(std::span<const double> wave, std::span<const Line> lines, double sigma_kms,
               double scale, std::span<double> flux) {
  for (const Line& line : lines) {
    const double sigma = line.wave_aa * sigma_kms / redshift::kLightKms;
    const double height = scale * line.strength / (sigma * std::sqrt(2 * M_PI));
    auto at = static_cast<std::size_t>(
        std::lower_bound(wave.begin(), wave.end(), line.wave_aa - 6 * sigma) - wave.begin());
    for (; at < wave.size() && wave[at] < line.wave_aa + 6 * sigma; ++at) {
      const double t = (wave[at] - line.wave_aa) / sigma;
      flux[at] += height * std::exp(-0.5 * t * t);
    }
  }
}

/// Multiplies by 1 - depth at the middle of each line.
void absorb(std::span<const double> wave, std::span<const Line> lines, double sigma_aa,
            double depth, std::span<double> flux) {
  for (const Line& line : lines) {
    auto at = static_cast<std::size_t>(
        std::lower_bound(wave.begin(), wave.end(), line.wave_aa - 6 * sigma_aa) - wave.begin());
    for (; at < wave.size() && wave[at] < line.wave_aa + 6 * sigma_aa; ++at) {
      const double t = (wave[at] - line.wave_aa) / sigma_aa;
      flux[at] *= 1 - std::min(depth * line.strength, 0.95) * std::exp(-0.5 * t * t);
    }
  }
}

/// Flux of a black body per Angstrom relative to 5500 Angstrom.
double black_body(double wave, double kelvin) {
  constexpr double c2 = 1.438776877e8;  // Angstrom kelvin
  const double u = 5500 / wave, u2 = u * u;
  return u2 * u2 * u * std::expm1(c2 / (5500 * kelvin)) / std::expm1(c2 / (wave * kelvin));
}

/// 1 above an edge, `below` beneath it, over `width`.
double edge(double wave, double at, double width, double below) {
  if (std::abs(wave - at) > 40 * width) return wave < at ? below : 1;
  return below + (1 - below) / (1 + std::exp(-(wave - at) / width));
}

constexpr std::array<Line, 9> kBalmer{{{6564.61, 0.8},
                                       {4862.68, 1},
                                       {4341.68, 1},
                                       {4102.89, 1},
                                       {3971.20, 0.9},
                                       {3890.15, 0.8},
                                       {3836.47, 0.7},
                                       {3798.98, 0.6},
                                       {3771.70, 0.5}}};
// Ca K, Ca H, G band, Mg b, Fe, Na D, Ca triplet
constexpr std::array<Line, 12> kMetals{{{3934.78, 1},
                                        {3969.59, 1},
                                        {4305.6, 0.4},
                                        {4384.8, 0.2},
                                        {5168.7, 0.4},
                                        {5174.1, 0.5},
                                        {5185.0, 0.5},
                                        {5271.0, 0.3},
                                        {5893.6, 0.3},
                                        {8500.4, 0.3},
                                        {8544.4, 0.4},
                                        {8664.5, 0.4}}};
constexpr std::array<Line, 7> kHelium{{{3889.7, 0.3},
                                       {4027.3, 0.5},
                                       {4472.7, 0.6},
                                       {4922.9, 0.3},
                                       {5877.2, 0.6},
                                       {6680.0, 0.4},
                                       {7067.1, 0.3}}};
/// Heads of TiO bands: sharp to the blue, fading over 100 Angstrom to the red.
constexpr std::array<Line, 8> kTitanium{{{4761, 0.5},
                                         {4954, 0.7},
                                         {5167, 0.8},
                                         {5448, 0.6},
                                         {6159, 0.9},
                                         {6651, 0.8},
                                         {7053, 1},
                                         {7589, 0.9}}};

/// The atmosphere of a star; metals: 0 none, 1 the sun's.
void star(std::span<const double> wave, double kelvin, double metals, double broad_aa,
          std::span<double> flux) {
  const double hydrogen = std::exp(-0.5 * std::pow(std::log(kelvin / 9500) / 0.45, 2));
  const double cool = 1 / (1 + std::exp((kelvin - 6300) / 700));
  const double molecules = 1 / (1 + std::exp((kelvin - 3700) / 180));
  const double helium = 1 / (1 + std::exp((13000 - kelvin) / 2000));
  for (std::size_t i = 0; i < wave.size(); ++i) {
    flux[i] = black_body(wave[i], kelvin) * edge(wave[i], 3680, 25, 1 - 0.6 * hydrogen) *
              edge(wave[i], 3990, 20, 1 - 0.45 * cool * metals) *
              edge(wave[i], 2640, 40, 1 - 0.5 * cool * metals);
    for (const Line& band : kTitanium) {
      if (molecules * metals < 1e-4) break;
      const double d = wave[i] - band.wave_aa;
      if (d > 0 && d < 600)
        flux[i] *= 1 - 0.6 * molecules * metals * band.strength * std::exp(-d / 100);
    }
  }
  absorb(wave, kBalmer, broad_aa, 0.1 + 0.6 * hydrogen, flux);
  absorb(wave, kMetals, 3 + 6 * molecules, (0.06 + 0.75 * cool) * metals, flux);
  absorb(wave, kHelium, 4, 0.35 * helium, flux);
}

/// A number in (low, high): the k-th of a spectrum.
class Dice {
 public:
  Dice(std::uint64_t set, std::size_t spectrum) : rng_(20240101 + set, spectrum) {}
  double operator()(double low, double high) { return low + (high - low) * rng_.uniform(next_++); }

 private:
  loom::CounterRng rng_;
  std::uint64_t next_ = 0;
};

/// Case B at 10,000 K and the ratios that atoms fix; [OII] at low density.
struct Nebula {
  double halpha, oii, oiii, nii, sii, neiii;
};
std::vector<Line> nebular_lines(const Nebula& n) {
  const double hbeta = n.halpha / 2.86;
  return {{3727.09, n.oii * 0.43},
          {3729.88, n.oii * 0.57},
          {3869.86, n.neiii},
          {3968.59, n.neiii * 0.30},
          {3890.15, hbeta * 0.107},
          {3971.20, hbeta * 0.159},
          {4102.89, hbeta * 0.259},
          {4341.68, hbeta * 0.468},
          {4862.68, hbeta},
          {4960.30, n.oiii / 2.98},
          {5008.24, n.oiii},
          {6549.86, n.nii / 3.05},
          {6564.61, n.halpha},
          {6585.27, n.nii},
          {6718.29, n.sii * 0.58},
          {6732.67, n.sii * 0.42},
          {2796.35, -0.02 * n.halpha},
          {2803.53, -0.015 * n.halpha}};
}

/// A galaxy whose light at 5500 Angstrom is 1.
void galaxy(std::span<const double> wave, Dice& dice, std::span<double> flux) {
  const std::size_t n = wave.size();
  std::vector<double> part(n);
  const double activity = dice(0, 1);  // 0: old stars alone
  const double young = activity * activity * dice(0.3, 0.9);
  const double middle = (1 - young) * dice(0.05, 0.5) * (0.3 + 0.7 * activity);
  const double kelvin[] = {dice(16000, 30000), dice(8000, 10000), dice(4600, 5300)};
  const double share[] = {young, middle, 1 - young - middle};
  const double metals[] = {0.2, 0.4, dice(0.7, 1.2)};
  for (int k = 0; k < 3; ++k) {
    star(wave, kelvin[k], metals[k], k == 1 ? 9 : 5, part);
    for (std::size_t i = 0; i < n; ++i) flux[i] += share[k] * part[i];
  }
  const double halpha = 120 * std::pow(activity, 2) * dice(0.3, 2);
  const double oxygen = dice(0.2, 2.5);  // [OIII] / H beta goes against [NII] / H alpha
  const Nebula nebula{.halpha = halpha,
                      .oii = halpha * dice(0.5, 1.3),
                      .oiii = halpha / 2.86 * oxygen,
                      .nii = halpha * 0.35 / (0.6 + oxygen),
                      .sii = halpha * dice(0.2, 0.4),
                      .neiii = halpha / 2.86 * oxygen * 0.08};
  add_lines(wave, nebular_lines(nebula), dice(60, 140), 1, flux);
  const double dust = dice(0, 1.2);  // optical depth at 5500 Angstrom
  for (std::size_t i = 0; i < n; ++i) {
    flux[i] *= std::exp(-dust * (std::pow(wave[i] / 5500, -0.7) - 1));
  }
}

constexpr std::array<Line, 4> kNarrowQso{{{3728.5, 4}, {4960.3, 14}, {5008.24, 40}, {6725, 8}}};

void quasar(std::span<const double> wave, Dice& dice, std::span<double> flux) {
  const double slope = dice(-2.1, -1.0), red = dice(-0.4, 0.4), lines = std::exp(dice(-0.7, 0.7));
  const double iron = dice(0.2, 1.5), width = dice(1600, 3200);
  for (std::size_t i = 0; i < wave.size(); ++i) {
    const double w = wave[i] / 2500;
    flux[i] = std::pow(w, slope) * (w > 2 ? std::pow(w / 2, red + 0.5) : 1);
    const auto bump = [&](double at, double wide) {
      return std::exp(-0.5 * std::pow((wave[i] - at) / wide, 2));
    };
    flux[i] *=
        1 + 0.15 * iron *
                (bump(2480, 90) + 0.5 * bump(2950, 130) + bump(4570, 70) + 0.8 * bump(5250, 90));
  }
  // equivalent widths, Angstrom, of the lines at 2500 Angstrom's continuum times their own
  const std::array<Line, 16> broad{{{1033.8, 10},
                                    {1215.67, 90},
                                    {1240.1, 18},
                                    {1305.4, 4},
                                    {1398.3, 9},
                                    {1549.1, 40},
                                    {1640.4, 6},
                                    {1857.4, 4},
                                    {1908.7, 22},
                                    {2798.8, 34},
                                    {4102.9, 6},
                                    {4341.7, 14},
                                    {4862.7, 48},
                                    {5877.2, 5},
                                    {6564.6, 180},
                                    {7067, 3}}};
  for (const Line& line : broad) {
    const double w = line.wave_aa / 2500;
    const Line scaled{line.wave_aa, line.strength * lines * std::pow(w, slope) *
                                        (w > 2 ? std::pow(w / 2, red + 0.5) : 1)};
    add_lines(wave, std::array{scaled}, width, 0.7, flux);
    add_lines(wave, std::array{scaled}, 0.4 * width, 0.3, flux);
  }
  add_lines(wave, kNarrowQso, 250, std::pow(2.0, slope) * dice(0.2, 1.5), flux);
}

using Maker = std::function<void(std::span<const double>, Dice&, std::span<double>)>;

Template made(const char* type, const char* subtype, std::vector<double> wave, std::size_t count,
              std::size_t nbasis, const Maker& make) {
  TrainingSpectra spectra{Array2D<double>(count, wave.size(), 0.0), {}};
  std::uint64_t set = 0;
  for (const char* c = subtype; *c != '\0'; ++c) set = 31 * set + static_cast<unsigned char>(*c);
  for (std::size_t i = 0; i < count; ++i) {
    Dice dice(set + static_cast<unsigned char>(*type), i);
    const std::span<double> flux(spectra.flux.row(i), wave.size());
    make(wave, dice, flux);
    double mean = 0;
    for (const double f : flux) mean += f / static_cast<double>(wave.size());
    for (double& f : flux) f /= mean;
  }
  Basis basis = weighted_pca(spectra, {.nbasis = nbasis});
  Template t;
  t.spectype = type;
  t.subtype = subtype;
  t.version = kBuiltInVersion;
  t.wave = std::move(wave);
  t.flux = std::move(basis.vectors);
  t.training = std::move(basis.coefficients);
  // so that the last bits of a machine's exp() do not show
  for (std::size_t i = 0; i < t.flux.size(); ++i) {
    t.flux.data()[i] = static_cast<double>(static_cast<float>(t.flux.data()[i]));
  }
  for (std::size_t i = 0; i < t.training.size(); ++i) {
    t.training.data()[i] = static_cast<double>(static_cast<float>(t.training.data()[i]));
  }
  return t;
}

Template made_star(const char* subtype, double coolest, double hottest) {
  return made("STAR", subtype, log_grid(3500, 10000), 40, 4,
              [=](std::span<const double> wave, Dice& dice, std::span<double> flux) {
                const double kelvin = coolest * std::pow(hottest / coolest, dice(0, 1));
                star(wave, kelvin, dice(0.4, 1.3), dice(4, 14), flux);
              });
}

}  // namespace

redshift::TemplateSet built_in_set(const redshift::GridRules& rules) {
  redshift::TemplateSet set;
  set.push_back(made("GALAXY", "", log_grid(1320, 9950), 80, 6, galaxy));
  set.back().igm = redshift::Igm::kInoue14;
  set.push_back(made("QSO", "", log_grid(590, 9450), 50, 5, quasar));
  set.back().igm = redshift::Igm::kInoue14;
  set.push_back(made_star("HOT", 8000, 40000));
  set.push_back(made_star("SUN", 4800, 8000));
  set.push_back(made_star("COOL", 2800, 4800));
  for (Template& t : set) {
    t.redshifts = redshift::default_grid(t.spectype, rules);
    std::erase_if(t.redshifts, [&](double z) {  // of which DESI's cameras see nothing
      return t.spectype == "QSO" && 3598 / (1 + z) < t.wave.front();
    });
  }
  return set;
}

}  // namespace fiberloom::templates
