// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/launch.hpp"

#include <gtest/gtest.h>

#include <map>

#include "loom/base/error.hpp"
#include "loom/runtime/ranks_module.hpp"

namespace loom {
namespace {

using Names = std::vector<std::string>;

Environment environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto it = values.find(name);
    if (it == values.end()) return std::nullopt;
    return it->second;
  };
}

const std::map<std::string, std::string> kBatchScript{
    {"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_TASKS_PER_NODE", "4"}};

std::map<std::string, std::string> step(std::map<std::string, std::string> more,
                                        const char* tasks) {
  more.insert(kBatchScript.begin(), kBatchScript.end());
  more.emplace("SLURM_STEP_ID", "0");
  more.emplace("SLURM_STEP_NUM_TASKS", tasks);
  return more;
}

TEST(Launch, IsNotSeenOnALaptopOrInABatchScript) {
  EXPECT_FALSE(decide_launch(environment({}), MpiChoice::kAuto));
  EXPECT_FALSE(decide_launch(environment(kBatchScript), MpiChoice::kAuto));
}

TEST(Launch, OfEachVendorIsKnownByItsVariables) {
  const auto open = find_launch(environment({{"OMPI_COMM_WORLD_SIZE", "3"}, {"PMIX_RANK", "1"}}));
  EXPECT_EQ(open.size, 3);
  EXPECT_EQ(open.rank, 0);
  EXPECT_EQ(open.vendors, Names{"openmpi"});

  const auto mpich = find_launch(environment({{"PMI_RANK", "1"}, {"PMI_SIZE", "5"}}));
  EXPECT_EQ(mpich.size, 5);
  EXPECT_EQ(mpich.vendors.front(), "mpich");
}

TEST(Launch, KnowsWhichOfSeveralThisIs) {
  const auto rank = [](std::map<std::string, std::string> values) {
    const Launch launch = find_launch(environment(std::move(values)));
    return is_one_of_several(launch) ? launch.rank : -1;
  };
  EXPECT_EQ(rank({}), -1);
  EXPECT_EQ(rank(kBatchScript), -1);
  EXPECT_EQ(rank({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}), -1);
  EXPECT_EQ(rank({{"OMPI_COMM_WORLD_SIZE", "3"}, {"OMPI_COMM_WORLD_RANK", "2"}}), 2);
  EXPECT_EQ(rank({{"PMI_RANK", "1"}, {"PMI_SIZE", "5"}}), 1);
  EXPECT_EQ(rank({{"PMIX_RANK", "4"}}), 4);  // of how many it does not say
  EXPECT_EQ(rank({{"PMIX_RANK", "8E"}}), -1);
  EXPECT_EQ(rank({{"PMI_RANK", "1,2"}}), -1);
  EXPECT_EQ(rank(step({{"SLURM_PROCID", "3"}}, "4")), 3);
  EXPECT_EQ(rank(step({{"SLURM_PROCID", "0"}}, "1")), -1);
}

TEST(Launch, UnderSrunFollowsThePluginAndTheSizeOfTheStep) {
  const auto pmix = find_launch(environment(step({{"PMIX_RANK", "0"}}, "4")));
  EXPECT_EQ(pmix.size, 4);
  EXPECT_EQ(pmix.vendors.front(), "openmpi");

  const auto pmi2 = find_launch(environment(step({{"PMI_RANK", "0"}, {"PMI_FD", "9"}}, "4")));
  EXPECT_EQ(pmi2.size, 4);
  EXPECT_EQ(pmi2.vendors.front(), "mpich");
}

TEST(Launch, OfSeveralTasksWithoutMpiIsAnErrorUnlessMpiIsOff) {
  const auto stray = environment(step({}, "4"));
  EXPECT_THROW(static_cast<void>(decide_launch(stray, MpiChoice::kAuto)), Error);
  EXPECT_THROW(static_cast<void>(decide_launch(stray, MpiChoice::kOn)), Error);
  EXPECT_FALSE(decide_launch(stray, MpiChoice::kOff));
  EXPECT_FALSE(decide_launch(environment(step({}, "1")), MpiChoice::kAuto));
}

TEST(Launch, TheUserHasTheLastWord) {
  const auto open = environment({{"OMPI_COMM_WORLD_SIZE", "3"}});
  EXPECT_FALSE(decide_launch(open, MpiChoice::kOff));
  EXPECT_EQ(decide_launch(open, MpiChoice::kMpich)->vendors, Names{"mpich"});
  EXPECT_EQ(decide_launch(environment({}), MpiChoice::kOn)->vendors, (Names{"openmpi", "mpich"}));
}

TEST(Launch, ModulesAreLookedForBesideTheProgramThenInItsLibraryFolder) {
  EXPECT_EQ(module_candidates("mpich", "/opt/bin", environment({})),
            (Names{"/opt/bin/fiberloom_mpi_mpich.so",
                   "/opt/bin/../lib/fiberloom/fiberloom_mpi_mpich.so"}));
  EXPECT_EQ(
      module_candidates("mpich", "/opt/bin", environment({{"FIBERLOOM_MPI_MODULE", "/x.so"}})),
      Names{"/x.so"});
}

TEST(Launch, WithoutAModuleTheErrorSaysWhatWasLookedFor) {
  const auto nowhere = environment({{"FIBERLOOM_MPI_MODULE", "/no/such/module.so"}});
  Launch launch;
  launch.vendors = {"mpich"};
  try {
    static_cast<void>(open_ranks(launch, nowhere));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("/no/such/module.so"), std::string::npos);
  }
}

}  // namespace
}  // namespace loom
