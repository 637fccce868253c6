// tests/judgement/mailroom.cc: what is wrong with it, or not, stands in truth.tsv.
// mailroom: takes in a day's mail, sorts it into boxes, delivers the boxes and closes in an orderly way.
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

struct Letter {
  std::string sender, receiver, body;
};

// What the counter prints on the receipt.
struct Receipt {
  uint32_t number;
  char stamp[156];
};

class Counter {
 public:
  const Receipt *stamp(const Letter &letter, uint32_t number) {
    Receipt *receipt = new Receipt{number, {}};
    snprintf(receipt->stamp, sizeof receipt->stamp, "no. %u from %s", number, letter.sender.c_str());
    open_.push_back(receipt);
    return receipt;
  }
  size_t close() {
    size_t n = open_.size();
    open_.clear();
    return n;
  }

 private:
  std::vector<const Receipt *> open_;
};

class Box {
 public:
  void put(std::unique_ptr<Letter> letter) { letters_.push_back(std::move(letter)); }
  size_t deliver() const {
    size_t sum = 0;
    for (const auto &l : letters_) sum += l->body.size() + l->body[sum % l->body.size()];
    return sum;
  }

 private:
  std::vector<std::unique_ptr<Letter>> letters_;
};

std::unique_ptr<Letter> write_letter(uint32_t n) {
  auto letter = std::make_unique<Letter>();
  letter->sender = "sender number " + std::to_string(n * 7919 % 10007);
  letter->receiver = "street " + std::to_string(n * 104729 % 400);
  letter->body.assign(6000 + n * 2654435761u % 5000, char('a' + n % 26));
  return letter;
}

class MailRoom {
 public:
  void take_in(int letters) {
    for (int n = 0; n < letters; ++n) {
      auto letter = write_letter(n);
      postage_ += counter_.stamp(*letter, n)->number % 3;
      boxes_[letter->receiver].put(std::move(letter));
      if (n % 50 == 0) std::this_thread::sleep_for(4ms);
    }
  }
  size_t deliver() {
    size_t sum = 0;
    for (int walk = 0; walk < 60; ++walk) {
      for (const auto &box : boxes_) sum += box.second.deliver();
      std::this_thread::sleep_for(15ms);
    }
    return sum;
  }
  size_t close() { boxes_.clear(); return counter_.close() + postage_; }

 private:
  Counter counter_;
  std::map<std::string, Box> boxes_;
  size_t postage_ = 0;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int letters = 8000 * (s ? atoi(s) : 1);
  MailRoom room;
  room.take_in(letters);
  size_t sum = room.deliver();
  std::this_thread::sleep_for(100ms);
  printf("%d letters, check %zu, closed with %zu\n", letters, sum, room.close());
}
