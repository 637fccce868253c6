// cli/model/judge/history.h: the memory of runs of one program over time: an entry for each verdict.
//
// A file holds one JSON object a line, the oldest first: cli/write/history/append_history adds to it,
// cli/read/read_history reads it, man/heapprof-history.1 describes it. Commands that judge a profile make their entries
// with make_history_entry.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

inline constexpr uint64_t kHistoryVersion = 1;

struct HistoryEntry {
  int64_t time_unix_ns = 0;          // when the run began
  std::string commit;                // empty: unknown
  std::string name;                  // the budget's, or the program's
  std::vector<std::string> command;  // may be empty
  std::string device = "host";
  std::array<std::optional<uint64_t>, kMetricFields.size()> metrics;  // by metric_index(); nullopt: unknown
  std::optional<bool> ok;                                             // the verdict; nullopt: not judged
};

// The names of an entry's members in the file; those of its metrics are metric_field().
namespace history_key {
inline constexpr std::string_view kVersion = "version";
inline constexpr std::string_view kTime = "time_unix_ns";
inline constexpr std::string_view kCommit = "commit";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kCommand = "command";
inline constexpr std::string_view kDevice = "device";
inline constexpr std::string_view kOk = "ok";
}  // namespace history_key

// Makes an entry of the device's numbers. Leaks marked as suppressed do not count. A merged profile's entry has no
// peak, because its inputs peaked at different times.
HistoryEntry make_history_entry(const Profile& profile, const Device& device, const std::string& name,
                                const std::string& commit);

// The name of a run without a budget: its program's file name.
std::string history_name(const Profile& profile);

}  // namespace heapprof::cli
