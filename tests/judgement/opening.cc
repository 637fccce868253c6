// tests/judgement/opening.cc: what is wrong with it, or not, stands in truth.tsv.
// opening: a ticket shop. Most buyers come when it opens, the others later; each buyer's basket lives as long as his
// visit.
#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <thread>
using namespace std::chrono_literals;

struct Basket {
  int until;
  std::string text;
};

class Shop {
 public:
  [[gnu::noinline]] void enter(int tick) { baskets_.push_back({tick + 150, std::string(20'000, 'a' + tick % 26)}); }
  void leave(int tick) {
    for (; !baskets_.empty() && baskets_.front().until <= tick; baskets_.pop_front()) sold_ += baskets_.front().text[9];
  }
  unsigned long sold() const { return sold_; }

 private:
  std::deque<Basket> baskets_;
  unsigned long sold_ = 0;
};

int main() {
  Shop shop;
  for (int tick = 0; tick < 2200; ++tick) {
    const int buyers = tick < 350 ? 3 : tick < 2000 && tick % 3 == 0 ? 1 : 0;
    for (int i = 0; i < buyers; ++i) shop.enter(tick);
    shop.leave(tick);
    std::this_thread::sleep_for(1ms);
  }
  std::printf("%lu\n", shop.sold());
}
