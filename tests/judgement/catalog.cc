// tests/judgement/catalog.cc: what is wrong with it, or not, stands in truth.tsv.
// catalog: loads the texts of all articles, builds a searcher over them and answers searches.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
using namespace std::chrono_literals;

class Loader {
 public:
  std::vector<std::string> load(int articles) {
    std::vector<std::string> texts;
    texts.reserve(articles);
    for (int n = 0; n < articles; ++n) texts.push_back(text_of(n));
    return texts;
  }

 private:
  std::string text_of(int n) {
    std::string text;
    text.reserve(700);
    text = "article " + std::to_string(n) + ":";
    while (text.size() < 660) {
      seed_ = seed_ * 1664525 + 1013904223;
      text += " part" + std::to_string((seed_ >> 10) % 90000);
    }
    return text;
  }
  uint32_t seed_ = 5;
};

class Searcher {
 public:
  explicit Searcher(std::vector<std::string> texts) : texts_(texts) {
    for (size_t n = 0; n < texts_.size(); n += 8) first_[texts_[n].substr(texts_[n].find(':') + 2, 9)] = n;
  }
  size_t find(const std::string &word) const {
    auto it = first_.find(word);
    return it == first_.end() ? 0 : texts_[it->second].size();
  }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, size_t> first_;
};

class Shop {
 public:
  explicit Shop(int articles) : texts_(Loader().load(articles)), searcher_(texts_) {}
  size_t answer(uint32_t request) const {
    const std::string &text = texts_[request * 2654435761u % texts_.size()];
    return searcher_.find(text.substr(text.find(':') + 2, 9)) + text.size();
  }

 private:
  std::vector<std::string> texts_;
  Searcher searcher_;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int requests = 900 * (s ? atoi(s) : 1);
  Shop shop(60000);
  size_t sum = 0;
  for (int r = 0; r < requests; ++r) {
    for (int k = 0; k < 50; ++k) sum += shop.answer(r * 50 + k);
    std::this_thread::sleep_for(1500us);
  }
  printf("%d requests, check %zu\n", requests, sum);
}
