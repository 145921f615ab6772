# SPDX-License-Identifier: BSD-3-Clause
# Several ranks, and what measures them.
target_sources(fiberloom_recipes PRIVATE night/bench_night.cpp night/dispatcher.cpp
  night/frame_joiner.cpp night/part_collector.cpp night/rank_loop.cpp night/rank_server.cpp
  night/rank_source.cpp night/ranks_night.cpp night/wire.cpp)
loom_test(dispatcher_test SOURCES night/dispatcher_test.cpp DEPS fiberloom_recipes)
loom_test(ranks_test SOURCES night/rank_loop_test.cpp night/part_collector_test.cpp
  DEPS fiberloom_recipes LABELS threads)
