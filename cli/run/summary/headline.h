// cli/run/summary/headline.h: chooses the process, or program image, that the summary of a run is about: the one with
// the largest peak.
//
// A process's peak is the sum of the peaks of its heap and of its mapped memory, or the largest peak of a GPU if that
// is larger.
//
// Guarantees
//  - All profiled processes are compared, also those for which the tree had no room.
//  - Another process or image is chosen instead of the last image of the program that was started only if its peak is
//    larger, not if it is equal.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"
#include "cli/run/finisher.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct Headline {
  std::optional<SavedProfile> other;  // the one with the largest peak; nullopt: the program that was started
  bool is_image = false;              // `other` is an earlier image of the started process, replaced by exec
  bool is_largest = true;             // false: the profile of a larger one could not be written
  size_t processes = 1;               // profiled, including the one that was started
  size_t images = 1;                  // of the started process
};

// root: the last image of the started program. others: all other processes and images.
Headline choose_headline(const SavedProfile& root, const std::vector<SavedProfile>& others);

// Reads the profile of headline.other from its file; nullopt if there is no other.
Result<std::optional<Profile>> read_other(const Headline& headline);

// "the largest of 3 processes: sort big.txt, pid 4712; sh, which was started, peaked at 1.65 KiB: FILE": one line, or a
// few if the terminal is narrow; empty if the headline is the started program.
std::string headline_text(const Headline& headline, const SavedProfile& root, size_t columns);

// Adds the processes with the largest peaks to the list in the started program's profile.
inline constexpr size_t kMostKept = 100;
void keep_processes(const std::vector<SavedProfile>& others, const std::string& root_path, RunInfo* run);

}  // namespace heapprof::cli
