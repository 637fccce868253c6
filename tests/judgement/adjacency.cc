// tests/judgement/adjacency.cc: what is wrong with it, or not, stands in truth.tsv.
// adjacency: reads the edges of a road network and then walks through it many times.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

struct Edge {
  uint32_t to;
  float length;
};

class EdgeFile {
 public:
  EdgeFile(uint32_t places, uint32_t degree) : places_(places), degree_(degree) {}
  // The edges come in the order of the survey, not in the order of the places.
  bool next(uint32_t &from, Edge &edge) {
    if (at_ == places_ * degree_) return false;
    from = at_ % places_;
    seed_ = seed_ * 1664525 + 1013904223;
    edge = {(seed_ >> 8) % places_, float(seed_ % 977) * 0.125f};
    ++at_;
    return true;
  }

 private:
  uint32_t places_, degree_, at_ = 0, seed_ = 99;
};

class Network {
 public:
  explicit Network(uint32_t places) : edges_(places) {}
  void connect(uint32_t from, const Edge &edge) {
    edges_[from].push_back(edge);
  }
  double walk(uint32_t start, int steps) const {
    double length = 0;
    uint32_t at = start % edges_.size();
    for (int n = 0; n < steps; ++n) {
      const Edge &edge = edges_[at][(n * 7u + at) % edges_[at].size()];
      length += edge.length;
      at = edge.to;
    }
    return length;
  }
  size_t edges() const {
    size_t n = 0;
    for (const auto &list : edges_) n += list.size();
    return n;
  }

 private:
  std::vector<std::vector<Edge>> edges_;
};

Network read_network(uint32_t places, uint32_t degree) {
  EdgeFile file(places, degree);
  Network network(places);
  uint32_t from;
  Edge edge;
  while (file.next(from, edge)) network.connect(from, edge);
  return network;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int walks = 800 * (s ? atoi(s) : 1);
  Network network = read_network(30000, 132);
  double length = 0;
  for (int n = 0; n < walks; ++n) {
    length += network.walk(n * 37, 3000);
    std::this_thread::sleep_for(1500us);
  }
  printf("%zu edges, %.1f km\n", network.edges(), length);
}
