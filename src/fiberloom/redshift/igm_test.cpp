// SPDX-License-Identifier: BSD-3-Clause
// Transmission against another implementation of the same papers (redrock's, which took Inoue14
// from grizli), run once for these values at redshifts above 1.2, since below it takes the Lyman
// continuum of higher ones; and what every model must obey.
#include "fiberloom/redshift/igm.hpp"

#include <gtest/gtest.h>

#include <array>

namespace fiberloom::redshift {
namespace {

struct Row {
  Igm model;
  double z;
  std::array<double, 8> transmission;
};

/// At these rest-frame wavelengths.
constexpr std::array kRest{900., 910., 912.5, 930., 960., 1000., 1100., 1215.};
constexpr std::array kAtRest{
    Row{Igm::kCalura12,
        1.3,
        {0.974157259367, 0.973111027736, 0.97284485904, 0.970929241285, 0.969977911113,
         0.968807904374, 0.967402753196, 0.953521521499}},
    Row{Igm::kCalura12,
        1.9,
        {0.940939261592, 0.938591301817, 0.937994497729, 0.933705674834, 0.931579930231,
         0.928969339079, 0.92583959607, 0.895244359926}},
    Row{Igm::kCalura12,
        2.1,
        {0.925331650777, 0.922389226209, 0.921641643247, 0.916273123222, 0.91361473773,
         0.910352299127, 0.906444399269, 0.868434657384}},
    Row{Igm::kCalura12,
        3.5,
        {0.739847198506, 0.730754436294, 0.728457514357, 0.712120020111, 0.704131495932,
         0.694418930504, 0.6829161125, 0.578273107015}},
    Row{Igm::kCalura12,
        4.9,
        {0.44590435526, 0.4313662466, 0.427741471779, 0.402509519923, 0.390520190012,
         0.376248197158, 0.359774124894, 0.230361181564}},
    Row{Igm::kCalura12,
        6.5,
        {0.144511579882, 0.133482401892, 0.13081166993, 0.113084654596, 0.10518402218,
         0.096210710994, 0.0864275314328, 0.0297107387618}},
    Row{Igm::kKamble20,
        1.3,
        {0.970316373448, 0.969270602728, 0.969005386892, 0.96710618471, 0.963673711414,
         0.958740231653, 0.944534424397, 0.924686289017}},
    Row{Igm::kKamble20,
        1.9,
        {0.938938603588, 0.936823958948, 0.936288063543, 0.932455208036, 0.92554880436,
         0.915669169602, 0.887529863618, 0.848980785028}},
    Row{Igm::kKamble20,
        2.1,
        {0.925056707536, 0.922481481588, 0.921829083305, 0.917165546326, 0.908773785873,
         0.896795076808, 0.862845257618, 0.816748997442}},
    Row{Igm::kKamble20,
        3.5,
        {0.774912897703, 0.767873519508, 0.766097265884, 0.753483089525, 0.731149155647,
         0.700071379879, 0.616989635023, 0.515494548537}},
    Row{Igm::kKamble20,
        4.9,
        {0.546742372524, 0.535055731386, 0.532129855981, 0.51161759223, 0.476436832179,
         0.429874431736, 0.318741332626, 0.208271326259}},
    Row{Igm::kKamble20,
        6.5,
        {0.273733676992, 0.261331913046, 0.258275016594, 0.237382432609, 0.20373071917,
         0.16338647638, 0.0859937332039, 0.034506400907}},
    Row{Igm::kInoue14,
        1.3,
        {0.891113525342, 0.910766692853, 0.917494436509, 0.93927325042, 0.946620301101,
         0.950618088555, 0.959427277317, 0.949276640129}},
    Row{Igm::kInoue14,
        1.9,
        {0.817390474026, 0.851060619928, 0.862131457695, 0.897989852703, 0.909124850848,
         0.912600232801, 0.918816426632, 0.885085088309}},
    Row{Igm::kInoue14,
        2.1,
        {0.780424105671, 0.818395267804, 0.831246259247, 0.872054208015, 0.885569805158,
         0.889791372803, 0.897436926872, 0.855473560385}},
    Row{Igm::kInoue14,
        3.5,
        {0.400455984637, 0.472616153202, 0.497814918969, 0.585199514117, 0.619734401185,
         0.630719626046, 0.651650155506, 0.538839290127}},
    Row{Igm::kInoue14,
        4.9,
        {0.0896048983103, 0.136758461974, 0.155403210753, 0.232227712898, 0.270669908351,
         0.283853706119, 0.311925043175, 0.167370867767}},
    Row{Igm::kInoue14,
        6.5,
        {0.000740774122012, 0.00268905464973, 0.00382358169449, 0.0118243071601, 0.0187154618737,
         0.0198185044386, 0.0209718660008, 0.00126706260307}},
};
/// At these observed ones: every range of the laws.
constexpr std::array kSeen{1500., 1999., 2010., 2600., 2760., 3600., 5100., 5250.};
constexpr std::array kObserved{
    Row{Igm::kCalura12,
        4.9,
        {0.991925928992, 0.977204947767, 0.97675042396, 0.941734430779, 0.928106717833,
         0.821802669239, 0.497915626537, 0.46073852967}},
    Row{Igm::kKamble20,
        4.9,
        {0.989245191414, 0.973394578738, 0.972932321755, 0.939657097084, 0.927496727779,
         0.839205610807, 0.588002288032, 0.558592364721}},
    Row{Igm::kInoue14,
        4.9,
        {0.00416497414781, 0.00171050977757, 0.00167885730493, 0.000685711916295, 0.000563384786437,
         0.000376331928308, 0.0236557132681, 0.0596788090193}},
};

TEST(Igm, AgreesWithAnotherImplementation) {
  for (const Row& row : kAtRest) {
    std::array<double, 8> wave;
    for (std::size_t i = 0; i < 8; ++i) wave[i] = kRest[i] * (1 + row.z);
    const IgmTable table(row.model, wave);
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(table.transmission(i, row.z), row.transmission[i], 1e-11)
          << name_of(row.model) << " z " << row.z << " rest " << kRest[i];
    }
  }
  for (const Row& row : kObserved) {
    const IgmTable table(row.model, kSeen);
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(table.transmission(i, row.z), row.transmission[i], 1e-11)
          << name_of(row.model) << " observed " << kSeen[i];
    }
  }
}

