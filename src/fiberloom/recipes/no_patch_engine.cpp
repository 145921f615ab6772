// SPDX-License-Identifier: BSD-3-Clause
// Stands in for the patch engine in builds without FIBERLOOM_ORACLE.
#include "fiberloom/extract/extract.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {

ExtractResult extract_patch(const CcdFrame& /*ccd*/, const PsfModel& /*psf*/,
                            const ExtractOptions& /*options*/, Executor& /*executor*/,
                            const Observer& /*observer*/, Tracer* /*tracer*/) {
  throw Error(Status::kUnsupported,
              "--method patch: not compiled into this program (FIBERLOOM_ORACLE is off)");
}

}  // namespace fiberloom
