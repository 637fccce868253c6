// tests/judgement/meshes.cc: what is wrong with it, or not, stands in truth.tsv.
// meshes: reads the triangles of many models, packs them and renders them many times.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Corner {
  float x, y;
};

class ModelFile {
 public:
  explicit ModelFile(uint32_t number) : left_(1056), seed_(number * 2654435761u + 1) {}
  bool next(Corner &corner) {
    if (left_ == 0) return false;
    --left_;
    seed_ = seed_ * 1664525 + 1013904223;
    corner = {float(seed_ % 1013), float(seed_ >> 20)};
    return true;
  }

 private:
  uint32_t left_, seed_;
};

class Model {
 public:
  explicit Model(uint32_t number) {
    ModelFile file(number);
    Corner corner;
    while (file.next(corner)) corners_.push_back(corner);
    corners_.shrink_to_fit();
  }
  double area(uint32_t from, int n) const {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      const Corner &a = corners_[(from + i) % corners_.size()], &b = corners_[(from + i + 1) % corners_.size()];
      sum += a.x * b.y - a.y * b.x;
    }
    return sum / 2;
  }
  size_t corners() const { return corners_.size(); }

 private:
  std::vector<Corner> corners_;
};

class World {
 public:
  explicit World(uint32_t models) {
    models_.reserve(models);
    for (uint32_t n = 0; n < models; ++n) models_.emplace_back(n);
  }
  double render(uint32_t view) const {
    double sum = 0;
    for (int n = 0; n < 30; ++n) sum += models_[(view * 31 + n) % models_.size()].area(view, 100);
    return sum;
  }
  size_t corners() const {
    size_t n = 0;
    for (const Model &m : models_) n += m.corners();
    return n;
  }

 private:
  std::vector<Model> models_;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int views = 800 * (s ? atoi(s) : 1);
  World world(4000);
  double sum = 0;
  for (int n = 0; n < views; ++n) {
    sum += world.render(n);
    std::this_thread::sleep_for(1500us);
  }
  printf("%zu corners, %.1f\n", world.corners(), sum);
}
