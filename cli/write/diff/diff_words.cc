// cli/write/diff/diff_words.cc: text and Markdown use the same sentences.
//
// A place has a name in each profile: the current one's is used, or the base's if the place is gone. Callers are named
// as far as all changed stacks share them. Where they differ, each caller is shown with its share of the change,
// because no single caller is the cause.
#include "cli/write/diff/diff_words.h"

#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/profile/frame_text.h"
#include "cli/write/diff/names_section.h"
#include "cli/write/diff/scopes_section.h"
#include "cli/write/text/fold_text.h"
#include "cli/write/text/metric_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace heapprof::cli {
namespace {

Change change_of(const MatchedStack& stack, Metric metric) {
  return {stack.numbers[kBase].metric(metric), stack.numbers[kCurrent].metric(metric)};
}

// "1 %" for 1 in 100, with as many decimals as needed.
std::string share_text(const Ratio& share) {
  std::string text = fmt::format("{:.6f}", 100.0 * static_cast<double>(share.part) / static_cast<double>(share.whole));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " %";
}

std::string percent_without_sign(const Change& change) {
  const std::string text = format_change_percent(change);
  const size_t sign = text.starts_with('+') ? 1 : text.starts_with("−") ? std::string_view("−").size() : 0;
  return text.substr(sign);
}

}  // namespace

std::string number_text(const DiffView& view, Metric metric, uint64_t number) {
  if (!is_in_bytes(metric)) return view.exact_bytes ? format_count_exact(number) : format_count(number);
  return view.exact_bytes ? format_bytes_exact(number) : format_bytes(number);
}

std::string resident_text(const DiffView& view, std::optional<uint64_t> bytes) {
  return bytes ? number_text(view, Metric::kPeak, *bytes) : "-";
}

std::string change_text(const DiffView& view, Metric metric, const Change& change) {
  if (!is_in_bytes(metric)) return format_change_count(change);
  return view.exact_bytes ? format_change_bytes_exact(change) : format_change_bytes(change);
}

std::string noise_text(const BySide<std::vector<RunTotals>>& runs, const Ratio& noise) {
  std::string counts;
  for (const Side side : kSides) {
    if (runs[side].size() < 2) continue;
    counts +=
        fmt::format("{}{} {} runs", counts.empty() ? "" : ", ", runs[side].size(), side == kBase ? "base" : "current");
  }
  if (counts.empty()) return "";
  const std::string share = noise.part == 0    ? "0 %"
                            : noise.whole == 0 ? "more than their median"
                                               : percent_without_sign({noise.whole, noise.whole + noise.part});
  return fmt::format("±{} ({})", share, counts);
}

DiffWords::DiffWords(const TwoProfiles& two, const DiffView& view)
    : two_(two),
      view_(view),
      names_{FrameNames(*two.profiles[kBase], two.diff.trees[kBase]),
             FrameNames(*two.profiles[kCurrent], two.diff.trees[kCurrent])},
      live_(live_word(*two.profiles[kBase])) {
  const bool has_moment = two.profiles[kBase]->is_moment || two.profiles[kCurrent]->is_moment;
  if (live_word(*two.profiles[kCurrent]) != live_) live_ = has_moment ? kLiveThen : kLiveAtEnd;
}

std::string DiffWords::metric(Metric metric) const { return std::string(shown_metric(metric, live_)); }

std::string DiffWords::value(Metric metric, uint64_t number) const { return number_text(view_, metric, number); }

std::string DiffWords::change(Metric metric, const Change& change) const { return change_text(view_, metric, change); }

std::string DiffWords::explained(const DiffSection& section) const {
  const auto amount = static_cast<uint64_t>(section.explained < 0 ? -section.explained : section.explained);
  return change(section.row.metric, section.explained < 0 ? Change{amount, 0} : Change{0, amount});
}

std::string DiffWords::slack(Metric metric) const {
  const Tolerance& tolerance = view_.tolerance;
  return fmt::format("{} or {}", share_text(tolerance.share),
                     is_in_bytes(metric) ? format_bytes(tolerance.slack(metric))
                                         : format_count(tolerance.slack(metric)) + " allocations");
}

std::string DiffWords::function(const PlaceChange& place) const {
  const Side side = named_side(place);
  if (place.frame[side] == kNoFrame) return std::string(kNoStackText);
  return place.is_by_module ? "[no names]" : names_[side].function(place.frame[side]);
}

