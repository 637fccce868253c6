// cli/write/text/run_text.cc: the same words in the summary, the report and everywhere else.
#include "cli/write/text/run_text.h"

#include "cli/base/text.h"
#include "cli/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

namespace heapprof::cli {

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

namespace {

// Characters that need no quotes, in addition to the usual ones: "^~#", and the bytes of characters beyond ASCII.
const std::string kPlain = [] {
  std::string plain = "^~#";
  for (int byte = 0x80; byte <= 0xff; ++byte) plain += static_cast<char>(byte);
  return plain;
}();

}  // namespace

std::string command_text(const std::vector<std::string>& command) {
  constexpr size_t kLongest = 4096;  // a shell's "$@" may be megabytes, and no line shows them
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    text += escape_controls(word) == word ? shell_quoted(word, kPlain) : shell_quoted_in_ascii(word);
    if (text.size() > kLongest) break;
  }
  return text;
}

std::string pasted_file(const std::string& file, bool utf8) {
  std::string text = command_text({file});
  return utf8 || to_ascii(text) == text ? text : shell_quoted_in_ascii(file);
}

std::string short_command(const std::vector<std::string>& command, size_t columns) {
  std::vector<std::string> shown = command;
  // A program may write a title over its arguments ("nginx: worker process /usr/sbin/nginx"), with zeros up to their
  // end. The paths in a title do not name the program's folder.
  const auto is_empty = [](const std::string& word) { return word.empty(); };
  const bool is_title = !shown.empty() && shown[0].find(' ') != std::string::npos &&
                        std::all_of(shown.begin() + 1, shown.end(), is_empty);
  if (is_title) shown.resize(1);
  std::string text = command_text(shown);
  if (display_width(text) > columns && !shown.empty()) {
    const size_t word_end = is_title ? shown[0].find(' ') : std::string::npos;
    shown[0].erase(0, shown[0].substr(0, word_end).rfind('/') + 1);
    text = command_text(shown);
  }
  return shorten_middle(text, columns);
}

std::string short_command(const std::vector<std::string>& command, const std::string& title, size_t columns) {
  return short_command(title.empty() ? command : std::vector{title}, columns);
}

std::string command_text(const std::vector<std::string>& command, const std::string& title) {
  return command_text(title.empty() ? command : std::vector{title});
}

std::string end_text(const RunEnd& end) {
  switch (end.kind) {
    case EndKind::kExited: return fmt::format("exit {}", end.status);
    case EndKind::kSignaled: return fmt::format("killed by {}", signal_name(end.status));
    case EndKind::kExec: return "replaced by exec";
    case EndKind::kUnknown: return "ended, status unknown";
    case EndKind::kDetached: return "left while it ran";
    case EndKind::kRunning: return "running (snapshot)";
  }
  return "ended, status unknown";
}

std::string running_line(const Profile& profile) {
  if (profile.run.end.kind != EndKind::kRunning || profile.is_moment) return "";
  return fmt::format("{} after its start: the program was running still\n",
                     length_text(profile, profile.run.duration_ns));
}

std::string attached_line(const Profile& profile) {
  if (!profile.run.is_attached || !profile.merged.empty()) return "";
  const uint64_t freed = profile.run.counters.inherited_frees;
  return fmt::format("attached to it while it ran: blocks of before are not counted{}\n",
                     freed == 0 ? "" : fmt::format("; {} of them were freed since", format_count(freed)));
}

std::string start_text(int64_t start_unix_ns) {
  const std::time_t seconds = start_unix_ns / 1'000'000'000;
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return "";
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts)};
}

std::string moment_text(const Profile& profile, uint64_t time) {
  if (profile.time_unit == "ns") return format_time(time);
  return fmt::format("{} {}", format_count_exact(time), escape_controls(profile.time_unit));
}

std::string length_text(const Profile& profile, uint64_t time) {
  return profile.time_unit == "ns" ? format_duration(time) : moment_text(profile, time);
}

std::string sparkline(const Timeline& timeline, uint64_t duration_ns, uint64_t peak_bytes, size_t columns) {
  constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (timeline.buckets.empty() || timeline.bucket_ns == 0 || peak_bytes == 0 || columns == 0) return "";
  // The run may end inside the last bucket, so columns are parts of the run, not of the buckets.
  const uint64_t end_ns = std::max<uint64_t>(duration_ns, 1);
  std::string line;
  for (size_t column = 0; column < columns; ++column) {
    const auto edge = [&](size_t i) {
      return static_cast<uint64_t>(static_cast<double>(end_ns) * static_cast<double>(i) / static_cast<double>(columns));
    };
    const size_t first = std::min<size_t>(edge(column) / timeline.bucket_ns, timeline.buckets.size() - 1);
    size_t last = std::min<size_t>(edge(column + 1) / timeline.bucket_ns, timeline.buckets.size() - 1);
    if (last > first && edge(column + 1) % timeline.bucket_ns == 0 && column + 1 < columns) --last;
    uint64_t largest = 0;
    for (size_t bucket = first; bucket <= last; ++bucket)
      largest = std::max(largest, timeline.buckets[bucket].max_bytes);
    const double share = static_cast<double>(largest) / static_cast<double>(peak_bytes);
    line += kBlocks[std::min<size_t>(static_cast<size_t>(share * 8), 7)];
  }
  return line;
}

}  // namespace heapprof::cli
