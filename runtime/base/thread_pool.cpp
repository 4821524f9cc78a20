// Plain pthreads, because std::thread has no stack size.
#include "runtime/base/thread_pool.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace nereid {
namespace {

struct Job {
  std::atomic<int64_t> next{0};
  int64_t count = 0;
  const std::function<void(int64_t)>* fn = nullptr;
};

void* work(void* arg) {
  Job& job = *static_cast<Job*>(arg);
  for (int64_t i; (i = job.next.fetch_add(1)) < job.count;) (*job.fn)(i);
  return nullptr;
}

}  // namespace

void parallelFor(int64_t count, int threads, const std::function<void(int64_t)>& fn) {
  if (threads <= 0) threads = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  Job job;
  job.count = count;
  job.fn = &fn;
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, kWorkerStackBytes);
  std::vector<pthread_t> started;
  for (int64_t t = 0; t < std::min<int64_t>(threads, count); t++) {
    pthread_t id;
    if (pthread_create(&id, &attr, work, &job) != 0) break;
    started.push_back(id);
  }
  pthread_attr_destroy(&attr);
  if (started.empty()) work(&job);
  for (pthread_t id : started) pthread_join(id, nullptr);
}

}  // namespace nereid
