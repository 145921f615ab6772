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

std::string progress_text(const RunStatus& s, const char* things) {
  std::size_t settled = 0, failed = 0;
  for (const StatusTask& task : s.tasks) {
    settled += is_settled(task.state);
    failed += task.state == TaskState::kFailed;
  }
  std::string text =
      print("%zu/%zu %s, %.3g a minute", settled, s.tasks.size(), things, s.tasks_per_minute);
  if (failed > 0) text += print(", %zu failed", failed);
  if (s.left_s >= 0) text += print(", %.0f s left", s.left_s);
  return text;
}

std::string counts_text(const RunCounts& n, const char* things) {
  std::string text = print("%zu %s: %zu done", n.tasks, things, n.done);
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += print(", %zu %s", count, what);
  };
  add(n.up_to_date, "up to date");
  add(n.failed, "failed");
  add(n.missing, "missing");
  add(n.blocked, "blocked");
  add(n.elsewhere, "in other runs");
  add(n.left, "left");
  return text;
}

std::string effort_text(const BatchReport& report) {
  return print("%.1f s, %.1f CPU-s, peak %.0f MB", report.wall_s, report.cpu_s,
               static_cast<double>(report.peak_memory_bytes) / 1e6);
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
