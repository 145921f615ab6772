// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "loom/base/error.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "loom/hdf5/hdf5_library.hpp"
#include "loom/testing/test_files.hpp"

namespace loom::hdf5 {
namespace {

using loom::test::TempFolder;
using loom::test::thrown_by;

class LinkedParts : public testing::Test {
 protected:
  /// A file with the data set x: 0, 1, 2.
  void write_source(const char* name) const {
    Writer writer(folder.file(name), Overwrite::kYes);
    writer.create("x", Type::kFloat64, {3});
    const std::vector<double> values{0, 1, 2};
    writer.write("x", 0, std::span<const double>(values));
    writer.commit();
  }
  /// A file with a virtual data set of both sources, and links.
  [[nodiscard]] std::string write_master(const std::vector<std::string>& sources = {"a.h5", "b.h5"},
                                         const char* name = "master.h5",
                                         const char* set_of_sources = "x") const {
    const Lock lock;
    const std::string path = folder.file(name);
    const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t part = 3, all = part * sources.size();
    const Handle whole(H5Screate_simple(1, &all, nullptr), H5Sclose);
    const Handle source(H5Screate_simple(1, &part, nullptr), H5Sclose);
    const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const double fill = 65535;
    H5Pset_fill_value(how.get(), H5T_NATIVE_DOUBLE, &fill);
    for (hsize_t i = 0; i < sources.size(); ++i) {
      const hsize_t from = part * i;
      H5Sselect_hyperslab(whole.get(), H5S_SELECT_SET, &from, nullptr, &part, nullptr);
      H5Pset_virtual(how.get(), whole.get(), sources[i].c_str(), set_of_sources, source.get());
    }
    const Handle space(H5Screate_simple(1, &all, nullptr), H5Sclose);
    const Handle set(H5Dcreate2(file.get(), "both", H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT,
                                how.get(), H5P_DEFAULT),
                     H5Dclose);
    H5Lcreate_external("b.h5", "x", file.get(), "far", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("b.h5", "/", file.get(), "raw", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/entry/x", file.get(), "near", H5P_DEFAULT, H5P_DEFAULT);
    return path;
  }
  const TempFolder folder;
};

TEST_F(LinkedParts, ThatAreThereAreRead) {
  write_source("a.h5");
  write_source("b.h5");
  const Reader reader(write_master());
  EXPECT_EQ(reader.read("both"), (std::vector<double>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(reader.read("raw/x"), reader.read("far"));
}

TEST_F(LinkedParts, ThatAreNotThereAreNoFillValues) {
  write_source("a.h5");
  const Reader reader(write_master());
  const auto refused = thrown_by([&] { (void)reader.read("both"); });
  EXPECT_EQ(refused.status, Status::kNotFound);
  EXPECT_TRUE(refused.says("both: a part of it lies in b.h5: No such file")) << refused.message;
  std::filesystem::copy_file(folder.file("master.h5"), folder.file("b.h5"));  // without x
  EXPECT_EQ(thrown_by([&] { (void)reader.extent("both"); }).status, Status::kMissingHdu);
}

TEST_F(LinkedParts, OfPartsAreLookedForTooAndAreAmongItsFiles) {
  write_source("a.h5");
  write_source("b.h5");
  const std::string inner = write_master({"a.h5"});
  const std::string outer = write_master({"master.h5", "master.h5"}, "outer.h5", "both");
  {
    const Reader reader(outer);
    EXPECT_EQ(reader.files("both"), (std::set{folder.file("a.h5"), inner, outer}));
    EXPECT_EQ(reader.read("both"), (std::vector<double>{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(Reader(inner).files("far"), std::set{folder.file("b.h5")});
  }
  std::filesystem::remove(folder.file("a.h5"));
  const auto refused = thrown_by([&] { (void)Reader(outer).read("both"); });
  EXPECT_EQ(refused.status, Status::kNotFound);
  EXPECT_TRUE(refused.says("both: a part of it lies in a.h5: No such file")) << refused.message;
}

TEST_F(LinkedParts, LieBesideTheFileThatNamesThemWhereverALinkLedFrom) {
  std::filesystem::create_directory(folder.file("raw"));
  write_source("raw/a.h5");
  write_source("raw/b.h5");
  const std::string inner = write_master({"a.h5", "b.h5"}, "raw/master.h5");
  const std::string path = folder.file("top.h5");
  {
    const Lock lock;
    const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    H5Lcreate_external("raw/master.h5", "both", file.get(), "data", H5P_DEFAULT, H5P_DEFAULT);
  }
  const Reader reader(path);
  EXPECT_EQ(reader.read("data"), (std::vector<double>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(reader.files("data"),
            (std::set{folder.file("raw/a.h5"), folder.file("raw/b.h5"), inner}));
}

TEST_F(LinkedParts, ThatAreMoreThanMayBeOpenAreNoFillValues) {
  std::vector<std::string> sources;
  for (int i = 0; i < 20; ++i) sources.push_back(std::to_string(i) + ".h5");
  for (const std::string& name : sources) write_source(name.c_str());
  const Reader reader(write_master(sources));
  ::rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);  // the lowest that is free
  ::close(next);
  const std::pair<int, const char*> limits[] = {{10, "Too many open files"}, {25, "ulimit -n"}};
  for (const auto& [more, told] : limits) {
    ::rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(next + more);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto refused = thrown_by([&] { (void)reader.read("both"); });
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(refused.status, Status::kNotFound);
    EXPECT_TRUE(refused.says(told)) << refused.message;
  }
  EXPECT_EQ(reader.read("both").size(), 60U);
}

TEST_F(LinkedParts, ALinkThatLeadsNowhereIsNotWhatIsNotThere) {
  const Reader reader(write_master());
  EXPECT_FALSE(reader.has("none"));
  EXPECT_FALSE(reader.has("none/x"));
  for (const char* name : {"far", "near", "raw/x", "raw/group/x"}) {
    const auto refused = thrown_by([&] { (void)reader.has(name); });
    EXPECT_EQ(refused.status, Status::kNotFound) << name;
    EXPECT_TRUE(refused.says(" is a link to ")) << refused.message;
    EXPECT_EQ(thrown_by([&] { (void)reader.extent(name); }).message, refused.message);
  }
  EXPECT_TRUE(thrown_by([&] { (void)reader.has("far"); }).says("x of b.h5"));
  EXPECT_TRUE(thrown_by([&] { (void)reader.has("near"); }).says("/entry/x"));
}

TEST_F(LinkedParts, NumbersInAFileThatIsNotThereAreNamed) {
  const std::string path = folder.file("outside.h5");
  {
    const Lock lock;
    const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t all = 6;
    const Handle space(H5Screate_simple(1, &all, nullptr), H5Sclose);
    const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(how.get(), folder.file("frames.raw").c_str(), 0, 48);
    const Handle set(H5Dcreate2(file.get(), "x", H5T_NATIVE_DOUBLE, space.get(), H5P_DEFAULT,
                                how.get(), H5P_DEFAULT),
                     H5Dclose);
  }
  const auto refused = thrown_by([&] { (void)Reader(path).read("x"); });
  EXPECT_EQ(refused.status, Status::kNotFound);
  EXPECT_TRUE(refused.says("its numbers lie in ")) << refused.message;
  EXPECT_TRUE(refused.says("frames.raw")) << refused.message;
}

TEST_F(LinkedParts, MayBeToComeWhileAFileIsWritten) {
  const Reader reader(write_master(), Writing::kMayGoOn);
  EXPECT_FALSE(reader.has("far"));
  EXPECT_EQ(reader.read("both").back(), 65535);
}

}  // namespace
}  // namespace loom::hdf5
