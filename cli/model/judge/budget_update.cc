// cli/model/judge/budget_update.cc: a limit is raised by editing the file's own text.
//
// Reading a budget and writing it again would lose comments, order and layout, and the change would be unreadable in
// review. So each limit has the position of its value in the file, and only these characters are replaced, from the end
// of the file to its beginning, so that earlier positions stay valid.
//
// A new limit has three digits, rounded up: the text's value is never less than what it must allow.
#include "cli/model/judge/budget_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace heapprof::cli {
namespace {

__extension__ using Wide = unsigned __int128;

// The size in a unit, with up to two decimals and at most three digits if there is a point; rounded up.
std::string bytes_source(uint64_t bytes, uint64_t* value) {
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t power = 0;
  while (power + 1 < kUnits.size() && (bytes >> (10 * power)) >= 1024) ++power;
  *value = bytes;
  if (power == 0) return fmt::format("\"{} B\"", bytes);
  const Wide unit = Wide{1} << (10 * power);
  uint64_t hundredths = static_cast<uint64_t>((Wide{bytes} * 100 + unit - 1) / unit);
  const uint64_t step = hundredths < 1000 ? 1 : hundredths < 10'000 ? 10 : 100;
  hundredths = (hundredths + step - 1) / step * step;
  const Wide read_back = hundredths * unit / 100;
  *value = read_back > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(read_back);
  const uint64_t whole = hundredths / 100;
  if (step == 1) return fmt::format("\"{}.{:02} {}\"", whole, hundredths % 100, kUnits[power]);
  if (step == 10) return fmt::format("\"{}.{} {}\"", whole, hundredths % 100 / 10, kUnits[power]);
  return fmt::format("\"{} {}\"", whole, kUnits[power]);
}

// "1_234_567"; limited to 63 bits, as TOML's integers are.
std::string count_source(uint64_t count, uint64_t* value) {
  *value = std::min<uint64_t>(count, INT64_MAX);
  std::string digits = std::to_string(*value);
  for (size_t at = digits.size(); at > 3; at -= 3) digits = digits.substr(0, at - 3) + '_' + digits.substr(at - 3);
  return digits;
}

struct Edit {
  size_t end = 0;
  std::string source;
  uint64_t value = 0;
  uint64_t at_least = 0;
};

}  // namespace

std::string limit_source(const Subject& subject, uint64_t at_least, uint64_t* value) {
  if (is_in_bytes(subject)) return bytes_source(at_least, value);
  if (subject.scope && is_average(*subject.scope)) {
    if (at_least % kHundredths == 0) {
      std::string source = count_source(at_least / kHundredths, value);
      *value *= kHundredths;
      return source;
    }
    *value = at_least;
    return fmt::format("\"{}.{:02}\"", at_least / kHundredths, at_least % kHundredths);
  }
  if (!subject.is_share) return count_source(at_least, value);
  *value = at_least;
  return fmt::format("\"{}.{:02} %\"", at_least / 100, at_least % 100);
}

RaisedLimits raise_limits(const std::string& text, std::vector<Verdict>* verdicts) {
  std::map<size_t, Edit> edits;  // by position; if several profiles have the same limit, the largest counts
  const auto is_raised = [&](const Judged& line) {
    return line.reason == Reason::kOverLimit && !line.is_default && line.text.end > line.text.begin &&
           line.text.end <= text.size();
  };
  for (const Verdict& verdict : *verdicts) {
    for (const Judged& line : verdict.judged) {
      if (!is_raised(line)) continue;
      Edit& edit = edits[line.text.begin];
      edit.end = line.text.end;
      if (line.raised_most < edit.at_least) continue;
      edit.at_least = line.raised_most;
      edit.source = limit_source(line.subject, line.raised_most, &edit.value);
    }
  }
  for (Verdict& verdict : *verdicts) {
    for (Judged& line : verdict.judged) {
      if (!is_raised(line)) continue;
      line.most = edits[line.text.begin].value;
      decide(&line);
      if (line.outcome == Outcome::kOk || line.reason == Reason::kBelowExpected) line.culprit.reset();
    }
  }
  RaisedLimits raised{text, edits.size()};
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
    raised.text = raised.text.substr(0, edit->first) + edit->second.source + raised.text.substr(edit->second.end);
  return raised;
}

}  // namespace heapprof::cli
