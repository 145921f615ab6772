// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/run_text.hpp"

#include "loom/base/print.hpp"

namespace loom::batch {

PlanText plan_text(const BatchPlan& plan) {
  PlanText out;
  for (std::size_t k = 0; k < plan.tasks.size(); ++k) {
    const Finding& finding = plan.findings[k];
    if (finding.state == TaskState::kMissing) out.status = Status::kSomeFailed;
    out.text += print("%-12s %s", state_name(finding.state).c_str(), plan.tasks[k].name.c_str());
    out.text += (finding.message.empty() ? "" : "  " + finding.message) + "\n";
  }
  return out;
}

int end_run(const BatchReport& report, const char* things) {
  const Status status = exit_status(report);
  if (report.end.fatal) throw *report.end.fatal;
  if (status == Status::kInterrupted) {
    throw Error(status, print("stopped with %zu %s left; the same command does the rest",
                              report.counts.left, things));
  }
  return static_cast<int>(status);
}

}  // namespace loom::batch
