// examples/demo/words.cc: the program that scripts/demo profiles: it indexes the words in the files below a folder, and
// queries the index.
//
// An ordinary program with an ordinary mistake: its cache of answers is never emptied, and answers that did not come
// from the cache are lost. usage: words FOLDER…
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Place {
  uint32_t file;
  uint32_t line;
};

struct Document {
  std::string path;
  std::vector<std::string> lines;
};

struct Answer {
  std::string word;
  std::vector<std::string> excerpts;
};

class Index {
 public:
  void add_folder(const std::string& folder);
  void add_file(const std::string& path);
  const Answer* ask(const std::string& word) const;
  std::vector<std::pair<size_t, std::string>> most_frequent(size_t count) const;

  size_t files() const { return documents_.size(); }
  size_t words() const { return places_.size(); }

 private:
  void add_line(const std::string& line, Place place);

  std::vector<Document> documents_;
  std::unordered_map<std::string, std::vector<Place>> places_;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string lower_case(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

// The words of a line, each a string of its own: most are known already and discarded at once.
std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (auto begin = line.begin(); begin != line.end();) {
    begin = std::find_if(begin, line.end(), is_letter);
    const auto end = std::find_if_not(begin, line.end(), is_letter);
    if (begin != end) words.push_back(lower_case({begin, end}));
    begin = end;
  }
  return words;
}

void Index::add_folder(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) add_file(path);
}

void Index::add_file(const std::string& path) {
  const uint32_t file = static_cast<uint32_t>(documents_.size());
  documents_.push_back({path, split_lines(read_file(path))});
  uint32_t number = 0;
  for (const std::string& line : documents_.back().lines) add_line(line, {file, number++});
}

void Index::add_line(const std::string& line, Place place) {
  for (const std::string& word : split_words(line)) places_[word].push_back(place);
}

// The lines that contain a word. The caller owns the answer, which is easily overlooked.
const Answer* Index::ask(const std::string& word) const {
  Answer* const answer = new Answer{word, {}};
  if (const auto found = places_.find(word); found != places_.end()) {
    for (const Place& place : found->second) {
      const Document& document = documents_[place.file];
      answer->excerpts.push_back(document.path + ":" + std::to_string(place.line + 1) + ": " +
                                 document.lines[place.line]);
    }
  }
  return answer;
}

std::vector<std::pair<size_t, std::string>> Index::most_frequent(size_t count) const {
  std::multimap<size_t, std::string, std::greater<>> by_count;
  for (const auto& [word, places] : places_) by_count.emplace(places.size(), word);
  std::vector<std::pair<size_t, std::string>> result;
  for (const auto& entry : by_count) {
    if (result.size() == count) break;
    result.emplace_back(entry);
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: words FOLDER...\n");
    return 2;
  }
  Index index;
  for (int i = 1; i < argc; ++i) index.add_folder(argv[i]);
  std::printf("%zu files, %zu words", index.files(), index.words());
  const char* separator = "; most often: ";
  for (const auto& [count, word] : index.most_frequent(3)) {
    std::printf("%s%s %zu", separator, word.c_str(), count);
    separator = ", ";
  }
  size_t lines = 0;
  for (const char* word : {"memory", "thread", "leak"}) lines += index.ask(word)->excerpts.size();
  std::printf("; answers: %zu lines\n", lines);
  return 0;
}
