// cli/write/report/lost_words.h: texts about the owners of lost memory (run --leak-check), and the advice.
//
// Guarantees
//  - The advice names a non-owning pointer (std::weak_ptr, Weak) only for languages that have it.
#pragma once

#include "cli/model/analysis/findings.h"
#include "cli/write/report/findings_words.h"
#include "cli/write/text/place_text.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

// pre of all functions with a finding: finding.owners is not 0; of those about cycles, also finding.is_cycle

// "51.3 MiB lost in 36 cycles"
std::string cycle_head(const Finding& finding, bool exact_bytes);
// "1.00 KiB each, of the 20 that the same stacks made; no pointer reached them when the program ended".
std::string unreached_words(const std::string& each, const Finding& finding);
// How the owners point to each other, and what they own; without a full stop.
std::string owner_detail(const Finding& finding, const FrameNames& names, bool exact_bytes);
// "let one of them point without owning (std::weak_ptr)"
std::string cycle_remedy(Language language, bool is_counted);
// As finding_sentence(), for an owner that owns more than itself.
std::string owner_sentence(const Profile& profile, const Finding& finding, const FrameNames& names,
                           size_t word_columns);
// "with Node::attach (scene.cc:21)": the other places of a cycle whose first place is shown; "in a cycle" if it has one
// place. `frames`: kNoModule is a stack without a frame.
std::string cycle_remark(const FrameNames& names, const std::vector<uint32_t>& frames, bool with_location);

}  // namespace heapprof::cli
