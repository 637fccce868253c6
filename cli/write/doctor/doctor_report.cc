// cli/write/doctor/doctor_report.cc: one line for each check where the terminal is wide enough; what does not fit goes on below.
#include "cli/write/doctor/doctor_report.h"

#include "cli/base/byte_sink.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/encode/json_stream.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr size_t kFindingColumns = 9;

// The words of the text, broken at blanks; lines after the first begin at column `indent`.
std::string wrapped(const std::string& text, size_t indent, size_t columns) {
  std::string result;
  size_t used = indent;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const size_t width = display_width(word);
    const bool is_first = used == indent;
    if (!is_first && used + 1 + width > columns) {
      result += "\n" + std::string(indent, ' ');
      used = indent;
    } else if (!is_first) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width;
    at = end + 1;
  }
  return result;
}

std::string painted(Finding finding, bool colored) {
  const std::string word = pad_right(finding_name(finding), kFindingColumns);
  if (!colored || finding == Finding::kOk) return word;
  return fmt::format("\x1b[{}m{}\x1b[0m", finding == Finding::kMissing ? 31 : 33, word);
}

std::string verdict(const std::vector<Check>& checks) {
  const auto count = [&](Finding finding) {
    return std::count_if(checks.begin(), checks.end(), [&](const Check& check) { return check.finding == finding; });
  };
  const auto missing = count(Finding::kMissing);
  const auto warnings = count(Finding::kWarning);
  const std::string warned = warnings == 0 ? "" : "; " + format_counted(static_cast<uint64_t>(warnings), "warning");
  if (missing == 0) return "heapprof can profile programs here" + warned + "\n";
  return fmt::format("heapprof cannot profile programs here: {} of {} checks found something missing{}\n", missing,
                     checks.size(), warned);
}

}  // namespace

std::string render_checks_text(const std::vector<Check>& checks, const Terminal& terminal) {
  size_t name_columns = 0;
  for (const Check& check : checks) name_columns = std::max(name_columns, display_width(check.name));
  const size_t indent = kFindingColumns + name_columns + 2;
  const auto columns = static_cast<size_t>(terminal.columns);
  std::string text;
  for (const Check& check : checks) {
    text += painted(check.finding, terminal.colored) + pad_right(check.name, name_columns + 2);
    text += wrapped(escape_controls(check.what), indent, columns) + "\n";
    if (!check.fix.empty())
      text += std::string(indent, ' ') + wrapped("fix: " + escape_controls(check.fix), indent, columns) + "\n";
  }
  text += "\n" + verdict(checks);
  return terminal.utf8 ? text : to_ascii(text);
}

std::string render_checks_json(const std::vector<Check>& checks, const Terminal&) {
  StringSink sink;
  JsonWriter json(&sink);
  json.begin_object();
  json.key("version");
  json.number(1);
  json.key("checks");
  json.begin_array();
  for (const Check& check : checks) {
    json.new_line();
    json.begin_object();
    json.key("name");
    json.string(check.name);
    json.key("finding");
    json.string(finding_name(check.finding));
    json.key("what");
    json.string(check.what);
    if (!check.fix.empty()) {
      json.key("fix");
      json.string(check.fix);
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.finish();
  return sink.text();
}

}  // namespace heapprof::cli
