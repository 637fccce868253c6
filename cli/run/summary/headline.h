// cli/run/summary/headline.h: which process, or program image, of a run the summary is about: the one with the largest
// peak.
//
// What counts is what people call memory: the peaks of the heap and of mapped memory added, or a GPU's peak if that is
// larger.
//
// Guarantees
//  - Every process that was profiled is compared, also those for which the tree had no room.
//  - The program that was started, in its last image, is left for a larger peak only, not for one as large.
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
  std::optional<SavedProfile> other;  // with the largest peak; none: the program that was started
  bool is_image = false;              // it is a program that the started process left by exec
  bool is_largest = true;             // false: a larger one could not be written
  size_t processes = 1;               // profiled, with the one that was started
  size_t images = 1;                  // of the started process
};

// `others`: everything but the last image of the started program, `root`.
Headline choose_headline(const SavedProfile& root, const std::vector<SavedProfile>& others);

// The profile of headline.other, from its file; none: there is no other.
Result<std::optional<Profile>> read_other(const Headline& headline);

// "the largest of 3 processes: sort big.txt, pid 4712; sh, which was started, peaked at 1.65 KiB: FILE": one line, or a
// few where the terminal is narrow; empty if the headline is the started program.
std::string headline_text(const Headline& headline, const SavedProfile& root, size_t columns);

// What the started program's profile keeps of the others: the largest, by peak.
inline constexpr size_t kMostKept = 100;
void keep_processes(const std::vector<SavedProfile>& others, const std::string& root_path, RunInfo* run);

}  // namespace heapprof::cli
