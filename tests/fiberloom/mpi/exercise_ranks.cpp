// SPDX-License-Identifier: BSD-3-Clause
// Run by a launcher: opens the ranks as the program does and sends every rank messages of many
// sizes, itself included. Exit 0 when all arrived whole and in order. "die": the last rank kills
// itself, the others wait.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/ranks_module.hpp"

namespace {

using fiberloom::RankMessage;
using fiberloom::Ranks;

constexpr std::size_t kSizes[] = {0, 1, 1000, 100'000, 3'000'000, 60'000'000};

std::byte pattern(int from, std::size_t size, std::size_t at) {
  return static_cast<std::byte>((static_cast<std::size_t>(from) * 31 + size + at * 7) & 255U);
}

bool good(const RankMessage& message, std::size_t size) {
  if (message.bytes.size() != size) return false;
  for (std::size_t i = 0; i < size; i += 997) {
    if (message.bytes[i] != pattern(message.from, size, i)) return false;
  }
  return true;
}

int exchange(Ranks& ranks) {
  for (int to = 0; to < ranks.size(); ++to) {
    for (std::size_t k = 0; k < std::size(kSizes); ++k) {
      std::vector<std::byte> bytes(kSizes[k]);
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = pattern(ranks.rank(), kSizes[k], i);
      }
      ranks.send(to, static_cast<int>(k), std::move(bytes));
    }
  }
  std::vector<int> next(static_cast<std::size_t>(ranks.size()), 0);
  for (std::size_t expected = std::size(kSizes) * next.size(); expected > 0;) {
    const auto message = ranks.receive();
    if (!message) {
      std::this_thread::yield();
      continue;
    }
    int& tag = next[static_cast<std::size_t>(message->from)];
    if (message->tag != tag++ || !good(*message, kSizes[message->tag])) return 1;
    --expected;
  }
  while (ranks.unsent() > 0) static_cast<void>(ranks.receive());
  return ranks.size() == 1 || ranks.seconds_inside() > 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  const fiberloom::Environment environment = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
  const auto launch = decide_launch(environment, fiberloom::MpiChoice::kAuto);
  if (!launch) {
    std::printf("no launch seen\n");
    return 3;
  }
  const auto ranks = open_ranks(*launch, environment);
  if (argc > 1 && std::strcmp(argv[1], "die") == 0) {
    if (ranks->rank() == ranks->size() - 1) std::raise(SIGKILL);
    while (true) {
      static_cast<void>(ranks->receive());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  const int result = exchange(*ranks);
  std::printf("rank %d of %d, %d of %d here, %d nodes, %s: %s\n", ranks->rank(), ranks->size(),
              ranks->local_rank(), ranks->local_size(), ranks->nodes(), ranks->library().c_str(),
              result == 0 ? "good" : "WRONG");
  ranks->finish();
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const fiberloom::Error& error) {
    std::printf("%s\n", error.what());
    return error.exit_code();
  }
}
