// SPDX-License-Identifier: BSD-3-Clause
// CPU detection.
#include "loom/simd/isa.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <string>

#include "loom/base/error.hpp"
#include "loom/simd/built_isas.hpp"

namespace loom {

std::string_view isa_name(Isa isa) noexcept {
  switch (isa) {
    case Isa::kGeneric:
      return "generic";
    case Isa::kV2:
      return "v2";
    case Isa::kV3:
      return "v3";
    case Isa::kV4:
      return "v4";
  }
  return "?";
}

Isa detect_isa() noexcept {
#if defined(__x86_64__) && defined(__clang__)  // knows features, and not yet the levels' names
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"),
             v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("fma"),
             v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4) return Isa::kV4;
  if (v3) return Isa::kV3;
  if (v2) return Isa::kV2;
#elif defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return Isa::kV4;
  if (__builtin_cpu_supports("x86-64-v3")) return Isa::kV3;
  if (__builtin_cpu_supports("x86-64-v2")) return Isa::kV2;
#endif
  return Isa::kGeneric;
}

#define LOOM_ISA_VALUE(level, value, unused) Isa::value,
namespace {

constexpr std::array kBuilt{LOOM_EACH_ISA(LOOM_ISA_VALUE, )};

/// "generic, v2, v3 or v4"
std::string names_of(const std::vector<Isa>& isas) {
  std::string names;
  for (std::size_t i = 0; i < isas.size(); ++i) {
    if (i > 0) names += i + 1 == isas.size() ? " or " : ", ";
    names += isa_name(isas[i]);
  }
  return names;
}

}  // namespace

std::vector<Isa> available_isas() {
  std::vector<Isa> all;
  std::copy_if(kBuilt.begin(), kBuilt.end(), std::back_inserter(all),
               [](Isa isa) { return isa <= detect_isa(); });
  return all;
}

Isa active_isa() {
  const std::vector<Isa> all = available_isas();
  if (all.empty()) {
    throw Error(Status::kUnsupported, "built for processors of level " +
                                          names_of({kBuilt.begin(), kBuilt.end()}) +
                                          ", this one has " + std::string(isa_name(detect_isa())) +
                                          ": build it here, or with FIBERLOOM_ISA_LEVELS=all");
  }
  const char* wish = std::getenv("FIBERLOOM_ISA");
  if (wish == nullptr || *wish == '\0') return all.back();
  for (const Isa isa : all) {
    if (isa_name(isa) == wish) return isa;
  }
  throw Error(Status::kUsage, std::string("FIBERLOOM_ISA=") + wish + ": expected " + names_of(all) +
                                  ", which this program has and this processor runs");
}

void lower_isa(Isa most) {
  if (most >= active_isa()) return;
  ::setenv("FIBERLOOM_ISA", std::string(isa_name(most)).c_str(), 1);
}

void throw_not_built(Isa isa) {
  throw Error(Status::kInternal,
              "level " + std::string(isa_name(isa)) + " is not built into this program");
}

}  // namespace loom
