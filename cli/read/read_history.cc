// cli/read/read_history.cc: each line is separate JSON, so that a broken one does not affect the others.
#include "cli/read/read_history.h"

#include "cli/base/problems.h"
#include "cli/read/field_reader.h"

#include <utility>

namespace heapprof::cli {
namespace {

constexpr size_t kMostLineBytes = 1 << 20;
constexpr uint64_t kMostHistoryBytes = 1 << 30;
constexpr size_t kMostWarnings = 5;

void read_words(JsonPull* json, std::vector<std::string>* words) {
  if (!json->begin_array()) return;
  std::string word;
  while (json->next_element() && read_text(json, &word)) words->push_back(word);
}

class LineReader {
 public:
  explicit LineReader(std::string_view line) : source_(line), json_(&source_) {}

  bool read(HistoryEntry* entry) {
    std::vector<MemberReader::Member> members = {
        {history_key::kVersion, [&] { json_.read_unsigned(&version_); }},
        {history_key::kTime, [&] { json_.read_signed(&entry->time_unix_ns); }},
        {history_key::kCommit, [&] { read_text(&json_, &entry->commit); }},
        {history_key::kName, [&] { read_text(&json_, &entry->name); }},
        {history_key::kCommand, [&] { read_words(&json_, &entry->command); }},
        {history_key::kDevice, [&] { read_text(&json_, &entry->device); }},
        {history_key::kOk, [&] { json_.read_bool(&entry->ok.emplace()); }},
    };
    for (const MetricField& it : kMetricFields)
      members.push_back({metric_field(it.metric), [this, entry, &it] {
                           json_.read_unsigned(&entry->metrics[metric_index(it.metric)].emplace());
                         }});
    MemberReader reader(&json_, std::move(members));
    reader.read();
    if (json_.failed() || !json_.expect_end()) return false;
    if (!reader.has(history_key::kVersion)) return json_.fail("there is no \"version\"");
    if (version_ > kHistoryVersion)
      return json_.fail("it is of version " + std::to_string(version_) + ", of a newer heapprof");
    if (!reader.has(history_key::kName) || entry->name.empty()) return json_.fail("there is no \"name\"");
    return true;
  }

  const std::string& error() const { return json_.error(); }

 private:
  TextSource source_;
  JsonPull json_;
  uint64_t version_ = 0;
};

// Joins pieces into lines. A line that is longer than an entry can be is not kept.
class LineSplitter {
 public:
  template <typename Take>
  void add(std::string_view piece, Take&& take) {
    while (!piece.empty()) {
      const size_t end = piece.find('\n');
      const std::string_view part = piece.substr(0, end);
      if (line_.size() + part.size() > kMostLineBytes) is_too_long_ = true;
      if (!is_too_long_) line_ += part;
      if (end == std::string_view::npos) return;
      finish(take);
      piece.remove_prefix(end + 1);
    }
  }
  template <typename Take>
  void finish(Take&& take) {
    ++number_;
    take(number_, std::string_view(line_), is_too_long_);
    line_.clear();
    is_too_long_ = false;
  }
  bool is_inside() const { return !line_.empty() || is_too_long_; }

 private:
  std::string line_;
  uint64_t number_ = 0;
  bool is_too_long_ = false;
};

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

Result<History> read_history(ByteSource* source, const std::string& name) {
  History history;
  bool is_last_cut = false;
  const auto take = [&](uint64_t number, std::string_view line, bool is_too_long) {
    if (is_blank(line) && !is_too_long) return;
    HistoryEntry entry;
    LineReader reader(line);
    if (!is_too_long && reader.read(&entry)) {
      history.entries.push_back(std::move(entry));
      return;
    }
    ++history.lines_skipped;
    if (history.warnings.size() >= kMostWarnings) return;
    const std::string reason = is_too_long   ? "it is longer than 1 MiB"
                               : is_last_cut ? "it is cut off: " + reader.error()
                                             : reader.error();
    history.warnings.push_back(history_line_unusable({name, number}, reason));
  };
  LineSplitter lines;
  for (std::string_view piece = source->next(); !piece.empty(); piece = source->next()) lines.add(piece, take);
  if (!source->error().empty()) return history_not_readable(name, std::string(source->error()));
  is_last_cut = lines.is_inside();
  if (is_last_cut) lines.finish(take);
  return history;
}

Result<History> read_history(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = open_source(path, kMostHistoryBytes);
  if (!source) {
    // The same problem, worded for a history: only the text after the file's name is kept.
    const std::string& what = source.problem().what;
    const size_t colon = what.rfind(": ");
    return history_not_readable(path, colon == std::string::npos ? what : what.substr(colon + 2));
  }
  return read_history(source->get(), path);
}

}  // namespace heapprof::cli
