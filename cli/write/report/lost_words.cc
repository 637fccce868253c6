// cli/write/report/lost_words.cc: a cycle is named by the places whose blocks point to each other, because one of these
// pointers has to change. Two places are named: a longer list would not be read.
//
// Making one pointer non-owning is the whole advice only if a reference-counting pointer was seen: a doubly linked list
// is a cycle, too, and is lost because its last owner went without freeing it.
#include "cli/write/report/lost_words.h"

#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/findings_words.h"

#include <fmt/format.h>

namespace heapprof::cli {
namespace {

constexpr size_t kMostNamed = 1;  // besides the first place

std::string lost_amount(uint64_t bytes, bool exact_bytes) {
  return exact_bytes ? format_bytes_exact(bytes) : format_bytes(bytes);
}

// ", B" or " and B": the other places of a cycle, each by name(frame).
template <typename Name>
std::string other_places(const std::vector<uint32_t>& frames, const Name& name) {
  if (frames.empty()) return "";
  if (frames.size() <= kMostNamed) return " and " + name(frames[0]);
  return fmt::format(", {} and {} more", name(frames[0]), frames.size() - kMostNamed);
}

std::string short_place(const FrameNames& names, uint32_t frame, bool with_location = true) {
  constexpr size_t kMost = 48;
  if (frame == kNoModule) return "code without a stack";
  const std::string where = with_location ? names.short_location(frame) : "";
  return shorten_function(names.function(frame), kMost) + (where.empty() ? "" : " (" + where + ")");
}

// "std::weak_ptr"; empty if the language has no such pointer.
std::string unowning_pointer(Language language) {
  switch (language) {
    case Language::kCpp: return "std::weak_ptr";
    case Language::kRust: return "Weak";
    case Language::kPython: return "weakref";
    case Language::kC:
    case Language::kOther: return "";
  }
  return "";
}

}  // namespace

std::string cycle_head(const Finding& finding, bool exact_bytes) {
  return fmt::format("{} lost in {}", lost_amount(finding.cost_bytes, exact_bytes),
                     format_counted(finding.owners, "cycle"));
}

std::string unreached_words(const std::string& each, const Finding& finding) {
  const std::string of = finding.all_blocks == 1
                             ? ", the only one that the same stack made"
                             : fmt::format("{}, of the {} that the same stacks made",
                                           finding.cost_blocks == 1 ? "" : " each", format_count(finding.all_blocks));
  return each + of + "; no pointer reached " + (finding.cost_blocks == 1 ? "it" : "them") + " when the program ended";
}

std::string owner_detail(const Finding& finding, const FrameNames& names, bool exact_bytes) {
  const std::string each = lost_amount(finding.each_bytes, exact_bytes);
  if (finding.is_cycle) {
    const auto name = [&](uint32_t frame) { return short_place(names, frame); };
    const std::string who =
        finding.cycle_frames.empty()
            ? "blocks of this place point to each other"
            : "blocks of this place" + other_places(finding.cycle_frames, name) + " point to each other";
    return fmt::format(
        "{}, and nothing else pointed to them when the program ended; with what only they lead to they "
        "are {}, {} on average",
        who, format_counted(finding.cost_blocks, "block"), each);
  }
  if (finding.owners < finding.cost_blocks)
    return fmt::format(
        "no pointer reached {} of them when the program ended, and only from there to the others; {} on "
        "average",
        format_count(finding.owners), each);
  return unreached_words(each, finding);
}

std::string cycle_remedy(Language language, bool is_counted) {
  const std::string pointer = unowning_pointer(language);
  const std::string free_them = "free them after their last use";
  if (pointer.empty()) return free_them;
  const std::string weak = "let one of them point without owning (" + pointer + ")";
  return is_counted ? weak : free_them + ", or " + weak;
}

std::string owner_sentence(const Profile& profile, const Finding& finding, const FrameNames& names,
                           size_t word_columns) {
  const auto name = [&](uint32_t frame) { return place_words(profile, names, frame, finding.device, word_columns); };
  const std::string at = name(finding.has_frame ? finding.frame : kNoModule);
  const std::string cost = format_bytes(finding.cost_bytes);
  if (!finding.is_cycle)
    return fmt::format(
        "{} lost {}, with what only {} to {} in {}: no pointer leads to them any more; free them "
        "after their last use",
        at, format_counted(finding.owners, "block"), finding.owners == 1 ? "it leads" : "they lead", cost,
        format_counted(finding.cost_blocks, "block"));
  const std::string who =
      finding.cycle_frames.empty() ? "blocks of " + at : at + other_places(finding.cycle_frames, name);
  return fmt::format("{} point to each other: {} lost in {}; {}", who, cost, format_counted(finding.owners, "cycle"),
                     cycle_remedy(language_of(profile, finding), finding.is_counted));
}

std::string cycle_remark(const FrameNames& names, const std::vector<uint32_t>& frames, bool with_location) {
  if (frames.empty()) return "in a cycle";
  std::string text = "with " + short_place(names, frames[0], with_location);
  if (frames.size() > kMostNamed) text += fmt::format(" and {} more", frames.size() - kMostNamed);
  return text;
}

}  // namespace heapprof::cli
