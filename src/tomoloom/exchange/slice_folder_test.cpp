// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/slice_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tomoloom/exchange/image_stack.hpp"
#include "tomoloom/exchange/test_images.hpp"

namespace tomoloom {
namespace {

namespace fs = std::filesystem;
using loom::test::TempFolder;
using loom::test::thrown_by;

class SliceFolders : public testing::Test {
 protected:
  const TempFolder folder;
  const std::string path = folder.file("slices");
  const std::vector<VolumeNote> notes{{"method", "exact"}, {"axis", "1.5"}};
  const VolumeShape shape{.slices = 3, .width = 2, .first_row = 40};
  const std::vector<float> early{1, 2, 3, 4, 5, 6, 7, 8}, late{9, 10, 11, 12};

  void make(const VolumeShape& of) {
    SliceFolder writer(path, Overwrite::kYes, of, notes);
    for (std::size_t i = 0; i < of.slices; ++i) writer.write(i, late);
    writer.commit();
  }
};

TEST_F(SliceFolders, EachSliceIsAnImageNamedByItsRow) {
  {
    SliceFolder writer(path + "/", Overwrite::kYes, shape, notes);
    writer.write(2, late);
    writer.write(0, early);
    EXPECT_FALSE(fs::exists(path));
    writer.commit();
  }
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_TRUE(fs::exists(path + "/slice_00040.tiff"));
  const ImageStack stack(path);
  ASSERT_EQ(stack.images().size(), 3U);
  std::vector<float> pixels(4);
  const tiff::Reader second(stack.images()[1].path);
  second.read(0, 0, 2, std::span<float>(pixels));
  EXPECT_EQ(pixels, (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(second.page(0).description, "method=exact\naxis=1.5\n");
}

TEST_F(SliceFolders, WhatIsNotCommittedLeavesNothing) {
  {
    SliceFolder writer(path, Overwrite::kYes, shape, notes);
    writer.write(0, early);
  }
  EXPECT_EQ(folder.count(), 0U);
}

TEST_F(SliceFolders, WhatAKilledRunLeavesGoesWithTheNextButForWhatSomebodyPutThere) {
  for (const bool added : {false, true}) {
    const pid_t child = ::fork();
    if (child == 0) {
      SliceFolder writer(path, Overwrite::kYes, shape, notes);
      writer.write(0, early);
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(folder.count(), added ? 2U : 1U);
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (added && entry.path() != path) std::ofstream(entry.path() / "notes.txt") << "mine";
    }
    make(shape);
    EXPECT_EQ(folder.count(), added ? 2U : 1U);
  }
}

TEST_F(SliceFolders, AFolderOfSlicesIsReplacedAsAWholeAndNothingElseIs) {
  make({.slices = 5, .width = 2, .first_row = 0});
  make(shape);
  EXPECT_EQ(ImageStack(path).images().size(), 3U);
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_EQ(thrown_by([&] { SliceFolder(path, Overwrite::kNo, shape, notes); }).status,
            Status::kOutputExists);
  std::ofstream(path + "/notes.txt") << "mine";
  const auto thrown = thrown_by([&] { make(shape); });
  EXPECT_EQ(thrown.status, Status::kOutputExists);
  EXPECT_TRUE(thrown.says("holds notes.txt")) << thrown.message;
  EXPECT_TRUE(fs::exists(path + "/notes.txt"));
  EXPECT_EQ(ImageStack(path).images().size(), 3U);
}

TEST_F(SliceFolders, AnInterruptedRunIsGoneOnWith) {
  const std::string part = path + ".part";
  {
    SliceFolder writer(path, Overwrite::kYes, shape, notes, "this");
    writer.write(0, early);
    const auto second =
        thrown_by([&] { SliceFolder(path, Overwrite::kYes, shape, notes, "this"); });
    EXPECT_TRUE(second.says("another run")) << second.message;
  }
  EXPECT_TRUE(fs::exists(part));
  {
    SliceFolder writer(path, Overwrite::kYes, shape, notes, "this");
    EXPECT_EQ(writer.slices_done(), 2U);
    EXPECT_TRUE(writer.done(0, 2));
    EXPECT_FALSE(writer.done(2, 1));
    writer.write(2, late);
    writer.commit();
  }
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_EQ(ImageStack(path).images().size(), 3U);
}

TEST_F(SliceFolders, WhatAnotherCommandHasLeftIsBegunAnew) {
  {
    SliceFolder writer(path, Overwrite::kYes, shape, notes, "this");
    writer.write(0, early);
  }
  {
    SliceFolder writer(path, Overwrite::kYes, shape, notes, "that");
    EXPECT_EQ(writer.slices_done(), 0U);
    EXPECT_EQ(std::distance(fs::directory_iterator(path + ".part"), fs::directory_iterator()), 0);
    writer.discard();
  }
  EXPECT_EQ(folder.count(), 0U);
}

}  // namespace
}  // namespace tomoloom
