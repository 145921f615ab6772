// SPDX-License-Identifier: BSD-3-Clause
// The JSON text; names are a contract with scripts.
#include "fiberloom/cli/redshift_json.hpp"

#include "fiberloom/cli/device_json.hpp"
#include "fiberloom/cli/stage_json.hpp"
#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/json/json.hpp"
#include "loom/runtime/usage.hpp"

namespace fiberloom::cli {

std::string redshift_json(const RedshiftSummary& s, const RedshiftJob& job, const RunFacts& facts,
                          const redshift::DeviceScan* device, const Tracer& tracer) {
  Json json;
  json["program"] = "fiberloom redshift";
  json["versions"] = {{"fiberloom", version()}, {"compiler", __VERSION__}};
  json["method"] = redshift_method_name(job.options.method);
  json["threads"] = facts.threads;
  json["executor"] = facts.executor;
  json["isa"] = facts.isa;
  json["device"] = device_json(device);
  json["taken_over_by_cpu"] = taken_over_json(device);
  json["input"] = {{"templates", Json::array()}, {"spectra", Json::array()}};
  for (const std::string& path : job.inputs) json["input"]["spectra"].push_back(path);
  for (const std::string& path : job.templates) json["input"]["templates"].push_back(path);
  json["output"] = {{"redshifts", job.output}, {"details", job.details}, {"model", job.model}};
  json["options"] = facts.options;
  json["targets"] = {{"all", s.targets},
                     {"zwarn_0", s.sure},
                     {"small_delta_chi2", s.ambiguous},
                     {"no_data", s.without_data}};
  if (has_evidence(job.options)) {
    json["targets"]["probability_above_0.95"] = s.probable;
    for (const auto& [name, count] : s.cuts) json["cuts"][name] = count;
  }
  json["types"] = Json::object();
  for (const auto& [type, count] : s.types) json["types"][type] = count;
  json["cameras"] = Json::array();
  for (const std::string& grid : s.grids) json["cameras"].push_back(grid);
  json["seconds"] = {{"read", stage_json(s.read)},
                     {"compute", stage_json(s.compute)},
                     {"write", stage_json(s.write)},
                     {"all", {{"wall_s", facts.wall_s}, {"cpu_s", cpu_seconds()}}}};
  json["peak_memory_bytes"] = peak_memory_bytes();
  json["timers"] = Json::object();
  for (const auto& [name, sum] : tracer.sums()) {
    json["timers"][name] = {{"seconds", sum.seconds}, {"count", sum.count}};
  }
  return json.dump(2) + "\n";
}

}  // namespace fiberloom::cli
