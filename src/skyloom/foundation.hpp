// SPDX-License-Identifier: BSD-3-Clause
// The foundation's names, seen from skyloom without a prefix: loom knows no instrument, skyloom
// stands on it.
#pragma once

namespace loom {
namespace lane {}
namespace test {}
}  // namespace loom

namespace skyloom {
using namespace loom;  // NOLINT(google-build-using-namespace): one house
namespace lane {
using namespace loom::lane;  // NOLINT(google-build-using-namespace)
}
namespace test {
using namespace loom::test;  // NOLINT(google-build-using-namespace)
}
}  // namespace skyloom

#ifdef FIBERLOOM_ISA_NS
namespace loom::FIBERLOOM_ISA_NS {}
namespace skyloom::FIBERLOOM_ISA_NS {
using namespace loom::FIBERLOOM_ISA_NS;  // NOLINT(google-build-using-namespace)
}
#endif
