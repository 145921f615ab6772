// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/fault.hpp"

#include <cerrno>
#include <new>
#include <system_error>

#include "loom/batch/test_text_kind.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace loom::batch {
namespace {

Error error_of(const std::exception_ptr& thrown) { return to_error(thrown, "r0-00000001"); }

TEST(Fault, WhatTheSystemRefusesIsTheMachines) {
  const auto memory = error_of(std::make_exception_ptr(std::bad_alloc()));
  EXPECT_EQ(memory.system_error(), ENOMEM);
  EXPECT_EQ(fault_of(memory), Fault::kMachine);
  const auto thread = error_of(std::make_exception_ptr(
      std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))));
  EXPECT_EQ(fault_of(thread), Fault::kMachine);
  for (const int refused : {EACCES, EIO, ENOSPC, ESTALE}) {
    EXPECT_EQ(fault_of(Error(Status::kNotFound, "x", refused)), Fault::kMachine);
  }
  for (const Status status : {Status::kDevice, Status::kDiskFull, Status::kUnwritable,
                              Status::kNotFound, Status::kChanged}) {
    EXPECT_EQ(fault_of(status, 0), Fault::kMachine);
  }
}

TEST(Fault, WhatTheFilesHoldIsTheInputs) {
  for (const Status status :
       {Status::kCorrupt, Status::kMissingHdu, Status::kMissingKeyword, Status::kWrongShape,
        Status::kUnsupported, Status::kNumerical, Status::kUsage, Status::kInternal, Status{21}}) {
    EXPECT_EQ(fault_of(status, 0), Fault::kInput) << static_cast<int>(status);
  }
}

TEST(Fault, AReaderKeepsWhatTheSystemSaid) {
  try {
    static_cast<void>(resolve_path("/no/such/file"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.system_error(), ENOENT);
  }
}

class EndsRun : public ScratchFolder {};

TEST_F(EndsRun, OnlyWhenEveryOtherTaskWouldFailToo) {
  const RunFolder folder(path("out"), {"loom", "1"});
  const test::TextKind kind;
  const Error unwritable(Status::kUnwritable, "frame.fits: is a folder", EISDIR);
  EXPECT_TRUE(ends_run(unwritable, kind, folder));  // not even the run's own folder is there
  folder.create();
  EXPECT_FALSE(ends_run(unwritable, kind, folder));
  EXPECT_TRUE(ends_run(Error(Status::kDiskFull, "full", ENOSPC), kind, folder));
  EXPECT_FALSE(ends_run(Error(Status::kNotFound, "x", EACCES), kind, folder));
  EXPECT_FALSE(ends_run(Error(Status::kDevice, "no card was asked for"), kind, folder));
}

}  // namespace
}  // namespace loom::batch
