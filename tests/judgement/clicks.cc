// tests/judgement/clicks.cc: what is wrong with it, or not, stands in truth.tsv.
// clicks: a receiver takes in click reports; a scorer works on them one by one.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
using namespace std::chrono_literals;

struct Report {
  uint32_t visitor;
  std::string page, body;
};

class Mailbox {
 public:
  void push(Report report) {
    std::lock_guard<std::mutex> lock(mutex_);
    reports_.push_back(std::move(report));
    came_.notify_one();
  }
  void close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    came_.notify_all();
  }
  bool pop(Report &report) {
    std::unique_lock<std::mutex> lock(mutex_);
    came_.wait(lock, [this] { return closed_ || !reports_.empty(); });
    if (reports_.empty()) return false;
    report = std::move(reports_.front());
    reports_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Report> reports_;
  bool closed_ = false;
};

Report decode(uint32_t n) {
  Report report{n * 2654435761u % 10007, "/shop/department/" + std::to_string(n % 40), {}};
  report.body.assign(16000, char('a' + n % 26));
  return report;
}

void receive(Mailbox &mailbox, int reports) {
  for (int n = 0; n < reports; ++n) {
    mailbox.push(decode(n));
    if (n % 10 == 9) std::this_thread::sleep_for(3ms);
  }
  mailbox.close();
}

class Scorer {
 public:
  void run(Mailbox &mailbox) {
    Report report;
    for (int n = 0; mailbox.pop(report); ++n) {
      score_ += rate(report);
      if (n % 10 == 9) std::this_thread::sleep_for(6500us);  // a request to the rating service
    }
  }
  uint64_t score() const { return score_; }

 private:
  static uint64_t rate(const Report &report) {
    uint64_t sum = report.visitor;
    for (char c : report.body) sum += uint64_t(c) * report.page.size();
    return sum % 1000;
  }
  uint64_t score_ = 0;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int reports = 4500 * (s ? atoi(s) : 1);
  Mailbox mailbox;
  Scorer scorer;
  std::thread receiver(receive, std::ref(mailbox), reports);
  std::thread worker([&] { scorer.run(mailbox); });
  receiver.join();
  worker.join();
  printf("%d reports, score %llu\n", reports, (unsigned long long)scorer.score());
}
