// tests/judgement/scenegraph.cc: what is wrong with it, or not, stands in truth.tsv.
// scenegraph: a game loads one level after another, draws some frames of it and goes on to the next.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Matrix { std::array<float, 16> m{}; };

class Node : public std::enable_shared_from_this<Node> {
 public:
  Node(std::string name, int vertices) : name_(std::move(name)), mesh_(vertices, 0.5f) {}
  void attach(std::shared_ptr<Node> child) {
    child->parent_ = shared_from_this();
    children_.push_back(std::move(child));
  }
  Matrix world() const {
    Matrix w = parent_ ? parent_->world() : Matrix{};
    for (size_t i = 0; i < w.m.size(); ++i) w.m[i] += local_.m[i] + mesh_[i];
    return w;
  }
  double draw() const {
    Matrix w = world();
    double sum = 0;
    for (size_t i = 0; i < mesh_.size(); i += 64) sum += mesh_[i] * w.m[i % 16];
    for (const auto &child : children_) sum += child->draw();
    return sum;
  }

 private:
  std::string name_;
  Matrix local_;
  std::vector<float> mesh_;
  std::shared_ptr<Node> parent_;
  std::vector<std::shared_ptr<Node>> children_;
};

std::shared_ptr<Node> build_node(const std::string &name, int vertices) {
  return std::make_shared<Node>(name, vertices);
}

class Level {
 public:
  explicit Level(int number) : root_(build_node("level " + std::to_string(number), 512)) {
    for (int group = 0; group < 12; ++group) load_group(group);
  }
  double frame() const { return root_->draw(); }

 private:
  void load_group(int group) {
    auto parent = build_node("group of things " + std::to_string(group), 256);
    for (int i = 0; i < 15; ++i) parent->attach(build_node("thing number " + std::to_string(i), 2000));
    root_->attach(parent);
  }
  std::shared_ptr<Node> root_;
};

double play(int number) {
  Level level(number);
  double sum = 0;
  for (int frame = 0; frame < 5; ++frame) {
    sum += level.frame();
    std::this_thread::sleep_for(10ms);
  }
  return sum;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int levels = 36 * (s ? atoi(s) : 1);
  double sum = 0;
  for (int number = 0; number < levels; ++number) sum += play(number);
  printf("%d levels, check %.1f\n", levels, sum);
}
