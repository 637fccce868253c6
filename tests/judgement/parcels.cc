// tests/judgement/parcels.cc: what is wrong with it, or not, stands in truth.tsv.
// parcels: takes in a day's parcels, sorts them by route, drives the routes and closes in an orderly way.
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

struct Parcel {
  std::string sender, town, contents;
};

struct Label {
  uint32_t number;
  char print[156];
};

class Printer {
 public:
  const Label *print(const Parcel &parcel, uint32_t number) {
    Label *label = new Label{number, {}};
    snprintf(label->print, sizeof label->print, "no. %u from %s", number, parcel.sender.c_str());
    labels_.push_back(label);
    return label;
  }
  ~Printer() {
    for (const Label *label : labels_) delete label;
  }

 private:
  std::vector<const Label *> labels_;
};

class Route {
 public:
  void load(std::unique_ptr<Parcel> parcel) { parcels_.push_back(std::move(parcel)); }
  size_t drive() const {
    size_t sum = 0;
    for (const auto &p : parcels_) sum += p->contents.size() + p->contents[sum % p->contents.size()];
    return sum;
  }

 private:
  std::vector<std::unique_ptr<Parcel>> parcels_;
};

std::unique_ptr<Parcel> pack(uint32_t n) {
  auto parcel = std::make_unique<Parcel>();
  parcel->sender = "sender number " + std::to_string(n * 7919 % 10007);
  parcel->town = "town " + std::to_string(n * 104729 % 300);
  parcel->contents.assign(6000 + n * 2654435761u % 5000, char('a' + n % 26));
  return parcel;
}

class Depot {
 public:
  void take_in(int parcels) {
    for (int n = 0; n < parcels; ++n) {
      auto parcel = pack(n);
      weight_ += printer_->print(*parcel, n)->number % 3;
      routes_[parcel->town].load(std::move(parcel));
      if (n % 50 == 0) std::this_thread::sleep_for(4ms);
    }
  }
  size_t drive() {
    size_t sum = weight_;
    for (int tour = 0; tour < 60; ++tour) {
      for (const auto &route : routes_) sum += route.second.drive();
      std::this_thread::sleep_for(15ms);
    }
    return sum;
  }
  void close() { routes_.clear(); printer_.reset(); }

 private:
  std::unique_ptr<Printer> printer_ = std::make_unique<Printer>();
  std::map<std::string, Route> routes_;
  size_t weight_ = 0;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int parcels = 8000 * (s ? atoi(s) : 1);
  Depot depot;
  depot.take_in(parcels);
  size_t sum = depot.drive();
  depot.close();
  std::this_thread::sleep_for(100ms);
  printf("%d parcels, check %zu\n", parcels, sum);
}
