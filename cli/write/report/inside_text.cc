// cli/write/report/inside_text.cc: see report_sections.h.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/cpu_tensors.h"
#include "cli/model/analysis/python/arenas.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/text/metric_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

std::string arenas_line(const Profile& profile, bool exact_bytes, size_t columns) {
  const uint64_t bytes = find_arena_bytes(profile);
  if (bytes == 0) return "";
  const std::string what = fmt::format("of mapped, {} are arenas of Python's small objects:",
                                       exact_bytes ? format_bytes_exact(bytes) : format_bytes(bytes));
  const std::string how = "see inside with run --python-objects, or PYTHONMALLOC=malloc";
  const bool fits = display_width(what) + 1 + display_width(how) <= columns;
  return what + (fits ? " " : "\n  ") + how + "\n";
}

std::string tensors_line(const Profile& profile, bool exact_bytes, size_t columns) {
  const CpuTensors tensors = find_cpu_tensors(profile);
  if (tensors.total_blocks == 0) return "";
  const auto bytes = [exact_bytes](uint64_t value) {
    return exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  };
  return fitted(fmt::format("of host, {} at the peak are tensors of the CPU, {} of them {}\n",
                            bytes(tensors.peak_bytes), bytes(tensors.leaked_bytes), live_word(profile)),
                columns);
}

}  // namespace

std::string inside_text(const Profile& profile, const std::vector<const Device*>& devices, bool exact_bytes,
                        size_t columns) {
  const auto has = [&devices](const char* name) {
    return std::any_of(devices.begin(), devices.end(), [name](const Device* device) { return device->name == name; });
  };
  return (has("host") ? tensors_line(profile, exact_bytes, columns) : "") +
         (has("mapped") ? arenas_line(profile, exact_bytes, columns) : "");
}

}  // namespace heapprof::cli
