// SPDX-License-Identifier: BSD-3-Clause
// Kernel tables of all ISA levels that this build has (FIBERLOOM_ISA_LEVELS), and the pick of one.
#pragma once

#include "loom/simd/built_isas.hpp"
#include "loom/simd/isa.hpp"

#define LOOM_ISA_DECLARE(level, value, type, table) \
  namespace isa_##level {                           \
    extern const type table;                        \
  }
#define LOOM_ISA_PICK(level, value, type, table) \
  if (isa == ::loom::Isa::value) return isa_##level::table;

/// In the namespace that holds isa_v3 and its like, where a file of loom_isa_sources() defines
/// `table`: defines `const type& function(Isa)`, which throws kInternal for a level that is not
/// built (active_isa() names none).
#define LOOM_ISA_TABLES(type, table, function) \
  LOOM_EACH_ISA(LOOM_ISA_DECLARE, type, table) \
  const type& function(::loom::Isa isa) {      \
    LOOM_EACH_ISA(LOOM_ISA_PICK, type, table)  \
    ::loom::throw_not_built(isa);              \
  }