/// The laws of Inoue14 change at redshifts 1.2, 2 and 4.7 of the source and of the absorber; their
/// coefficients are printed with three to four digits.
TEST(Igm, LawsMeetWhereTheyChange) {
  for (const double z : {1.2, 2.0, 4.7}) {
    for (const double rest : {600., 850., 905., 913., 1000., 1200.}) {
      const std::vector<double> wave{rest * (1 + z)};
      const IgmTable table(Igm::kInoue14, wave);
      EXPECT_NEAR(table.transmission(0, z - 1e-9), table.transmission(0, z + 1e-9), 3e-3)
          << z << " " << rest;
    }
    const std::vector<double> wave{911.7 * (1 + z), 911.9 * (1 + z)};
    const IgmTable table(Igm::kInoue14, wave);
    EXPECT_NEAR(table.transmission(0, 6), table.transmission(1, 6), 3e-3) << z;
  }
}

TEST(Igm, LetsThroughWhatIsRedwardOfLymanAlphaAndAllWithoutAModel) {
  const std::vector<double> wave{3000, 3600, 3646, 3648, 5000};
  for (const Igm model : {Igm::kCalura12, Igm::kKamble20, Igm::kInoue14}) {
    const IgmTable table(model, wave);
    EXPECT_EQ(table.absorbed(2), 3U);  // 1215.67 x 3 = 3647.01
    for (std::size_t i = 0; i < wave.size(); ++i) {
      const double t = table.transmission(i, 2);
      EXPECT_TRUE(i < 3 ? t > 0 && t < 1 : t == 1) << name_of(model) << " " << wave[i];
    }
    EXPECT_EQ(table.absorbed(0), 0U);
    EXPECT_EQ(table.absorbed(10), 5U);
  }
  const IgmTable none(Igm::kNone, wave);
  EXPECT_EQ(none.absorbed(6), 0U);
  EXPECT_EQ(none.transmission(0, 6), 1);
}

TEST(Igm, ASharedEdgeMakesItContinuousInRedshift) {
  std::vector<double> wave;
  for (double w = 3600; w < 5000; w += 0.8) wave.push_back(w);
  for (const Igm model : {Igm::kCalura12, Igm::kKamble20, Igm::kInoue14}) {
    const auto largest_jump = [&](IgmEdge edge) {
      const IgmTable table(model, wave, edge);
      double last = 0, largest = 0;
      for (int step = 0; step < 400; ++step) {
        const double z = 2.6 + 2e-6 * step;  // one pixel is 6.6e-4
        double sum = 0;
        for (std::size_t i = 0; i < table.absorbed(z); ++i) sum += 1 - table.transmission(i, z);
        if (step > 0) largest = std::max(largest, std::abs(sum - last));
        last = sum;
      }
      return largest;
    };
    EXPECT_GT(largest_jump(IgmEdge::kAtMiddle), 0.15);
    EXPECT_LT(largest_jump(IgmEdge::kShared), 0.01);
  }
}

TEST(IgmWalk, IsTheTransmissionOfEveryPixelToTheLastBit) {
  std::vector<double> wave;
  for (int i = 0; i < 900; ++i) wave.push_back(3600 + 2.3 * i + 0.001 * i * i);
  for (const Igm model : {Igm::kNone, Igm::kCalura12, Igm::kKamble20, Igm::kInoue14}) {
    for (const IgmEdge edge : {IgmEdge::kAtMiddle, IgmEdge::kShared}) {
      const IgmTable table(model, wave, edge);
      for (int k = 0; k < 400; ++k) {
        const double z = 1.5 + 0.0137 * k;
        for (const std::size_t end : {wave.size(), table.absorbed(z) / 2, std::size_t{37}}) {
          IgmWalk walk(table, z, end);
          for (std::size_t i = std::min(end, table.absorbed(z)); i-- > 0;) {
            ASSERT_EQ(walk.at(i), table.transmission(i, z)) << z << " " << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace fiberloom::redshift
