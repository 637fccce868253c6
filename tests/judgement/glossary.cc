// tests/judgement/glossary.cc: what is wrong with it, or not, stands in truth.tsv.
// glossary: marks the terms of a text corpus by looking each word up in a sorted glossary.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

class Corpus {
 public:
  explicit Corpus(int lines) {
    lines_.reserve(lines);
    uint32_t seed = 7;
    for (int i = 0; i < lines; ++i) {
      std::string line;
      line.reserve(380);
      for (int w = 0; w < 14; ++w) {
        seed = seed * 1664525 + 1013904223;
        line += "Regulation-For-Sector-" + std::to_string((seed >> 12) % 3000) + " ";
      }
      lines_.push_back(std::move(line));
    }
  }
  const std::vector<std::string> &lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

class Glossary {
 public:
  Glossary() {
    for (int n = 0; n < 3000; n += 2) terms_.push_back("regulation-for-sector-" + std::to_string(n));
    std::sort(terms_.begin(), terms_.end());
  }
  bool has(std::string_view term) const{ return std::binary_search(terms_.begin(), terms_.end(), term, std::less<>{}); }

 private:
  std::vector<std::string> terms_;
};

class Marker {
 public:
  explicit Marker(const Glossary &glossary) : glossary_(glossary) { word_.reserve(64); }
  size_t mark(std::string_view line) {
    size_t marked = 0;
    for (size_t from = 0, to; (to = line.find(' ', from)) != std::string_view::npos; from = to + 1)
      marked += glossary_.has(lower(line.substr(from, to - from)));
    return marked;
  }

 private:
  std::string_view lower(std::string_view word) {
    word_.assign(word);
    for (char &c : word_) if (c >= 'A' && c <= 'Z') c = char(c + 32);
    return word_;
  }
  const Glossary &glossary_;
  std::string word_;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int passes = 24 * (s ? atoi(s) : 1);
  Corpus corpus(26000);
  Glossary glossary;
  Marker marker(glossary);
  size_t marked = 0;
  for (int pass = 0; pass < passes; ++pass)
    for (const std::string &line : corpus.lines()) marked += marker.mark(line);
  printf("%zu marked words\n", marked);
}
