// cli/run/summary/headline.h: which process, or program image, of a run the summary is about: the one with the largest
// peak.
//
// The peaks of the heap and of mapped memory are added; if a GPU's peak is larger, that counts.
//
// Guarantees
//  - Every profiled process is compared, also those for which the tree had no room.
//  - The last image of the program that was started gives way to a larger peak only, not to an equal one.
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
  std::optional<SavedProfile> other;  // with the largest peak; nullopt: the program that was started
  bool is_image = false;              // it is an image that the started process left by exec
  bool is_largest = true;             // false: a larger one could not be written
  size_t processes = 1;               // profiled, with the one that was started
  size_t images = 1;                  // of the started process
};

// `others`: everything but the last image of the started program, `root`.
Headline choose_headline(const SavedProfile& root, const std::vector<SavedProfile>& others);

// The profile of headline.other, from its file; nullopt: no other.
Result<std::optional<Profile>> read_other(const Headline& headline);

// "the largest of 3 processes: sort big.txt, pid 4712; sh, which was started, peaked at 1.65 KiB: FILE": one line, or a
// few where the terminal is narrow; empty if the headline is the started program.
std::string headline_text(const Headline& headline, const SavedProfile& root, size_t columns);

// The started program's profile lists the largest of the others, by peak.
inline constexpr size_t kMostKept = 100;
void keep_processes(const std::vector<SavedProfile>& others, const std::string& root_path, RunInfo* run);

}  // namespace heapprof::cli
