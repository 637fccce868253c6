// tests/judgement/crops.cc: what is wrong with it, or not, stands in truth.tsv.
// crops: cuts and turns pictures for many clients; four workers do the jobs.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Scratch {
  std::map<int, std::vector<uint16_t>> rows;                 // one work area for each width
  std::vector<uint16_t> &area(int width) {
    std::vector<uint16_t> &a = rows[width];
    if (a.empty()) a.resize(size_t(width) * 400);
    return a;
  }
};

Scratch &scratch() {
  thread_local Scratch s;
  return s;
}

uint64_t crop(int width, uint32_t seed) {
  std::vector<uint16_t> &area = scratch().area(width);
  for (size_t i = 0; i < area.size(); i += 8) area[i] = uint16_t(seed = seed * 1664525 + 1013904223);
  uint64_t sum = 0;
  for (size_t i = 0; i < area.size(); i += 64) sum += area[i];
  return sum;
}

// All jobs of one client go to the same worker, so that they stay in order.
class Pool {
 public:
  explicit Pool(int workers) : lists_(workers) {
    for (int w = 0; w < workers; ++w) threads_.emplace_back([this, w] { work(lists_[w]); });
  }
  void submit(int client, int width, uint32_t seed) {
    std::lock_guard<std::mutex> lock(mutex_);
    lists_[client % lists_.size()].push_back({width, seed});
    came_.notify_all();
  }
  uint64_t close() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    came_.notify_all();
    for (std::thread &t : threads_) t.join();
    return sum_;
  }

 private:
  struct Job { int width; uint32_t seed; };
  void work(std::deque<Job> &list) {
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      came_.wait(lock, [&] { return over_ || !list.empty(); });
      if (list.empty()) return;
      Job job = list.front();
      list.pop_front();
      lock.unlock();
      uint64_t sum = crop(job.width, job.seed);
      lock.lock();
      sum_ += sum;
    }
  }
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::deque<Job>> lists_;
  std::vector<std::thread> threads_;
  bool over_ = false;
  uint64_t sum_ = 0;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int clients = 32 * (s ? atoi(s) : 1);
  Pool pool(4);
  for (int client = 0; client < clients; ++client)
    for (int picture = 0; picture < 16; ++picture) {
      pool.submit(client, 640 + picture % 4 * 320, client * 100 + picture);
      std::this_thread::sleep_for(3ms);
    }
  printf("%d clients, check %llu\n", clients, (unsigned long long)pool.close());
}
