// tests/judgement/thumbs.cc: what is wrong with it, or not, stands in truth.tsv.
// thumbs: makes small pictures of large ones; each client has a connection with a thread of its own.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
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

uint64_t shrink(int width, uint32_t seed) {
  std::vector<uint16_t> &area = scratch().area(width);
  for (size_t i = 0; i < area.size(); i += 8) area[i] = uint16_t(seed = seed * 1664525 + 1013904223);
  uint64_t sum = 0;
  for (size_t i = 0; i < area.size(); i += 64) sum += area[i];
  return sum;
}

class Server {
 public:
  void connect(int client) { threads_.emplace_back([this, client] { talk(client); }); }
  // All clients hang up when the day is over.
  uint64_t close() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    hang_up_.notify_all();
    for (std::thread &t : threads_) t.join();
    return sum_;
  }

 private:
  void talk(int client) {
    uint64_t sum = 0;
    for (int picture = 0; picture < 16; ++picture) {
      sum += shrink(640 + picture % 4 * 320, client * 100 + picture);
      std::this_thread::sleep_for(5ms);
    }
    std::unique_lock<std::mutex> lock(mutex_);
    sum_ += sum;
    hang_up_.wait(lock, [this] { return over_; });           // the connection stays open
  }
  std::mutex mutex_;
  std::condition_variable hang_up_;
  std::vector<std::thread> threads_;
  bool over_ = false;
  uint64_t sum_ = 0;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int clients = 32 * (s ? atoi(s) : 1);
  Server server;
  for (int client = 0; client < clients; ++client) {
    server.connect(client);
    std::this_thread::sleep_for(45ms);
  }
  std::this_thread::sleep_for(500ms);
  printf("%d clients, check %llu\n", clients, (unsigned long long)server.close());
}
