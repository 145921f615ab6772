// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/parallel_gunzip.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "loom/files/byte_source.hpp"
#include "loom/files/gzip.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"

namespace loom {
namespace {

using Content = std::vector<std::uint8_t>;

/// A tenth of noise, float32 numbers, runs of zeros, words: what blocks of every kind come from.
Content sample(std::size_t n, unsigned seed) {
  std::mt19937 dice(seed);
  Content out;
  out.reserve(n + 70000);
  while (out.size() < n) {
    const std::size_t part = 1 + dice() % 60000;
    const auto kind = dice() % 10;
    if (kind == 0) {
      for (std::size_t i = 0; i < part; ++i) out.push_back(static_cast<std::uint8_t>(dice()));
    } else if (kind < 5) {
      for (std::size_t i = 0; i < part / 4; ++i) {
        const float value = std::sqrt(static_cast<float>(dice() % 1000));
        std::uint8_t bytes[4];
        std::memcpy(bytes, &value, 4);
        out.insert(out.end(), bytes, bytes + 4);
      }
    } else if (kind < 8) {
      out.insert(out.end(), part, 0);
    } else {
      static const std::string kWords[] = {"fibre ", "wave", "bundle, ", "sky ", "\n"};
      for (std::size_t i = 0; i < part / 6; ++i) {
        const std::string& word = kWords[dice() % 5];
        out.insert(out.end(), word.begin(), word.end());
      }
    }
  }
  out.resize(n);
  return out;
}

constexpr std::size_t kSmallPart = 3000;

Content joined(const std::vector<Piece>& pieces) {
  Content out;
  for (const Piece& p : pieces) out.insert(out.end(), p.view().begin(), p.view().end());
  return out;
}

std::optional<Content> unpacked(const Content& packed, std::size_t part = kSmallPart,
                                std::size_t most = kMaxUnpacked) {
  TestThreads executor(16);
  const auto out = parallel_gunzip(packed, most, executor, part);
  if (!out) return std::nullopt;
  return joined(*out);
}

TEST(ParallelGunzip, GivesWhatWasPackedAtAnyLevelAndInAnyNumberOfParts) {
  for (const int level : {1, 6, 9}) {
    for (const unsigned seed : {1U, 2U, 3U}) {
      const Content content = sample(1'500'000, seed), packed = gzip(content, level);
      for (const std::size_t part : {kSmallPart, packed.size() / 3, packed.size() / 2}) {
        const auto out = unpacked(packed, part);
        ASSERT_TRUE(out.has_value()) << level << " " << seed << " " << part;
        EXPECT_TRUE(*out == content) << level << " " << seed << " " << part;
      }
    }
  }
}

TEST(ParallelGunzip, SeesZerosThatBeganBeforeItsPart) {
  // matches of zeros reach back over many parts, so that none ever knows its window
  Content content(30'000'000, 0);
  for (std::size_t i = 0; i < content.size(); i += 997) content[i] = static_cast<std::uint8_t>(i);
  const Content packed = gzip(content);
  const auto out = unpacked(packed, packed.size() / 6);
  ASSERT_TRUE(out.has_value());
  EXPECT_TRUE(*out == content);
}

TEST(ParallelGunzip, GivesTheSameWhoeverTakesOverFromWhom) {
  // as many packed bytes are a thousand times as much here as there
  Content content = sample(400'000, 11);
  content.resize(6'000'000, 0);
  const Content more = sample(1'000'000, 12);
  content.insert(content.end(), more.begin(), more.end());
  const Content packed = gzip(content);
  for (const std::size_t threads : {2U, 3U, 7U}) {
    for (int i = 0; i < 5; ++i) {
      TestThreads executor(threads);
      const auto out = parallel_gunzip(packed, kMaxUnpacked, executor, kSmallPart);
      ASSERT_TRUE(out.has_value()) << threads;
      EXPECT_TRUE(joined(*out) == content) << threads;
    }
  }
}

/// Says that it has threads, and then runs one task after the other: others keep them busy.
class BusyExecutor final : public Executor {
 public:
  void run(std::size_t n, const std::function<void(std::size_t)>& task) override {
    for (std::size_t i = 0; i < n; ++i) task(i);
  }
  [[nodiscard]] std::size_t concurrency() const noexcept override { return 5; }
};

TEST(ParallelGunzip, IsDoneByOneThreadWhereTheOthersAreBusy) {
  const Content content = sample(500'000, 13);
  BusyExecutor executor;
  const auto out = parallel_gunzip(gzip(content), kMaxUnpacked, executor, kSmallPart);
  ASSERT_TRUE(out.has_value());
  EXPECT_TRUE(joined(*out) == content);
}

TEST(ParallelGunzip, LeavesToOthersWhatIsTooSmallOrTooLarge) {
  EXPECT_FALSE(unpacked(gzip(Content(100'000, 7))).has_value());
  EXPECT_FALSE(unpacked(gzip(sample(100'000, 1)), kSmallPart, 99'999).has_value());
}

TEST(ParallelGunzip, ReadsAHeaderWithANameAndAllElse) {
  const Content content = sample(300'000, 8), plain = gzip(content);
  Content packed(plain.begin(), plain.begin() + 10);
  packed[3] = 2 | 4 | 8 | 16;
  for (const char c : std::string("\3\0abcname\0what\0hh", 17))
    packed.push_back(static_cast<std::uint8_t>(c));
  packed.insert(packed.end(), plain.begin() + 10, plain.end());
  const auto out = unpacked(packed);
  ASSERT_TRUE(out.has_value());
  EXPECT_TRUE(*out == content);
}

TEST(ParallelGunzip, NeverGivesAnythingElseForDamagedFiles) {
  const Content content = sample(200'000, 5), packed = gzip(content);
  std::mt19937 dice(6);
  std::size_t refused = 0;
  for (int i = 0; i < 100; ++i) {
    Content damaged = packed;
    damaged[10 + dice() % (packed.size() - 10)] ^= static_cast<std::uint8_t>(1U << dice() % 8);
    if (i % 4 == 0) damaged.resize(dice() % packed.size());
    refused += unpacked(damaged) ? 0 : 1;
  }
  EXPECT_EQ(refused, 100U);
}

TEST(ParallelGunzip, GoesOnThroughStoredBlocks) {
  Content content = sample(400'000, 9);
  std::mt19937 dice(4);
  for (std::size_t i = 100'000; i < 300'000; ++i) content[i] = static_cast<std::uint8_t>(dice());
  const auto out = unpacked(gzip(content));
  ASSERT_TRUE(out.has_value());
  EXPECT_TRUE(*out == content);
}

TEST(ParallelGunzip, IsHowAFileIsOpenedWithThreadsAndTheErrorsAreTheSame) {
  const Content content = sample(9'000'000, 7);
  const auto write = [](const std::string& path, const Content& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  Content packed = gzip(content);
  ASSERT_GT(packed.size(), 2 * kLeastPart);
  const std::string path = testing::TempDir() + "parallel_gunzip.gz";
  TestThreads executor(4);
  for (const std::size_t members : {1U, 2U}) {  // two are left to gunzip()
    if (members == 2) packed.insert(packed.end(), packed.begin(), packed.end());
    write(path, packed);
    const auto source = ByteSource::open(path, &executor);
    ASSERT_EQ(source->size(), members * content.size());
    for (const std::size_t from : {0UL, 1'234'567UL, 8'000'000UL}) {
      Content part(1'000'000);
      source->read(from, part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), content.begin() + static_cast<long>(from)));
    }
  }
  packed[packed.size() / 3] ^= 1;
  write(path, packed);
  EXPECT_EQ(test::thrown_by([&] { (void)ByteSource::open(path, &executor); }).message,
            test::thrown_by([&] { (void)ByteSource::open(path); }).message);
  std::filesystem::remove(path);
}

TEST(Crc32, OfTwoStretchesIsThatOfBothTogether) {
  const Content bytes = sample(100'000, 3);
  const std::span<const std::uint8_t> all(bytes);
  for (const std::size_t cut : {0UL, 1UL, 777UL, 65'536UL, 99'999UL, 100'000UL}) {
    EXPECT_EQ(crc32_joined(crc32(0, all.first(cut)), crc32(0, all.subspan(cut)), all.size() - cut),
              crc32(0, all));
  }
}

}  // namespace
}  // namespace loom
