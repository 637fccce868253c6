// tests/judgement/tokens.cc: what is wrong with it, or not, stands in truth.tsv.
// tokens: classifies the words of a text corpus by looking each up in a table of known words.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
using namespace std::chrono_literals;

class Corpus {
 public:
  explicit Corpus(int lines) {
    lines_.reserve(lines);
    uint32_t seed = 7;
    for (int i = 0; i < lines; ++i) {
      std::string line;
      line.reserve(392);
      for (int w = 0; w < 14; ++w) {
        seed = seed * 1664525 + 1013904223;
        line += "Measurement-Of-Station-" + std::to_string((seed >> 12) % 3000) + " ";
      }
      lines_.push_back(std::move(line));
    }
  }
  const std::vector<std::string> &lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

std::vector<std::string> split(const std::string &line) {
  std::vector<std::string> words;
  for (size_t from = 0, to; (to = line.find(' ', from)) != std::string::npos; from = to + 1)
    words.push_back(line.substr(from, to - from));
  return words;
}

std::string lower(std::string word) {
  for (char &c : word) if (c >= 'A' && c <= 'Z') c = char(c + 32);
  return word;
}

class Dictionary {
 public:
  Dictionary() {
    for (int n = 0; n < 3000; n += 2) classes_["measurement-of-station-" + std::to_string(n)] = n % 7;
  }
  int class_of(const std::string &word) const {
    auto it = classes_.find(lower(word));
    return it == classes_.end() ? -1 : it->second;
  }

 private:
  std::unordered_map<std::string, int> classes_;
};

size_t classify(const Corpus &corpus, const Dictionary &dictionary) {
  size_t known = 0;
  for (const std::string &line : corpus.lines())
    for (const std::string &word : split(line)) known += dictionary.class_of(word) >= 0;
  return known;
}

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int passes = 30 * (s ? atoi(s) : 1);
  Corpus corpus(26000);
  Dictionary dictionary;
  size_t known = 0;
  for (int pass = 0; pass < passes; ++pass) known += classify(corpus, dictionary);
  printf("%zu known words\n", known);
}