std::string DiffWords::location(const ChangedFrame& changed) const {
  const std::string at = changed.frame == kNoFrame ? "" : names_[changed.side].location(changed.frame);
  return changed.side == kCurrent ? at : at.empty() ? "(base)" : at + " (base)";
}

std::string DiffWords::callers(const PlaceChange& place, Metric metric, bool with_locations, size_t columns) const {
  const std::vector<uint32_t> order = rank_stacks(place, metric);
  if (order.empty()) return "";
  struct Path {
    Side side;
    uint32_t node;
    uint64_t weight;
  };
  std::vector<Path> paths;
  CallerChain chain;
  for (const uint32_t i : order) {
    const MatchedStack& stack = place.stacks[i];
    const Side side = stack.is_in[kCurrent] ? kCurrent : kBase;
    paths.push_back({side, two_.diff.trees[side].place_node[stack.node[side]], change_of(stack, metric).amount()});
    chain.weight += paths.back().weight;
  }
  const Side side = paths[0].side;
  const auto function = [this](const Path& path) {
    return path.node == 0 ? "" : names_[path.side].function(two_.profiles[path.side]->nodes[path.node].frame);
  };
  constexpr size_t kLongestChain = 64;  // a line holds far fewer
  while (chain.frames.size() < kLongestChain) {
    std::map<std::string, Path> callers;  // by name, with the sum of the weights of its paths
    for (Path& path : paths) {
      const std::string callee = function(path);
      while (path.node != 0 && function(path) == callee)
        path.node = two_.diff.trees[path.side].user_node[two_.profiles[path.side]->nodes[path.node].parent];
      Path& caller = callers.emplace(function(path), Path{path.side, path.node, 0}).first->second;
      caller.weight += path.weight;
      if (path.side == side) caller.side = side, caller.node = path.node;
    }
    const bool is_one = callers.size() == 1;
    callers.erase("");
    if (callers.empty()) break;
    for (const auto& [name, caller] : callers) {
      if (is_one) chain.frames.push_back(two_.profiles[side]->nodes[paths[0].node].frame);
      if (!is_one && caller.side == side)
        chain.shares.push_back({two_.profiles[side]->nodes[caller.node].frame, caller.weight});
    }
    if (is_one) continue;
    chain.unnamed_shares = callers.size() - chain.shares.size();
    std::stable_sort(chain.shares.begin(), chain.shares.end(),
                     [](const CallerShare& a, const CallerShare& b) { return a.weight > b.weight; });
    break;
  }
  return callers_text(names_[side], chain, with_locations, columns);
}

namespace {

// Why the place has a larger peak although it does not allocate more: ": as many blocks, but they live longer (44 →
// 146,047 at once)".
std::string lives_text(const PlaceChange& place, Metric metric) {
  constexpr uint64_t kLeastBlocks = 100;
  const PlaceNumbers& base = place.numbers[kBase];
  const PlaceNumbers& current = place.numbers[kCurrent];
  const uint64_t more = distance(current.total_blocks, base.total_blocks);
  if (metric != Metric::kPeak || base.total_blocks < kLeastBlocks || more > base.total_blocks / 20) return "";
  if (base.peak_blocks == 0 || current.peak_blocks / 2 < base.peak_blocks) return "";
  return fmt::format(": as many blocks, but they live longer ({} → {} at once)", format_count(base.peak_blocks),
                     format_count(current.peak_blocks));
}

}  // namespace

// The place that explains at least half of the change; if no place does alone, the one that changed most in that
// direction, with its part.
std::string DiffWords::culprit(const DiffSection& section) const {
  const Metric metric = section.row.metric;
  const Change whole = section.row.change;
  for (const uint32_t i : section.places) {
    const PlaceChange& place = section.device->places[i];
    const Change change = place.change(metric);
    if (change.is_growth() != whole.is_growth()) continue;
    std::string where = function(place);
    if (const ChangedFrame& changed = section.changed_frames[i]; changed.frame != kNoFrame) {
      const std::string at = names_[changed.side].short_location(changed.frame);
      if (!at.empty()) where += " (" + at + (changed.side == kBase ? " in the base)" : ")");
    }
    where += lives_text(place, metric);
    if (change.amount() >= whole.amount()) return ", in " + where;
    if (change.amount() >= whole.amount() - whole.amount() / 2) return ", mostly in " + where;
    return fmt::format(", {} of it in {}", this->change(metric, change), where);
  }
  return "";
}

