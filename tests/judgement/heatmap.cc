// tests/judgement/heatmap.cc: what is wrong with it, or not, stands in truth.tsv.
// heatmap: simulates how heat spreads over a plate; three grids are in use from the first step to the last.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

class Grid {
 public:
  Grid(int width, int height, double start) : width_(width), cells_(size_t(width) * height, start) {}
  double &at(int x, int y) { return cells_[size_t(y) * width_ + x]; }
  double at(int x, int y) const { return cells_[size_t(y) * width_ + x]; }
  size_t size() const { return cells_.size(); }
  void swap(Grid &other) { cells_.swap(other.cells_); }

 private:
  int width_;
  std::vector<double> cells_;
};

class Plate {
 public:
  Plate(int width, int height)
      : width_(width), height_(height), now_(width, height, 20), next_(width, height, 20), metal_(width, height, 0.2) {
    for (int x = width / 4; x < width / 2; ++x) now_.at(x, height / 2) = 400;
  }
  void step(int row_from, int rows) {
    for (int y = row_from + 1; y < row_from + rows && y + 1 < height_; ++y)
      for (int x = 1; x + 1 < width_; ++x) next_.at(x, y) = cell(x, y);
  }
  void turn() { now_.swap(next_); }
  double mean() const {
    double sum = 0;
    for (int y = 0; y < height_; y += 16) sum += now_.at(width_ / 3, y);
    return sum / height_ * 16;
  }
  int height() const { return height_; }

 private:
  double cell(int x, int y) const {
    double around = now_.at(x - 1, y) + now_.at(x + 1, y) + now_.at(x, y - 1) + now_.at(x, y + 1);
    return now_.at(x, y) + metal_.at(x, y) * (around / 4 - now_.at(x, y));
  }
  int width_, height_;
  Grid now_, next_, metal_;
};

std::string describe(const Plate &plate, int step) {
  return "step " + std::to_string(step) + ": mean of " + std::to_string(plate.mean()) + " degrees";
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int steps = 24 * (s ? atoi(s) : 1);
  Plate plate(2600, 2520);
  size_t letters = 0;
  for (int n = 0; n < steps; ++n) {
    for (int y = 0; y < plate.height(); y += 420) plate.step(y, 421);
    plate.turn();
    letters += describe(plate, n).size();
    std::this_thread::sleep_for(40ms);
  }
  printf("%s, %zu letters\n", describe(plate, steps).c_str(), letters);
}
