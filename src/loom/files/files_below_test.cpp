// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/files_below.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "loom/testing/scratch_folder.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;

class FilesBelowTest : public ScratchFolder {
 protected:
  void link(const std::string& name, const std::string& to) const {
    fs::create_symlink(to, path(name));
  }
  [[nodiscard]] std::vector<std::string> names_of(const FilesBelow& found) const {
    std::vector<std::string> out;
    for (const std::string& file : found.files) out.push_back(file.substr(path("top/").size()));
    return out;
  }
};

TEST_F(FilesBelowTest, LinksAreFollowedAndNothingIsFoundTwice) {
  put("top/b/c/one");
  put("top/two");
  put("other/three");
  link("top/a-circle", ".");
  link("top/a-link", "b/c");  // before b, in the order of names
  link("top/b/up", "../../circles");
  link("circles", "top");
  link("top/elsewhere", path("other"));
  link("top/dangling", "nowhere");
  link("top/two-again", "two");
  const FilesBelow found = files_below(path("top"));
  EXPECT_EQ(names_of(found), (std::vector<std::string>{"b/c/one", "dangling", "elsewhere/three",
                                                       "two", "two-again"}));
  EXPECT_TRUE(found.unreadable.empty());
}

TEST_F(FilesBelowTest, ALinkToAFileThatIsGoneIsOneToBeMissed) {
  put("top/one");
  link("top/to-one", "one");
  link("top/lost", "nowhere");
  link("top/to-folder", ".");
  EXPECT_TRUE(is_file_or_lost(path("top/one")));
  EXPECT_TRUE(is_file_or_lost(path("top/to-one")));
  EXPECT_TRUE(is_file_or_lost(path("top/lost")));
  EXPECT_FALSE(is_file_or_lost(path("top/nowhere")));
  EXPECT_FALSE(is_file_or_lost(path("top/to-folder")));
  EXPECT_FALSE(is_file_or_lost(path("top")));
}

TEST_F(FilesBelowTest, DepthAndNamesOfFoldersBound) {
  put("top/one");
  put("top/a/two");
  put("top/a/b/three");
  put("top/.hidden/four");
  const auto plain = [](const std::string& name) { return !name.starts_with("."); };
  EXPECT_EQ(names_of(files_below(path("top"), 2, plain)),
            (std::vector<std::string>{"a/two", "one"}));
  EXPECT_EQ(names_of(files_below(path("top"), 1)), (std::vector<std::string>{"one"}));
}

TEST_F(FilesBelowTest, AFolderThatIsNotThereSaysSo) {
  const FilesBelow found = files_below(path("none"));
  ASSERT_EQ(found.unreadable.size(), 1U);
  EXPECT_EQ(found.unreadable.front(), path("none") + ": No such file or directory");
}

}  // namespace
}  // namespace loom
