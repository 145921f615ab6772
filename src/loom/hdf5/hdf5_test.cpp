// SPDX-License-Identifier: BSD-3-Clause
#include "loom/hdf5/hdf5.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "loom/base/error.hpp"
#include "loom/base/large_vector.hpp"
#include "loom/testing/test_files.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace loom::hdf5 {
namespace {

using loom::test::FileSizeLimit;
using loom::test::TempFolder;

void write_sample(const std::string& path, Overwrite overwrite = Overwrite::kYes) {
  Writer writer(path, overwrite);
  writer.create("scan/GALAXY/chi2", Type::kFloat32, {4, 3}, {1, 3});
  const std::vector<double> late{7, 8, 9, 10, 11, 12}, early{1, 2, 3, 4, 5, 6};
  writer.write("scan/GALAXY/chi2", 2, std::span<const double>(late));
  writer.write("scan/GALAXY/chi2", 0, std::span<const double>(early));
  writer.create("ids", Type::kInt64, {2});
  const std::vector<std::int64_t> ids{39627788403084375, -1};
  writer.write("ids", 0, std::span<const std::int64_t>(ids));
  const std::vector<Field> fields{{"z", Type::kFloat64}, {"type", Type::kText, 6}};
  std::vector<std::uint8_t> rows(28, 0);
  const double z = 0.5;
  std::memcpy(rows.data(), &z, 8);
  std::memcpy(rows.data() + 8, "GALAXY", 6);
  writer.table("fit/12/fit", fields, 2, rows);
  writer.commit();
}

Status thrown_by(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

class Hdf5 : public testing::Test {
 protected:
  void SetUp() override {
    if (!available()) GTEST_SKIP() << "built without HDF5";
  }
  const TempFolder folder;
};

TEST_F(Hdf5, NumbersComeBackWhereTheyWerePut) {
  const std::string path = folder.file("a.h5");
  write_sample(path);
  const Reader reader(path);
  EXPECT_EQ(reader.children("/"), (std::vector<std::string>{"fit", "ids", "scan"}));
  EXPECT_EQ(reader.shape("scan/GALAXY/chi2"), (std::vector<std::size_t>{4, 3}));
  EXPECT_EQ(reader.read("scan/GALAXY/chi2"),
            (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(reader.read_row("scan/GALAXY/chi2", 2), (std::vector<double>{7, 8, 9}));
  EXPECT_EQ(reader.read_integers("ids"), (std::vector<std::int64_t>{39627788403084375, -1}));
  EXPECT_TRUE(reader.has("fit/12/fit"));
  EXPECT_FALSE(reader.has("fit/13"));
}

TEST_F(Hdf5, BoxesTypesAndTextsComeBack) {
  const std::string path = folder.file("box.h5");
  {
    Writer writer(path, Overwrite::kYes);
    writer.create("exchange/data", Type::kUint16, {3, 2, 4}, {1, 2, 4});
    std::vector<std::uint16_t> counts(24);
    for (std::size_t i = 0; i < 24; ++i) counts[i] = static_cast<std::uint16_t>(65500 + i);
    writer.write("exchange/data", 0, std::span<const std::uint16_t>(counts));
    writer.describe("exchange/data", "units", "counts");
    writer.text("implements", "exchange:measurement");
    writer.text("nothing", "");
    writer.commit();
  }
  const Reader reader(path);
  EXPECT_EQ(reader.extent("exchange/data"), (std::vector<std::size_t>{3, 2, 4}));
  EXPECT_EQ(reader.type("exchange/data"), Type::kUint16);
  const std::vector<std::size_t> start{1, 1, 2}, count{2, 1, 2};
  std::vector<float> floats(4);
  reader.read_box("exchange/data", start, count, std::span<float>(floats));
  EXPECT_EQ(floats, (std::vector<float>{65514, 65515, 65522, 65523}));
  std::vector<std::uint16_t> counts(4);
  reader.read_box("exchange/data", start, count, std::span<std::uint16_t>(counts));
  EXPECT_EQ(counts, (std::vector<std::uint16_t>{65514, 65515, 65522, 65523}));
  EXPECT_EQ(reader.text("implements"), "exchange:measurement");
  EXPECT_EQ(reader.text("nothing"), "");
  EXPECT_EQ(reader.text("exchange/data"), std::nullopt);
  EXPECT_EQ(reader.description("exchange/data", "units"), "counts");
  EXPECT_EQ(reader.description("exchange/data", "axes"), std::nullopt);
  const std::vector<std::size_t> beyond{2, 1, 3};
  EXPECT_EQ(
      thrown_by([&] { reader.read_box("exchange/data", beyond, count, std::span<float>(floats)); }),
      Status::kWrongShape);
}

TEST_F(Hdf5, LargeChunksThatGoPastThePageCacheAreTheSameBytes) {
  constexpr std::size_t kRow = 512 * 512, kRows = 6;  // a megabyte each
  LargeVector<float> room(kRows * kRow + 1);
  const auto begin = [&](Writer& writer) {
    writer.create("data", Type::kFloat32, {kRows, 512, 512}, {1, 512, 512}, Room::kAtOnce);
  };
  const std::string floats = folder.file("floats.h5"), doubles = folder.file("doubles.h5");
  for (const std::size_t from : {0, 1}) {  // where a page begins; copied to where one does
    const std::span<float> all = std::span(room).subspan(from, kRows * kRow);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i);
    {
      Writer writer(floats, Overwrite::kYes);
      begin(writer);
      writer.write("data", 1, all.subspan(kRow));
      writer.write("data", 0, all.first(kRow));
      EXPECT_EQ(thrown_by([&] { writer.write("data", 5, all.first(2 * kRow)); }),
                Status::kInternal);
      writer.commit();
    }
    {  // converted by the library, which writes them itself
      Writer writer(doubles, Overwrite::kYes);
      begin(writer);
      const std::vector<double> same(all.begin(), all.end());
      writer.write("data", 0, std::span<const double>(same));
      writer.commit();
    }
    EXPECT_EQ(loom::test::read_bytes(floats), loom::test::read_bytes(doubles)) << from;
    const auto read = Reader(floats).read("data");
    EXPECT_TRUE(std::equal(read.begin(), read.end(), all.begin(), all.end())) << from;
  }
}

TEST_F(Hdf5, AFileThatStaysIsFilledByAnotherWriterAndIsTheSame) {
  const std::string path = folder.file("late.h5");
  const std::vector<float> one(6, 1), two(6, 2);
  const auto begin = [&](Writer& writer) {
    writer.create("data", Type::kFloat32, {2, 2, 3}, {1, 2, 3}, Room::kAtOnce);
    writer.describe("data", "units", "counts");
  };
  {
    Writer writer(path, Overwrite::kNo, Unfinished::kStays);
    EXPECT_FALSE(writer.continues());
    begin(writer);
    writer.write("data", 1, std::span<const float>(two));
    writer.sync();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    Writer writer(path, Overwrite::kNo, Unfinished::kStays);
    EXPECT_TRUE(writer.continues());
    writer.write("data", 0, std::span<const float>(one));
    writer.commit();
  }
  EXPECT_FALSE(std::filesystem::exists(part_name(path)));
  EXPECT_EQ(Reader(path).chunk("data"), (std::vector<std::size_t>{1, 2, 3}));
  {
    Writer writer(folder.file("at-once.h5"), Overwrite::kYes);
    begin(writer);
    writer.write("data", 0, std::span<const float>(one));
    writer.write("data", 1, std::span<const float>(two));
    writer.commit();
  }
  EXPECT_EQ(loom::test::read_bytes(path), loom::test::read_bytes(folder.file("at-once.h5")));
  EXPECT_EQ(thrown_by([&] { Writer(path, Overwrite::kNo, Unfinished::kStays); }),
            Status::kOutputExists);
}

TEST_F(Hdf5, MembersOfTablesComeBackOneByOne) {
  const std::string path = folder.file("a.h5");
  {
    Writer writer(path, Overwrite::kYes);
    const std::vector<Field> fields{
        {"z", Type::kFloat64}, {"coeff", Type::kFloat32, 2, true}, {"type", Type::kText, 6}};
    std::vector<std::uint8_t> rows(2 * 22, 0);
    const double z[] = {0.5, -1};
    const float coeff[] = {1, 2, 3, 4};
    for (std::size_t r = 0; r < 2; ++r) {
      std::memcpy(rows.data() + 22 * r, &z[r], 8);
      std::memcpy(rows.data() + 22 * r + 8, &coeff[2 * r], 8);
      std::memcpy(rows.data() + 22 * r + 16, r == 0 ? "GALAXY" : "QSO   ", 6);
    }
    writer.table("fit", fields, 2, rows);
    const std::vector<double> plain{1};
    writer.create("plain", Type::kFloat64, {1});
    writer.write("plain", 0, std::span<const double>(plain));
    writer.commit();
  }
  const Reader reader(path);
  EXPECT_EQ(reader.read_field("fit", "z"), (std::vector<double>{0.5, -1}));
  EXPECT_EQ(reader.read_field("fit", "coeff"), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(reader.read_text_field("fit", "type"), (std::vector<std::string>{"GALAXY", "QSO"}));
  EXPECT_TRUE(reader.read_field("fit", "nothing").empty());
  EXPECT_TRUE(reader.read_field("fit", "type").empty());
  EXPECT_TRUE(reader.read_text_field("fit", "z").empty());
  EXPECT_EQ(thrown_by([&] { (void)reader.read_field("plain", "z"); }), Status::kWrongShape);
  EXPECT_EQ(thrown_by([&] { (void)reader.read_field("none", "z"); }), Status::kMissingHdu);
}

TEST_F(Hdf5, NumbersAndTextsDescribeAndBytesComeBack) {
  const std::string path = folder.file("a.h5");
  {
    Writer writer(path, Overwrite::kYes);
    writer.group("attr");
    writer.describe("attr", "rate", 19.5);
    writer.describe("attr", "uid", std::int64_t{186888857});
    writer.describe("attr", "name", "variable", TextKind::kVariable);
    writer.texts("names", {"D0A", "D0B-150", ""});
    writer.create("flags", Type::kUint8, {2, 3});
    const std::vector<std::uint8_t> flags{1, 2, 255};
    writer.write("flags", 1, std::span<const std::uint8_t>(flags));
    writer.commit();
  }
  const Reader reader(path);
  EXPECT_EQ(reader.read_texts("names"), (std::vector<std::string>{"D0A", "D0B-150", ""}));
  EXPECT_TRUE(reader.read_texts("flags").empty());
  EXPECT_TRUE(reader.read_texts("nothing").empty());
  EXPECT_EQ(reader.number("attr", "rate"), 19.5);
  EXPECT_EQ(reader.number("attr", "uid"), 186888857);
  EXPECT_FALSE(reader.number("attr", "name"));
  EXPECT_FALSE(reader.number("attr", "nothing"));
  EXPECT_EQ(reader.description("attr", "name"), "variable");
  const std::size_t start[] = {1, 1}, count[] = {1, 2};
  std::vector<std::uint8_t> bytes(2);
  reader.read_box("flags", start, count, std::span<std::uint8_t>(bytes));
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{2, 255}));
  std::vector<double> numbers(2);
  reader.read_box("flags", start, count, std::span<double>(numbers));
  EXPECT_EQ(numbers, (std::vector<double>{2, 255}));
}

TEST_F(Hdf5, OneNumberIsReadHoweverItIsStored) {
  const std::string path = folder.file("a.h5");
  {
    Writer writer(path, Overwrite::kYes);
    const std::vector<double> one{2.5}, two{1, 2};
    writer.create("alone", Type::kFloat32, {});
    writer.write_box("alone", {}, {}, one);
    writer.create("list/of/one", Type::kFloat64, {1});
    writer.write("list/of/one", 0, std::span<const double>(one));
    writer.create("two", Type::kFloat64, {2});
    writer.write("two", 0, std::span<const double>(two));
    writer.text("text", "2.5");
    writer.commit();
  }
  const Reader reader(path);
  EXPECT_EQ(reader.number("alone"), 2.5);
  EXPECT_EQ(reader.number("list/of/one"), 2.5);
  for (const char* other : {"two", "text", "list", "none"}) {
    EXPECT_EQ(reader.number(other), std::nullopt) << other;
  }
}

TEST_F(Hdf5, AFileThatMayGoOnIsNotLockedAndOneThatIsBeingWrittenIsKnown) {
  const std::string path = folder.file("a.h5"), part = part_name(path);
  const auto may_be_written = [](const std::string& name) {
    const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    const bool free = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
    ::close(fd);
    return free;
  };
  EXPECT_FALSE(is_being_written(part));
  {
    Writer writer(path, Overwrite::kYes, Unfinished::kStays);
    EXPECT_TRUE(is_being_written(part));
    EXPECT_EQ(thrown_by([&] { const Reader reader(part, Writing::kMayGoOn); }), Status::kCorrupt);
  }
  EXPECT_FALSE(is_being_written(part));
  {
    const Reader reader(part);
    EXPECT_FALSE(may_be_written(part));
  }
  const Reader reader(part, Writing::kMayGoOn);
  EXPECT_TRUE(may_be_written(part));
}

TEST_F(Hdf5, TheSameBytesEveryTime) {
  const auto bytes = [&](const std::string& name) {
    write_sample(folder.file(name));
    std::ifstream file(folder.file(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(bytes("a.h5"), bytes("b.h5"));
}

TEST_F(Hdf5, AFileAppearsWhenItIsWholeAndReplacesNoneUnasked) {
  const std::string path = folder.file("a.h5");
  {
    Writer writer(path, Overwrite::kYes);
    writer.create("x", Type::kFloat64, {2});
  }
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
  write_sample(path);
  EXPECT_EQ(thrown_by([&] { write_sample(path, Overwrite::kNo); }), Status::kOutputExists);
  EXPECT_EQ(thrown_by([&] { write_sample(folder.file("no/such/a.h5")); }), Status::kUnwritable);
}

/// libhdf5 1.10 never gives back the chunks that it could not write: its leak, not one of ours.
class LeaksOfTheLibrary {
 public:
#ifdef __SANITIZE_ADDRESS__
  LeaksOfTheLibrary() { __lsan_disable(); }
  ~LeaksOfTheLibrary() { __lsan_enable(); }
#else
  LeaksOfTheLibrary() {}   // NOLINT: a lifetime of its own, so that nobody calls it unused
  ~LeaksOfTheLibrary() {}  // NOLINT
#endif
  LeaksOfTheLibrary(const LeaksOfTheLibrary&) = delete;
  LeaksOfTheLibrary& operator=(const LeaksOfTheLibrary&) = delete;
};

TEST_F(Hdf5, RowsThatAFullDiskDoesNotTakeAreAnErrorThoughThereIsRoomAgainAtTheEnd) {
  const std::string path = folder.file("a.h5");
  const std::vector<double> rows(10 * 2048, 1.0);
  const LeaksOfTheLibrary allowed;
  {
    Writer writer(path, Overwrite::kYes);
    writer.create("x", Type::kFloat64, {10, 2048}, {1, 2048});
    writer.sync();
    const auto write = [&] {
      const FileSizeLimit full(20000);
      writer.write("x", 0, std::span<const double>(rows));
    };
    EXPECT_EQ(thrown_by(write), Status::kDiskFull);
  }
  EXPECT_EQ(folder.count(), 0U);
}

TEST_F(Hdf5, FaultsHaveTheirStatus) {
  const std::string path = folder.file("a.h5");
  write_sample(path);
  const Reader reader(path);
  EXPECT_EQ(thrown_by([&] { (void)reader.read("nothing"); }), Status::kMissingHdu);
  EXPECT_EQ(thrown_by([&] { (void)reader.children("nothing"); }), Status::kMissingHdu);
  EXPECT_EQ(thrown_by([&] { (void)reader.read("fit/12/fit"); }), Status::kWrongShape);
  EXPECT_EQ(thrown_by([&] { (void)reader.read_row("ids", 2); }), Status::kWrongShape);
  EXPECT_EQ(thrown_by([&] { const Reader none(folder.file("none.h5")); }), Status::kNotFound);
  const std::string text = folder.file("text.h5");
  std::ofstream(text) << "no HDF5";
  EXPECT_EQ(thrown_by([&] { const Reader none(text); }), Status::kCorrupt);
}

TEST_F(Hdf5, ChunksThatNobodyWroteAreTheFillValue) {
  const std::string path = folder.file("sparse.h5");
  {
    Writer to(path, Overwrite::kNo);
    to.create_sparse("map", Type::kFloat32, {2, 1000000}, {2, 1000}, -7);
    const std::size_t start[] = {0, 5000}, count[] = {2, 2};
    const double values[] = {1, 2, 3, 4};
    to.write_box("map", start, count, values);
    const std::size_t beyond[] = {1, 0};
    EXPECT_EQ(loom::test::thrown_by([&] { to.write_box("map", beyond, count, values); }).status,
              Status::kInternal);
    to.commit();
  }
  EXPECT_LT(std::filesystem::file_size(path), 20000U);
  const Reader file(path);
  const std::size_t start[] = {0, 4999}, count[] = {2, 4};
  std::vector<double> found(8);
  file.read_box("map", start, count, std::span<double>(found));
  EXPECT_EQ(found, (std::vector<double>{-7, 1, 2, -7, -7, 3, 4, -7}));
}

}  // namespace
}  // namespace loom::hdf5
