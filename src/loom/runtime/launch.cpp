// SPDX-License-Identifier: BSD-3-Clause
// The launchers' variables, as Open MPI 4, MPICH 4 and Slurm 22 set them.
#include "loom/runtime/launch.hpp"

#include <charconv>

#include "loom/base/error.hpp"

namespace loom {
namespace {

constexpr const char* kOpenMpiName = "openmpi";
constexpr const char* kMpichName = "mpich";

std::optional<int> number(const Environment& environment, const char* name) {
  const auto text = environment(name);
  if (!text) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  const bool whole = end == text->data() + text->size();  // 1e9 is no number of a launcher's
  if (error != std::errc() || !whole || value < 0) return std::nullopt;
  return value;
}

bool in_slurm_step(const Environment& environment) {
  const auto step = environment("SLURM_STEP_ID");
  // The batch script itself is a step too, of one task, numbered from the top of the range.
  return step && number(environment, "SLURM_STEP_NUM_TASKS").has_value();
}

}  // namespace

Launch find_launch(const Environment& environment) {
  Launch launch;
  const int step_size = number(environment, "SLURM_STEP_NUM_TASKS").value_or(1);
  if (const auto size = number(environment, "OMPI_COMM_WORLD_SIZE")) {
    launch.size = *size;
    launch.rank = number(environment, "OMPI_COMM_WORLD_RANK").value_or(0);
    launch.vendors = {kOpenMpiName};
    launch.launcher = "mpirun of Open MPI";
  } else if (environment("PMIX_RANK")) {  // srun --mpi=pmix, prterun
    launch.size = in_slurm_step(environment) ? step_size : 0;
    launch.rank = number(environment, "PMIX_RANK").value_or(0);
    launch.vendors = {kOpenMpiName, kMpichName};
    launch.launcher = in_slurm_step(environment) ? "srun --mpi=pmix" : "a PMIx launcher";
  } else if (environment("PMI_RANK") || environment("PMI_FD")) {  // hydra, srun --mpi=pmi2, Cray
    launch.size =
        number(environment, "PMI_SIZE").value_or(in_slurm_step(environment) ? step_size : 0);
    launch.rank = number(environment, "PMI_RANK").value_or(0);
    launch.vendors = {kMpichName, kOpenMpiName};
    launch.launcher = in_slurm_step(environment) ? "srun --mpi=pmi2" : "mpirun of MPICH";
  } else if (in_slurm_step(environment) && step_size > 1) {
    launch.size = step_size;
    launch.rank = number(environment, "SLURM_PROCID").value_or(0);
    launch.launcher = "srun";
    launch.stray_tasks = true;
  }
  return launch;
}

bool is_one_of_several(const Launch& launch) noexcept { return launch.size > 1 || launch.rank > 0; }

std::optional<Launch> decide_launch(const Environment& environment, MpiChoice choice) {
  if (choice == MpiChoice::kOff) return std::nullopt;
  Launch launch = find_launch(environment);
  if (launch.stray_tasks && (choice == MpiChoice::kAuto || choice == MpiChoice::kOn)) {
    throw Error(Status::kUsage,
                "srun started " + std::to_string(launch.size) +
                    " tasks without an MPI plugin: give srun --mpi=pmi2 (MPICH) or --mpi=pmix "
                    "(Open MPI), or --mpi off here to let each task work on its own");
  }
  if (choice == MpiChoice::kOpenMpi) launch.vendors = {kOpenMpiName};
  if (choice == MpiChoice::kMpich) launch.vendors = {kMpichName};
  if (choice == MpiChoice::kOn && launch.vendors.empty()) {
    launch.vendors = {kOpenMpiName, kMpichName};
  }
  if (launch.launcher.empty()) launch.launcher = "no launcher";
  if (launch.vendors.empty()) return std::nullopt;
  return launch;
}

}  // namespace loom
