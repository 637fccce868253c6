// tests/judgement/logmerge.cc: what is wrong with it, or not, stands in truth.tsv.
// logmerge: joins the segments of a day's log into one list, sorts parts of it and counts the events.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Event {
  uint64_t time;
  uint32_t source, kind;
};

class SegmentReader {
 public:
  explicit SegmentReader(int segments) : segments_(segments) {}
  bool next(std::vector<Event> &segment) {
    if (at_ == segments_) return false;
    segment.clear();
    for (uint32_t i = 0; i < 65536; ++i) segment.push_back({next_time(), i % 211, uint32_t(seed_ >> 40) % 9});
    ++at_;
    return true;
  }

 private:
  uint64_t next_time() { return (seed_ = seed_ * 6364136223846793005u + 1442695040888963407u) >> 20; }
  int segments_, at_ = 0;
  uint64_t seed_ = 42;
};

class Timeline {
 public:
  void append(const std::vector<Event> &segment) {
    events_.insert(events_.end(), segment.begin(), segment.end());
  }
  void sort_part(size_t part, size_t parts) {
    size_t n = events_.size() / parts;
    std::sort(events_.begin() + part * n, events_.begin() + part * n + std::min<size_t>(n, 40000),
              [](const Event &a, const Event &b) { return a.time < b.time; });
  }
  size_t count(uint32_t kind) const {
    return std::count_if(events_.begin(), events_.end(), [kind](const Event &e) { return e.kind == kind; });
  }
  size_t size() const { return events_.size(); }

 private:
  std::vector<Event> events_;
};

Timeline read_day(int segments) {
  Timeline day;
  SegmentReader reader(segments);
  std::vector<Event> segment;
  segment.reserve(65536);
  while (reader.next(segment)) {
    day.append(segment);
    std::this_thread::sleep_for(8ms);
  }
  return day;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int passes = 24 * (s ? atoi(s) : 1);
  Timeline day = read_day(66);
  size_t found = 0;
  for (int pass = 0; pass < passes; ++pass) {
    day.sort_part(pass % 12, 12);
    found += day.count(pass % 9);
    std::this_thread::sleep_for(20ms);
  }
  printf("%zu events, %zu found\n", day.size(), found);
}
