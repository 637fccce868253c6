// cli/run/summary/summary.h: what `heapprof run` prints at exit: how much memory, when, which function, what leaked.
//
// Guarantees
//  - No line is wider than the terminal, as far as numbers allow.
//  - It always says how the program that was started ended, and how many events were lost.
//  - The tables show the process, or image, with the largest peak, and name it.
#pragma once

#include "cli/base/terminal.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"
#include "cli/run/finisher.h"
#include "cli/run/process_tree.h"
#include "cli/run/run.h"
#include "cli/run/summary/headline.h"
#include "cli/run/summary/summary_places.h"
#include "cli/write/report/conclusion.h"
#include "cli/write/report/device_choice.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// The parts of a summary that need the profile alone: they can be made before the profile has its file. Keeps a
// reference to the profile.
struct SummaryParts {
  // tree: the profile's, with folded functions.
  SummaryParts(const Profile& profile, PlaceTree tree);
  explicit SummaryParts(const Profile& profile) : SummaryParts(profile, build_place_tree(profile)) {}
  SummaryParts(const SummaryParts&) = delete;
  SummaryParts& operator=(const SummaryParts&) = delete;

  const PlaceTree tree;
  const DeviceChoice devices;
  const Conclusion conclusion;
  const PlaceSections places;
};

struct SummaryInput {
  const Profile& profile;
  std::string file;
  uint64_t file_bytes = 0;
  std::vector<SavedProfile> images = {};  // of the program itself, before an exec
  const ProcessTree* tree = nullptr;
  const Headline* headline = nullptr;   // null: the summary is about the program that was started
  const Profile* shown = nullptr;       // of headline->other
  const SavedProfile* saved = nullptr;  // of the program that was started; with a headline
  const SummaryParts* parts = nullptr;  // of the shown profile; null: they are made
};

std::string render_summary(const SummaryInput& input, const Terminal& terminal);

// For stderr, depending on the flags: the whole, or the warnings alone.
std::string summary_text(const SummaryInput& input, const RunOptions& options);

}  // namespace heapprof::cli
