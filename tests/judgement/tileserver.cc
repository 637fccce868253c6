// tests/judgement/tileserver.cc: what is wrong with it, or not, stands in truth.tsv.
// tileserver: loads a road table, then draws map tiles; the newest tiles are kept in an LRU cache.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
using namespace std::chrono_literals;

struct Road { float x, y, width, length; };

class RoadTable {
 public:
  explicit RoadTable(int districts) : districts_(districts) {
    for (int d = 0; d < districts; ++d) {
      districts_[d].reserve(60);
      for (int i = 0; i < 60; ++i) districts_[d].push_back({float(d), float(i), float(i % 5 + 1), float(d % 31)});
      if (d % 500 == 0) std::this_thread::sleep_for(20ms);   // the road file arrives in parts
    }
  }
  const std::vector<Road> &district(uint32_t d) const { return districts_[d % districts_.size()]; }

 private:
  std::vector<std::vector<Road>> districts_;
};

class TileCache {
 public:
  explicit TileCache(size_t limit) : limit_(limit) {}
  const std::string *find(uint32_t key) {
    auto it = where_.find(key);
    if (it == where_.end()) return nullptr;
    tiles_.splice(tiles_.begin(), tiles_, it->second);
    return &it->second->second;
  }
  const std::string &store(uint32_t key, const std::string &tile) {
    tiles_.emplace_front(key, tile);
    where_[key] = tiles_.begin();
    bytes_ += tile.size();
    while (bytes_ > limit_) drop_oldest();
    return tiles_.front().second;
  }
  size_t bytes() const { return bytes_; }

 private:
  void drop_oldest() {
    bytes_ -= tiles_.back().second.size();
    where_.erase(tiles_.back().first);
    tiles_.pop_back();
  }
  size_t limit_, bytes_ = 0;
  std::list<std::pair<uint32_t, std::string>> tiles_;
  std::unordered_map<uint32_t, std::list<std::pair<uint32_t, std::string>>::iterator> where_;
};

std::string draw_tile(const std::vector<Road> &roads, uint32_t key) {
  std::string tile(48 << 10, '\0');
  for (size_t i = 0; i < tile.size(); ++i) tile[i] = char(key + i * size_t(roads[i % roads.size()].width));
  return tile;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int requests = 1400 * (s ? atoi(s) : 1);
  RoadTable roads(30000);
  TileCache cache(24 << 20);
  size_t sent = 0, hits = 0;
  for (int r = 0; r < requests; ++r) {
    uint32_t key = r % 4 == 3 ? uint32_t(r - 41) : uint32_t(r);   // every fourth request asks for a tile again
    const std::string *tile = cache.find(key);
    if (tile) ++hits;
    else tile = &cache.store(key, draw_tile(roads.district(key), key));
    sent += tile->size();
    std::this_thread::sleep_for(1ms);
  }
  printf("%d requests, %zu hits, %zu bytes sent, %zu cached\n", requests, hits, sent, cache.bytes());
}
