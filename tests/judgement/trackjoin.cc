// tests/judgement/trackjoin.cc: what is wrong with it, or not, stands in truth.tsv.
// trackjoin: joins the recorded parts of a tour into one track, then smooths and measures it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Point { float lat, lon, height, speed; };

class PartReader {
 public:
  explicit PartReader(int parts) : parts_(parts) {}
  // The header of the recording says how many points there are.
  size_t points() const { return size_t(parts_) * 65536; }
  bool next(std::vector<Point> &part) {
    if (at_ == parts_) return false;
    part.clear();
    for (int i = 0; i < 65536; ++i) part.push_back({angle_ += 0.0001f, angle_ * 2, float(i % 900), float(i % 30)});
    ++at_;
    return true;
  }

 private:
  int parts_, at_ = 0;
  float angle_ = 0;
};

class Track {
 public:
  explicit Track(size_t points) { points_.reserve(points); }
  void append(const std::vector<Point> &part) { points_.insert(points_.end(), part.begin(), part.end()); }
  void smooth(size_t from, size_t n) {
    for (size_t i = std::max<size_t>(from, 1); i < from + n && i + 1 < points_.size(); ++i)
      points_[i].height = (points_[i - 1].height + points_[i].height + points_[i + 1].height) / 3;
  }
  double length() const {
    double sum = 0;
    for (size_t i = 1; i < points_.size(); i += 4) sum += std::fabs(points_[i].height - points_[i - 1].height);
    return sum;
  }
  size_t size() const { return points_.size(); }

 private:
  std::vector<Point> points_;
};

Track read_tour(int parts) {
  PartReader reader(parts);
  Track track(reader.points());
  std::vector<Point> part;
  part.reserve(65536);
  while (reader.next(part)) {
    track.append(part);
    std::this_thread::sleep_for(8ms);
  }
  return track;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int passes = 24 * (s ? atoi(s) : 1);
  Track track = read_tour(66);
  double length = 0;
  for (int pass = 0; pass < passes; ++pass) {
    track.smooth(size_t(pass) * 100000, 100000);
    length += track.length();
    std::this_thread::sleep_for(20ms);
  }
  printf("%zu points, %.1f\n", track.size(), length);
}
