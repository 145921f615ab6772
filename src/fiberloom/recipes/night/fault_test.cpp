// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/fault.hpp"

#include <cerrno>
#include <new>
#include <system_error>

#include "loom/files/byte_source.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace fiberloom::night {
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
        Status::kUnsupported, Status::kNotCovered, Status::kSizeMismatch, Status::kFiberRange,
        Status::kNumerical, Status::kUsage, Status::kInternal}) {
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

class EndsNight : public ScratchFolder {};

TEST_F(EndsNight, OnlyWhenEveryOtherFrameWouldFailToo) {
  const RunFolder folder(path("out"));
  const Error unwritable(Status::kUnwritable, "frame.fits: is a folder", EISDIR);
  EXPECT_TRUE(ends_night(unwritable, Engine(), folder));  // not even the run's own folder is there
  folder.create();
  EXPECT_FALSE(ends_night(unwritable, Engine(), folder));
  EXPECT_TRUE(ends_night(Error(Status::kDiskFull, "full", ENOSPC), Engine(), folder));
  EXPECT_FALSE(ends_night(Error(Status::kNotFound, "x", EACCES), Engine(), folder));
  EXPECT_FALSE(ends_night(Error(Status::kDevice, "no card was asked for"), Engine(), folder));
}

}  // namespace
}  // namespace fiberloom::night
