// SPDX-License-Identifier: BSD-3-Clause
// Picks the products of a level.
#include "fiberloom/extract/exact/band_products.hpp"

#include "loom/simd/isa_tables.hpp"

namespace fiberloom {

LOOM_ISA_TABLES(exact::BandProducts, kBandProducts, exact::band_products)

}  // namespace fiberloom
