// tests/judgement/orgchart.cc: what is wrong with it, or not, stands in truth.tsv.
// orgchart: lays out the charts of many companies, one after another.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

class Person : public std::enable_shared_from_this<Person> {
 public:
  Person(std::string name, int pixels) : name_(std::move(name)), picture_(pixels, 0.25f) {}
  void lead(std::shared_ptr<Person> other) {
    other->boss_ = shared_from_this();
    team_.push_back(std::move(other));
  }
  int depth() const {
    auto boss = boss_.lock();
    return boss ? boss->depth() + 1 : 0;
  }
  double layout() const {
    double sum = depth() + double(name_.size());
    for (size_t i = 0; i < picture_.size(); i += 64) sum += picture_[i];
    for (const auto &p : team_) sum += p->layout();
    return sum;
  }

 private:
  std::string name_;
  std::vector<float> picture_;
  std::weak_ptr<Person> boss_;
  std::vector<std::shared_ptr<Person>> team_;
};

std::shared_ptr<Person> hire(const std::string &name, int pixels) {
  return std::make_shared<Person>(name, pixels);
}

class Company {
 public:
  explicit Company(int number) : head_(hire("head of company " + std::to_string(number), 2000)) {
    for (int team = 0; team < 60; ++team) staff(team);
  }
  double layout() const { return head_->layout(); }

 private:
  void staff(int team) {
    auto lead = hire("lead of team number " + std::to_string(team), 2000);
    for (int i = 0; i < 30; ++i) lead->lead(hire("member number " + std::to_string(i), 2000));
    head_->lead(lead);
  }
  std::shared_ptr<Person> head_;
};

double draw_chart(int number) {
  Company company(number);
  double sum = 0;
  for (int pass = 0; pass < 5; ++pass) {
    sum += company.layout();
    std::this_thread::sleep_for(10ms);
  }
  return sum;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int companies = 24 * (s ? atoi(s) : 1);
  double sum = 0;
  for (int number = 0; number < companies; ++number) sum += draw_chart(number);
  printf("%d companies, check %.1f\n", companies, sum);
}
