// cli/write/doctor/doctor_report.cc: one line for each capability if the terminal is wide enough; text that does not
// fit continues below.
#include "cli/base/byte_sink.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/doctor/formats.h"
#include "cli/write/encode/json_stream.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr size_t kAvailabilityColumns = 9;

std::string painted(Availability availability, bool colored) {
  const std::string word = pad_right(availability_name(availability), kAvailabilityColumns);
  if (!colored || availability == Availability::kOk) return word;
  return fmt::format("\x1b[{}m{}\x1b[0m", availability == Availability::kMissing ? 31 : 33, word);
}

std::string summary(const std::vector<Capability>& capabilities) {
  const auto count = [&](Availability availability) {
    return std::count_if(capabilities.begin(), capabilities.end(),
                         [&](const Capability& capability) { return capability.availability == availability; });
  };
  const auto missing = count(Availability::kMissing);
  const auto warnings = count(Availability::kWarning);
  const std::string warned = warnings == 0 ? "" : "; " + format_counted(static_cast<uint64_t>(warnings), "warning");
  if (missing == 0) return "heapprof can profile programs here" + warned + "\n";
  return fmt::format("heapprof cannot profile programs here: missing: {} of {} capabilities{}\n", missing,
                     capabilities.size(), warned);
}

// Shortens the middle of paths that are wider than a line. This is right for findings, which users do not paste, but
// not for fixes.
std::string with_short_words(const std::string& text, size_t columns) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    result += (at == 0 ? "" : " ") + shorten_path(text.substr(at, end - at), columns);
    at = end + 1;
  }
  return result;
}

}  // namespace

std::string render_doctor_text(const std::vector<Capability>& capabilities, const Terminal& terminal) {
  size_t name_columns = 0;
  for (const Capability& capability : capabilities)
    name_columns = std::max(name_columns, display_width(capability.name));
  constexpr size_t kLeastRoom = 40;
  const auto columns = static_cast<size_t>(terminal.columns);
  const size_t wide_indent = kAvailabilityColumns + name_columns + 2;
  const bool is_narrow = columns < wide_indent + kLeastRoom;
  const size_t indent = is_narrow ? 4 : wide_indent;
  std::string text;
  for (const Capability& capability : capabilities) {
    text += painted(capability.availability, terminal.colored) + pad_right(capability.name, name_columns + 2);
    if (is_narrow) text = text.substr(0, text.find_last_not_of(' ') + 1) + "\n" + std::string(indent, ' ');
    text +=
        wrapped(with_short_words(escape_controls(capability.what), columns - indent), {indent, indent, columns}) + "\n";
    if (!capability.fix.empty())
      text += std::string(indent, ' ') + wrapped("fix: " + escape_controls(capability.fix), {indent, indent, columns}) +
              "\n";
  }
  text += "\n" + fitted(summary(capabilities), columns);
  return terminal.utf8 ? text : to_ascii(text);
}

std::string render_doctor_json(const std::vector<Capability>& capabilities, const Terminal&) {
  StringSink sink;
  JsonWriter json(&sink);
  json.begin_object();
  json.key("version");
  json.number(1);
  json.key("checks");
  json.begin_array();
  for (const Capability& capability : capabilities) {
    json.new_line();
    json.begin_object();
    json.key("name");
    json.string(capability.name);
    json.key("finding");
    json.string(availability_name(capability.availability));
    json.key("what");
    json.string(capability.what);
    if (!capability.fix.empty()) {
      json.key("fix");
      json.string(capability.fix);
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.finish();
  return sink.text();
}

}  // namespace heapprof::cli