std::string DiffWords::sentence(const DiffSection& section) const {
  const MetricRow& row = section.row;
  const std::string subject = fmt::format("{} {}", escape_controls(row.device), metric(row.metric));
  const std::string change = this->change(row.metric, row.change);
  std::string verb;
  if (row.change.base == 0) {
    verb = fmt::format("is new: {}", value(row.metric, row.change.current));
  } else if (row.change.current == 0) {
    verb = fmt::format("is gone: {}", change);
  } else {
    verb = fmt::format("{} {}", row.change.is_growth() ? "grew" : "fell", percent_without_sign(row.change));
  }
  return fmt::format("{} {}{}.", subject, verb, culprit(section));
}

// "2 places (host peak)": the places that changed beyond the tolerance, in the first section that has any.
std::string DiffWords::changed_places(const std::vector<DiffSection>& sections) const {
  for (const DiffSection& section : sections) {
    const size_t count = rank_changes(*section.device, section.row.metric, view_.tolerance).size();
    if (count != 0)
      return fmt::format("{} ({} {})", format_counted(count, "place"), escape_controls(section.row.device),
                         metric(section.row.metric));
  }
  return "";
}

std::vector<std::string> DiffWords::sentences(const std::vector<DiffSection>& sections) const {
  std::vector<std::string> result;
  std::vector<const DiffSection*> changed;
  for (const DiffSection& section : sections) {
    if (!section.row.is_within()) changed.push_back(&section);
  }
  for (const DiffSection* section : changed) result.push_back(sentence(*section));
  if (!result.empty()) return result;
  for (const MetricRow& row : metric_rows(two_, view_)) {
    if (view_.sort && row.metric != *view_.sort) continue;
    if (row.is_within()) continue;
    DiffSection bare;  // the total changed beyond the tolerance, but no single place did
    bare.row = row;
    result.push_back(sentence(bare));
  }
  if (result.empty()) {
    const bool has_scopes = !find_scopes(two_, view_, 1).scopes.empty();
    const bool has_names = !find_name_changes(two_, view_, 1).changes.empty();
    if (const std::string places = changed_places(sections); !places.empty()) {
      std::vector<std::string> differing = {places};
      if (has_names) differing.emplace_back("names");
      if (has_scopes) differing.emplace_back("scopes");
      std::string list = differing[0];
      for (size_t i = 1; i < differing.size(); ++i) list += (i + 1 == differing.size() ? " and " : ", ") + differing[i];
      const bool is_one = differing.size() == 1 && places.starts_with("1 ");
      return {fmt::format("no total differs by more than {}, but {} {}.", slack(view_.sort.value_or(Metric::kPeak)),
                          list, is_one ? "does" : "do")};
    }
    std::string beside = has_names ? " beside names" : "";
    if (has_scopes) beside += has_names ? " and scopes" : " beside scopes";
    result.push_back(fmt::format("no change{}: nothing{} differs by more than {}.", beside,
                                 beside.empty() ? "" : " else", slack(view_.sort.value_or(Metric::kPeak))));
  }
  return result;
}

std::vector<std::string> DiffWords::remarks() const {
  std::vector<std::string> result;
  for (const DeviceChange& device : two_.diff.devices) {
    if (device.is_in[kBase] == device.is_in[kCurrent] || (!view_.device.empty() && view_.device != device.name))
      continue;
    result.push_back(
        fmt::format("{} is in {} only.", escape_controls(device.name), device.is_in[kBase] ? "base" : "current"));
  }
  const std::vector<MetricRow> rows = metric_rows(two_, view_);
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const MetricRow& it) { return it.metric == view_.sort.value_or(Metric::kPeak); });
  if (row != rows.end()) {
    if (const std::string noise = noise_text(two_.runs, row->noise); !noise.empty())
      result.push_back(
          fmt::format("Runs differ by {} in {} {}.", noise, escape_controls(row->device), metric(row->metric)));
  }
  for (const Side side : kSides) {
    if (!two_.profiles[side]->merged.empty())
      result.push_back(fmt::format("{} is merged: its peaks are sums of peaks at different moments.",
                                   side == kBase ? "base" : "current"));
  }
  std::vector<std::string> folded;
  for (const Side side : kSides) {
    for (std::string& name : find_folded_names(*two_.profiles[side])) {
      if (std::find(folded.begin(), folded.end(), name) == folded.end()) folded.push_back(std::move(name));
    }
  }
  constexpr size_t kColumns = 80;
  if (!folded.empty()) result.push_back(folded_text(folded, kColumns));
  return result;
}

}  // namespace heapprof::cli
