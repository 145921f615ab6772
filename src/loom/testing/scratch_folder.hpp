// SPDX-License-Identifier: BSD-3-Clause
// For tests: a folder of its own for each test, removed at its end.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace loom {

class ScratchFolder : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = testing::TempDir() + "fiberloom_" + test->test_suite_name() + "_" + test->name();
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }
  std::string put(const std::string& name, const std::string& text = "x") const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  [[nodiscard]] bool there(const std::string& name) const {
    return std::filesystem::exists(path(name));
  }

  std::string root_;
};

}  // namespace loom
