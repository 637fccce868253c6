// tests/judgement/diffview.cc: what is wrong with it, or not, stands in truth.tsv.
// diffview: holds the old and the new edition of a law book and shows the differences, page by page.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
using namespace std::chrono_literals;

class Edition {
 public:
  Edition(int year, int paragraphs) : seed_(year) {
    paragraphs_.reserve(paragraphs);
    for (int n = 0; n < paragraphs; ++n) paragraphs_.push_back(paragraph(n));
  }
  const std::string &at(size_t n) const { return paragraphs_[n]; }
  size_t size() const { return paragraphs_.size(); }

 private:
  // Each paragraph has the same length in every edition, as the printer wants it.
  std::string paragraph(int n) {
    std::string text;
    text.reserve(700);
    text += "paragraph ";
    text += std::to_string(n) + ":";
    while (text.size() < 680) {
      seed_ = seed_ * 1664525 + 1013904223;
      text += " word" + std::to_string((seed_ >> 10) % 90000);
    }
    text.resize(680, '.');
    return text;
  }
  uint32_t seed_;
  std::vector<std::string> paragraphs_;
};

struct Change {
  size_t paragraph, first, letters;
};

class Differ {
 public:
  Differ(const Edition &before, const Edition &after) : before_(before), after_(after) {}
  std::vector<Change> page(size_t from, size_t n) const {
    std::vector<Change> changes;
    for (size_t i = from; i < from + n; ++i) {
      Change change = compare(i % before_.size());
      if (change.letters) changes.push_back(change);
    }
    return changes;
  }

 private:
  Change compare(size_t i) const {
    const std::string &a = before_.at(i), &b = after_.at(i);
    Change change{i, 0, 0};
    for (size_t k = 0; k < a.size(); ++k)
      if (a[k] != b[k]) {
        if (!change.letters) change.first = k;
        ++change.letters;
      }
    return change;
  }
  const Edition &before_, &after_;
};

int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : getenv("SCALE");
  int pages = 900 * (s ? atoi(s) : 1);
  Edition before(1990, 60000), after(2020, 60000);
  Differ differ(before, after);
  size_t letters = 0;
  for (int page = 0; page < pages; ++page) {
    for (const Change &change : differ.page(size_t(page) * 66, 66)) letters += change.letters;
    std::this_thread::sleep_for(1500us);
  }
  printf("%d pages, %zu letters differ\n", pages, letters);
}
