// parallelFor: each instance once, any count, deep stacks.
#include "runtime/base/thread_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <vector>

using namespace nereid;

TEST_CASE("each instance runs once for any number of threads and instances") {
  for (int threads : {0, 1, 2, 7})
    for (int64_t count : {0, 1, 2, 5, 1000}) {
      CAPTURE(threads);
      CAPTURE(count);
      std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
      parallelFor(count, threads, [&](int64_t i) { ++hits[size_t(i)]; });
      int wrong = 0;
      for (auto& h : hits) wrong += h != 1;
      CHECK(wrong == 0);
    }
}

TEST_CASE("an instance has a large stack, also inside another instance") {
  std::atomic<int64_t> sum{0};
  parallelFor(2, 2, [&](int64_t i) {
    parallelFor(2, 1, [&](int64_t j) {
      volatile char deep[32 << 20];  // beyond a main thread's usual 8 MiB
      deep[0] = char(1 + i);
      deep[sizeof deep - 1] = char(1 + j);
      sum += deep[0] * 10 + deep[sizeof deep - 1];
    });
  });
  CHECK(sum == (11 + 12 + 21 + 22));
}

TEST_CASE("several threads may call at once") {
  std::atomic<int64_t> sum{0};
  parallelFor(4, 4, [&](int64_t) { parallelFor(100, 3, [&](int64_t i) { sum += i; }); });
  CHECK(sum == 4 * 4950);
}
