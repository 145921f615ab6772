// SPDX-License-Identifier: BSD-3-Clause
// Which instruction-set level runs. Kernels are compiled for each; tables of them are picked here
// once.
#pragma once

#include <string_view>
#include <vector>

namespace loom {

/// Lanes that data layouts reserve whatever the level: eight problems side by side.
inline constexpr int kLanes = 8;
/// The same for float32.
inline constexpr int kFloatLanes = 16;

enum class Isa { kGeneric, kV2, kV3, kV4 };

[[nodiscard]] std::string_view isa_name(Isa isa) noexcept;
/// Best level of this processor.
[[nodiscard]] Isa detect_isa() noexcept;
/// The best level that runs here, or what FIBERLOOM_ISA=generic|v2|v3|v4 asks for. Throws kUsage
/// when that is no level or one that does not run here, kUnsupported when none does: the program
/// was built for other processors alone.
[[nodiscard]] Isa active_isa();
/// From now on at most this level, by FIBERLOOM_ISA: one job of many processes agrees on the
/// lowest, so that it does not matter who computes what. Before any thread asks for a level.
void lower_isa(Isa most);
/// Every level that was built and that this processor has, lowest first.
[[nodiscard]] std::vector<Isa> available_isas();
[[noreturn]] void throw_not_built(Isa isa);

}  // namespace loom
