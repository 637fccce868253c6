// tests/judgement/wordcount.cc: what is wrong with it, or not, stands in truth.tsv.
// wordcount: counts how often each call number occurs in a day of a telephone exchange.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Subscriber {
  std::unique_ptr<std::string> label;                        // shown on the monitor
  std::unique_ptr<uint32_t> calls;
};

class Exchange {
 public:
  void call(uint32_t number) {
    Subscriber &subscriber = subscribers_[number];
    if (!subscriber.calls) enter(subscriber, number);
    ++*subscriber.calls;
  }
  uint32_t calls_of(uint32_t number) const {
    auto it = subscribers_.find(number);
    return it == subscribers_.end() ? 0 : *it->second.calls;
  }
  size_t size() const { return subscribers_.size(); }

 private:
  static void enter(Subscriber &subscriber, uint32_t number) {
    subscriber.label = std::make_unique<std::string>("subscriber line number " + std::to_string(number));
    subscriber.calls = std::make_unique<uint32_t>(0);
  }
  std::map<uint32_t, Subscriber> subscribers_;
};

uint32_t next_number(uint64_t &seed) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return uint32_t(seed >> 33) % 600000 + 20000000;
}

void read_day(Exchange &exchange, int calls) {
  uint64_t seed = 11;
  for (int n = 0; n < calls; ++n) exchange.call(next_number(seed));
}

size_t monitor(const Exchange &exchange, uint32_t from) {
  size_t busy = 0;
  for (uint32_t i = 0; i < 200; ++i) busy += exchange.calls_of(20000000 + (from * 7919 + i * 31) % 600000) > 2;
  return busy;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int views = 500 * (s ? atoi(s) : 1);
  Exchange exchange;
  read_day(exchange, 700000);
  size_t busy = 0;
  for (int n = 0; n < views; ++n) {
    busy += monitor(exchange, n);
    std::this_thread::sleep_for(2ms);
  }
  printf("%zu subscribers, %zu busy\n", exchange.size(), busy);
}
