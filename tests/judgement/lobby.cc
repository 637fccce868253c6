// tests/judgement/lobby.cc: what is wrong with it, or not, stands in truth.tsv.
// lobby: a game lobby. Players arrive evenly and each stays for the same time; then the doors close, and the last
// leave.
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Player {
  int leaves_at;
  std::vector<char> inventory;
};

class Lobby {
 public:
  [[gnu::noinline]] void welcome(int tick, int stay) {
    players_.push_back(std::make_unique<Player>());
    players_.back()->leaves_at = tick + stay;
    players_.back()->inventory.assign(8000, static_cast<char>(tick));
  }
  void part_with(int tick) {
    while (!players_.empty() && players_.front()->leaves_at <= tick) {
      sum_ += static_cast<unsigned char>(players_.front()->inventory[7]);
      players_.pop_front();
    }
  }
  unsigned long sum() const { return sum_; }

 private:
  std::deque<std::unique_ptr<Player>> players_;
  unsigned long sum_ = 0;
};

int main() {
  constexpr int kDoorsClose = 1800, kStay = 600;
  Lobby lobby;
  for (int tick = 0; tick < kDoorsClose + kStay; ++tick) {
    if (tick < kDoorsClose) lobby.welcome(tick, kStay);
    lobby.part_with(tick);
    std::this_thread::sleep_for(1ms);
  }
  std::printf("%lu\n", lobby.sum());
}
