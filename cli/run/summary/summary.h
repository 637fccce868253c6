// cli/run/summary/summary.h: what `heapprof run` prints at exit: how much memory was used, when, by which functions,
// and what leaked.
//
// Guarantees
//  - No line is wider than the terminal, unless its numbers alone are.
//  - It always says how the program that was started ended, and how many events were lost.
//  - The tables are about the process, or image, with the largest peak, and name it.
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

// The parts of a summary that need only the profile, so they can be made before the profile is written. Keeps a
// reference to the profile.
struct SummaryParts {
  // tree: the profile's place tree, in which wrapper functions are folded.
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
  std::vector<SavedProfile> images = {};  // earlier images of the program that was started
  const ProcessTree* tree = nullptr;
  const Headline* headline = nullptr;   // null: the summary is about the program that was started
  const Profile* shown = nullptr;       // the profile of headline->other
  const SavedProfile* saved = nullptr;  // the saved profile of the program that was started; set if headline is
  const SummaryParts* parts = nullptr;  // of the shown profile; null: they are made here
};

std::string render_summary(const SummaryInput& input, const Terminal& terminal);

// The text for stderr. Depending on the flags it is the whole summary, only the warnings, or empty.
std::string summary_text(const SummaryInput& input, const RunOptions& options);

}  // namespace heapprof::cli
