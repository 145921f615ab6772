// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/block_record.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "loom/testing/test_files.hpp"

namespace tomoloom {
namespace {

using loom::test::TempFolder;

TEST(BlockRecord, TellsTheNextRunWhatIsDone) {
  const TempFolder folder;
  const std::string path = folder.file("record");
  {
    BlockRecord record(path, "this volume");
    EXPECT_FALSE(record.continues());
    record.start();
    record.add(0, 32);
    record.add(64, 6);
  }
  const BlockRecord record(path, "this volume");
  EXPECT_TRUE(record.continues());
  EXPECT_TRUE(record.done(0, 32));
  EXPECT_FALSE(record.done(32, 32));
  EXPECT_TRUE(record.done(64, 6));
  EXPECT_EQ(record.slices_done(), 38U);
  EXPECT_FALSE(BlockRecord(path, "that volume").continues());
  record.remove();
  EXPECT_FALSE(BlockRecord(path, "this volume").continues());
}

TEST(BlockRecord, ALineThatWasNotFinishedIsNotThere) {
  const TempFolder folder;
  const std::string path = folder.file("record");
  std::ofstream(path) << "making\n0 32\n32 3";
  const BlockRecord record(path, "making");
  EXPECT_TRUE(record.continues());
  EXPECT_EQ(record.slices_done(), 32U);
  std::ofstream(path) << "making";
  EXPECT_FALSE(BlockRecord(path, "making").continues());
}

TEST(BlockRecord, WhatIsAddedAfterALineThatWasNotFinishedTakesItsPlace) {
  const TempFolder folder;
  const std::string path = folder.file("record");
  std::ofstream(path) << "making\n0 32\n1024 3";
  BlockRecord(path, "making").add(64, 6);
  BlockRecord(path, "making").add(32, 32);
  const BlockRecord record(path, "making");
  EXPECT_TRUE(record.done(0, 32));
  EXPECT_TRUE(record.done(64, 6));
  EXPECT_TRUE(record.done(32, 32));
  EXPECT_EQ(record.slices_done(), 70U);
}

TEST(BlockRecord, TwoThatWereJoinedAreNotReadAsOne) {
  const TempFolder folder;
  const std::string path = folder.file("record");
  std::ofstream(path) << "making\n0 32\n32 364 6\n";
  EXPECT_EQ(BlockRecord(path, "making").slices_done(), 32U);
}

}  // namespace
}  // namespace tomoloom
