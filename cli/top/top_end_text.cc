// cli/top/top_end_text.cc: see top_end_text.h.
#include "cli/top/top_end_text.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace heapprof::cli {

namespace {

// The path as the user would type it in the current folder.
std::string shown_path(const std::string& path) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string() + "/";
  return !error && path.starts_with(here) ? path.substr(here.size()) : path;
}

}  // namespace

std::string top_end_text(pid_t pid, const TopEnd& end, const Terminal& look) {
  std::string text = fmt::format("process {} has ended: {} after {}\n", pid, escape_controls(end.how),
                                 format_duration(end.duration_ns));
  size_t width = 0;
  for (const TopEnd::Device& device : end.devices) width = std::max(width, display_width(escape_controls(device.name)));
  for (const TopEnd::Device& device : end.devices) {
    text += fmt::format("{}  peak {}, leaked {}, {}\n", pad_right(escape_controls(device.name), width),
                        format_bytes(device.peak_bytes), format_bytes(device.leaked_bytes),
                        format_counted(device.total_blocks, "allocation"));
  }
  if (end.path.empty()) {
    text += "its profile is written by the run that it belongs to\n";
  } else {
    const std::string file = pasted_file(shown_path(end.path), look.utf8);
    text += fmt::format("saved  {}\nnext   heapprof report {}\n", file, file);
  }
  return look.utf8 ? text : to_ascii(text);
}

}  // namespace heapprof::cli
