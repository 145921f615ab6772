// SPDX-License-Identifier: BSD-3-Clause
// Every operation of the packs of every level that this machine has, against the scalar one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/simd/isa.hpp"
#include "loom/simd/isa_tables.hpp"
#include "loom/simd/pack_operations.hpp"

namespace loom {

LOOM_ISA_TABLES(LevelOperations, kOperations, pack_operations)

namespace {

constexpr std::size_t kCount = 64;

template <class Real>
std::vector<Real> values(double scale, double shift) {
  std::vector<Real> v;
  for (std::size_t i = 0; i < kCount; ++i)
    v.push_back(static_cast<Real>(shift + scale * std::sin(1.3 * static_cast<double>(i))));
  return v;
}

template <class Real>
void expect_scalar_arithmetic(const PackOperations<Real>& pack) {
  const int n = static_cast<int>(kCount);
  const auto eps = static_cast<double>(std::numeric_limits<Real>::epsilon());
  std::vector<Real> a = values<Real>(9, 0.1), b = values<Real>(3, 0.5), c = values<Real>(5, -1);
  a[0] = Real{2.5}, a[1] = Real{-2.5}, a[2] = Real{3.5}, a[3] = Real{0}, a[4] = Real{-4};
  a[5] = std::numeric_limits<Real>::quiet_NaN();
  std::vector<Real> out(kCount);
  const auto same = [&](double got, double want, double size) {
    return std::isnan(want) ? std::isnan(got) : std::abs(got - want) <= 2 * eps * size;
  };
  const auto unary = [&](int which, const std::vector<Real>& x, auto want) {
    pack.unary(which, x.data(), out.data(), n);
    for (std::size_t i = 0; i < kCount; ++i) {
      const double w = want(static_cast<double>(x[i]));
      EXPECT_TRUE(same(out[i], w, 0)) << which << " of " << x[i] << ": " << out[i];
    }
  };
  unary(kNegate, a, [](double x) { return -x; });
  unary(kAbs, a, [](double x) { return std::abs(x); });
  unary(kRoundEven, a, [](double x) { return std::rint(x); });
  unary(kFloor, a, [](double x) { return std::floor(x); });
  unary(kSqrt, a, [](double x) { return static_cast<double>(std::sqrt(static_cast<Real>(x))); });
  std::vector<Real> powers;
  for (std::size_t i = 0; i < kCount; ++i)
    powers.push_back(static_cast<Real>(static_cast<int>(i) * 2 - 63));
  powers[0] = static_cast<Real>(std::numeric_limits<Real>::min_exponent - 1);
  powers[1] = static_cast<Real>(std::numeric_limits<Real>::max_exponent - 1);
  unary(kPow2, powers, [](double x) { return std::ldexp(1.0, static_cast<int>(x)); });

  const auto ternary = [&](int which, auto want) {
    pack.ternary(which, a.data(), b.data(), c.data(), out.data(), n);
    for (std::size_t i = 0; i < kCount; ++i) {
      const double x = a[i], y = b[i], z = c[i], w = want(x, y, z);
      const double size = std::abs(x * y) + std::abs(z);
      EXPECT_TRUE(same(out[i], w, which == kFma || which == kFnma ? size : 0))
          << which << " at " << i << ": " << out[i] << ", expected " << w;
    }
  };
  ternary(kFma, [](double x, double y, double z) { return x * y + z; });
  ternary(kFnma, [](double x, double y, double z) { return z - x * y; });
  ternary(kMax, [](double x, double y, double) { return x > y ? x : y; });
  ternary(kMin, [](double x, double y, double) { return x < y ? x : y; });
  ternary(kSelect, [](double x, double y, double z) { return x > 0 ? y : z; });
  pack.ternary(kArithmetic, a.data(), b.data(), c.data(), out.data(), n);
  for (std::size_t i = 6; i < kCount; ++i) {
    const double d = (static_cast<double>(c[i]) + a[i] - b[i]) * a[i];
    const double quotient = (static_cast<double>(a[i]) + b[i]) / d;
    const double size = 1 + std::abs(d) + 20 * std::abs(quotient) * (1 + 1 / std::abs(d));
    EXPECT_NEAR(out[i], quotient - d, 20 * eps * size) << i;
  }
}

template <class Real>
void expect_moves(const PackOperations<Real>& pack) {
  const auto w = static_cast<std::size_t>(pack.width);
  std::vector<Real> block(w * w), turned(w * w);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<Real>(i);
  pack.transpose(block.data(), turned.data());
  for (std::size_t r = 0; r < w; ++r) {
    for (std::size_t k = 0; k < w; ++k) EXPECT_EQ(turned[r * w + k], block[k * w + r]);
  }
  for (std::size_t i = 0; i < w; ++i) {
    std::vector<Real> some(w, Real{1});
    EXPECT_TRUE(pack.all_below(some.data(), 1.5));
    some[i] = Real{2};
    EXPECT_FALSE(pack.all_below(some.data(), 1.5)) << i;
    some[i] = std::numeric_limits<Real>::quiet_NaN();
    EXPECT_FALSE(pack.all_below(some.data(), 1.5)) << i;
  }
}

class PackTest : public testing::TestWithParam<Isa> {
 protected:
  const LevelOperations level_ = pack_operations(GetParam());
};

TEST_P(PackTest, OfDoublesDoesScalarArithmetic) { expect_scalar_arithmetic(*level_.doubles); }
TEST_P(PackTest, OfFloatsDoesScalarArithmetic) { expect_scalar_arithmetic(*level_.floats); }

TEST_P(PackTest, TransposesAndLooksAtEveryLane) {
  EXPECT_EQ(kLanes % level_.doubles->width, 0);
  EXPECT_EQ(kFloatLanes % level_.floats->width, 0);
  expect_moves(*level_.doubles);
  expect_moves(*level_.floats);
}

TEST_P(PackTest, WidensFloatsAndBackWithoutLoss) {
  const std::vector<float> in = values<float>(1e20, 1e-20);
  std::vector<double> wide(kCount);
  std::vector<float> back(kCount);
  level_.widen_and_back(in.data(), wide.data(), back.data(), static_cast<int>(kCount));
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(wide[i], static_cast<double>(in[i]));
  EXPECT_EQ(back, in);
}

INSTANTIATE_TEST_SUITE_P(Levels, PackTest, testing::ValuesIn(available_isas()),
                         [](const auto& test) { return std::string(isa_name(test.param)); });

/// Sets FIBERLOOM_ISA for as long as it lives.
class ForcedIsa {
 public:
  explicit ForcedIsa(const std::string& value) {
    if (const char* before = std::getenv("FIBERLOOM_ISA")) before_ = before;
    ::setenv("FIBERLOOM_ISA", value.c_str(), 1);
  }
  ~ForcedIsa() {
    before_.empty() ? ::unsetenv("FIBERLOOM_ISA") : ::setenv("FIBERLOOM_ISA", before_.c_str(), 1);
  }
  ForcedIsa(const ForcedIsa&) = delete;
  ForcedIsa& operator=(const ForcedIsa&) = delete;

 private:
  std::string before_;
};

TEST(ActiveIsa, IsWhatTheEnvironmentAsksForWhereTheProcessorHasIt) {
  for (const Isa isa : available_isas()) {
    const ForcedIsa forced{std::string(isa_name(isa))};
    EXPECT_EQ(active_isa(), isa);
  }
  const ForcedIsa none("");
  EXPECT_EQ(active_isa(), detect_isa());
  EXPECT_EQ(available_isas().back(), detect_isa());
}

TEST(ActiveIsa, RefusesWhatIsNoLevel) {
  const ForcedIsa forced("v9");
  try {
    (void)active_isa();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::kUsage);
    EXPECT_NE(std::string(e.what()).find("FIBERLOOM_ISA=v9"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace loom
