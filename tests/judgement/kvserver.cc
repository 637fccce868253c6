// tests/judgement/kvserver.cc: what is wrong with it, or not, stands in truth.tsv.
// kvserver: a key-value server with a fixed set of keys; values are read, replaced, deleted and set again.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
using namespace std::chrono_literals;

class Store {
 public:
  void set(const std::string &key, std::string value) {
    std::lock_guard<std::mutex> lock(mutex_);
    values_[key] = std::move(value);
  }
  bool get(const std::string &key, std::string &value) const {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = values_.find(key);
    if (it == values_.end()) return false;
    value = it->second;
    return true;
  }
  void erase(const std::string &key) {
    std::lock_guard<std::mutex> lock(mutex_);
    values_.erase(key);
  }
  size_t size() const { return values_.size(); }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::string> values_;
};

std::string key_of(uint32_t n) { return "customer/profile/" + std::to_string(n % 8000); }

std::string value_of(uint32_t n) {
  return std::string(3000 + n * 2654435761u % 2000, char('a' + n % 26));
}

class Client {
 public:
  Client(Store &store, uint32_t seed) : store_(store), seed_(seed) {}
  void run(int requests) {
    std::string value;
    for (int r = 0; r < requests; ++r) {
      request(next(), value);
      if (r % 20 == 19) std::this_thread::sleep_for(3ms);
    }
  }
  size_t read() const { return read_; }

 private:
  void request(uint32_t n, std::string &value) {
    std::string key = key_of(n);
    switch (n % 10) {
      case 0: case 1: store_.set(key, value_of(n)); break;
      case 2: store_.erase(key); store_.set(key, value_of(n + 1)); break;
      default: if (store_.get(key, value)) read_ += value.size();
    }
  }
  uint32_t next() { return (seed_ = seed_ * 1664525 + 1013904223) >> 4; }
  Store &store_;
  uint32_t seed_;
  size_t read_ = 0;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int requests = 9000 * (s ? atoi(s) : 1);
  Store store;
  for (uint32_t n = 0; n < 8000; ++n) store.set(key_of(n), value_of(n));
  Client one(store, 1), two(store, 2);
  std::thread a([&] { one.run(requests); }), b([&] { two.run(requests); });
  a.join();
  b.join();
  printf("%zu keys, %zu bytes read\n", store.size(), one.read() + two.read());
}
