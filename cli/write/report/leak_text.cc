// cli/write/report/leak_text.cc: one sentence says whether there is a leak, a table shows where. Possibly lost memory
// is shown, but in no total: most of it belongs to libraries that keep pointers to the middle of blocks.
#include "cli/base/file_name.h"
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/lost_owners.h"
#include "cli/write/report/lost_words.h"
#include "cli/write/report/report_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>

namespace heapprof::cli {
namespace {

uint64_t lost_bytes(const SiteNumbers& numbers) {
  return add_saturating(numbers.lost_bytes, numbers.indirectly_lost_bytes);
}
uint64_t lost_blocks(const SiteNumbers& numbers) {
  return add_saturating(numbers.lost_blocks, numbers.indirectly_lost_blocks);
}

std::string amount(uint64_t bytes, uint64_t blocks, const LeakView& view) {
  return fmt::format("{} in {}", view.exact_bytes ? format_bytes_exact(bytes) : format_bytes(bytes),
                     format_counted(blocks, "block"));
}

// The remedy if the kernel refused because heapprof may not trace the program; else empty.
std::string remedy_of(const std::string& reason) {
  const bool is_refused =
      reason.find("ptrace") != std::string::npos || reason.find("process_vm_readv") != std::string::npos;
  return is_refused ? "; let heapprof trace (docker run --cap-add SYS_PTRACE), or use valgrind --leak-check=full" : "";
}

// The places that lost memory.
std::vector<uint32_t> rank_lost(const std::vector<Place>& places) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < places.size(); ++i) {
    if (lost_blocks(places[i].numbers) != 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return lost_bytes(places[a].numbers) > lost_bytes(places[b].numbers);
  });
  return order;
}

CallerChain callers_of(const Profile& profile, const PlaceTree& tree, const Device& device, const Place& place) {
  std::vector<WeightedSite> sites;
  for (const uint32_t index : place.sites) {
    const Site& site = device.sites[index];
    if (site.suppressed_by == 0 && lost_blocks(site.numbers) != 0) sites.push_back({index, lost_bytes(site.numbers)});
  }
  return find_callers(profile, tree, device, sites);
}

// The columns before a place.
std::vector<std::string> lost_columns(uint64_t bytes, uint64_t blocks, uint64_t all_bytes, const LeakView& view) {
  return {view.exact_bytes ? format_bytes_exact(bytes) : format_bytes(bytes),
          format_percent({std::min(bytes, all_bytes), all_bytes}), format_counted(blocks, "block")};
}

std::string shown_of(size_t shown, size_t all, const char* what) {
  return shown < all ? fmt::format("top {} of {} {}s", shown, all, what) : format_counted(all, what);
}

// pre: the story outlives the line
PlaceLine line_of_story(const LostStory& story, const FrameNames& names, bool with_location) {
  PlaceLine line;
  if (story.frames.empty()) {
    line.function = "[others]";
    return line;
  }
  Place place;
  place.has_frame = story.frames[0] != kNoModule;
  if (place.has_frame) place.frame = story.frames[0];
  line.function = names.place_function(place);
  line.location = names.place_location(place);
  if (story.is_cycle) {
    line.remark = cycle_remark(names, {story.frames.begin() + 1, story.frames.end()}, with_location);
  } else {
    line.callers = &story.callers;
  }
  return line;
}

// Returns false if a remark did not fit.
bool lay_out_stories(std::span<const LostStory> stories, uint64_t all_bytes, const FrameNames& names,
                     const LeakView& view, bool with_location, std::string* rows) {
  std::vector<PlaceLine> lines;
  for (const LostStory& story : stories) {
    lines.push_back(line_of_story(story, names, with_location));
    lines.back().numbers = lost_columns(story.bytes, story.blocks, all_bytes, view);
  }
  size_t function_column = 0;
  const std::vector<std::string> texts = lay_out(names, lines, view.indent, view.columns, &function_column);
  bool has_all = true;
  rows->clear();
  for (size_t i = 0; i < texts.size(); ++i) {
    *rows += texts[i] + "\n";
    has_all = has_all && texts[i].ends_with(lines[i].remark);
  }
  return has_all;
}

// If the other place of a cycle does not fit with its line, only its function is shown.
LostPlaces owner_rows(const std::vector<LostStory>& stories, uint64_t all_bytes, const FrameNames& names,
                      const LeakView& view) {
  LostPlaces result;
  const size_t shown = std::min(stories.size(), view.most_places);
  result.remark = shown_of(shown, stories.size(), "owner");
  const std::span<const LostStory> first = std::span(stories).first(shown);
  if (!lay_out_stories(first, all_bytes, names, view, true, &result.rows))
    lay_out_stories(first, all_bytes, names, view, false, &result.rows);
  return result;
}

// All reachable bytes, suppressed or not: holders are not recorded by site.
uint64_t reachable_in_all(const Device& device) {
  uint64_t bytes = 0;
  for (const Site& site : device.sites) bytes = add_saturating(bytes, site.numbers.reachable_bytes);
  return bytes;
}

// The largest holders: those with 1 % of the reachable bytes, or with view.has_small all.
std::span<const Holder> main_holders(const Device& device, uint64_t reachable_bytes, const LeakView& view) {
  constexpr uint64_t kLeastPart = 100;
  const uint64_t least_bytes = view.has_small ? 1 : std::max<uint64_t>(1, reachable_bytes / kLeastPart);
  size_t shown = 0;
  while (shown < std::min(device.held_by.size(), view.most_places) && device.held_by[shown].bytes >= least_bytes)
    ++shown;
  return std::span(device.held_by).first(shown);
}

// The place that allocated half or more of what the holder holds: "mostly Cache::add (cache.cc:31)"; empty if no place
// did.
std::string main_place_of(const Profile& profile, const PlaceTree& tree, const FrameNames& names,
                          const Holder& holder) {
  std::map<uint32_t, uint64_t> bytes_of;  // by frame
  for (const OwnerPart& part : holder.parts) {
    const uint32_t place = tree.place_node[part.node];
    if (place != 0) bytes_of[profile.nodes[place].frame] += part.bytes;
  }
  const auto largest = std::max_element(bytes_of.begin(), bytes_of.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (largest == bytes_of.end() || largest->second < holder.bytes / 2) return "";
  constexpr size_t kMost = 40;
  const std::string where = names.short_location(largest->first);
  return fmt::format("mostly {}{}", shorten_function(names.function(largest->first), kMost),
                     where.empty() ? "" : " (" + where + ")");
}

}  // namespace

LostPlaces held_places(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       const LeakView& view) {
  const uint64_t all = reachable_in_all(device);
  LostPlaces result;
  const std::span<const Holder> shown = main_holders(device, all, view);
  std::vector<PlaceLine> lines;
  for (const Holder& holder : shown) {
    PlaceLine line;
    line.numbers = lost_columns(holder.bytes, holder.blocks, all, view);
    line.function = holder_words(holder);
    line.location = escape_controls(base_name(holder.module));
    line.remark = main_place_of(profile, tree, names, holder);
    lines.push_back(std::move(line));
  }
  result.remark = shown_of(shown.size(), device.held_by.size(), "holder");
  if (sum_of_sites(device).reachable_bytes < all) result.remark += ", of what is suppressed, too";
  size_t function_column = 0;
  for (const std::string& line : lay_out(names, lines, view.indent, view.columns, &function_column))
    result.rows += line + "\n";
  return result;
}

std::string leak_lines(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const LeakView& view) {
  constexpr size_t kFront = 6;
  const LeakJudgement& check = profile.run.leak_check;
  if (!check.is_asked || profile.devices.empty()) return "";
  const Wrapping wrapping{kFront, kFront, view.columns};
  if (!check.is_made)
    return "lost  " + wrapped("not judged: " + escape_controls(check.reason) + remedy_of(check.reason), wrapping) +
           "\n";
  const Device& host = profile.devices[0];
  const PlaceNumbers sum = sum_of_sites(host);
  std::string text = lost_blocks(sum) == 0 ? "nothing" : amount(lost_bytes(sum), lost_blocks(sum), view);
  if (sum.indirectly_lost_blocks != 0)
    text += fmt::format(", {} of them by way of others", format_count(sum.indirectly_lost_blocks));
  if (sum.possibly_lost_blocks != 0)
    text += "; possibly lost " + amount(sum.possibly_lost_bytes, sum.possibly_lost_blocks, view);
  if (sum.reachable_blocks != 0) text += "; still reachable " + amount(sum.reachable_bytes, sum.reachable_blocks, view);
  const bool is_all_told = sum.reachable_bytes == reachable_in_all(host);
  if (is_all_told && !host.held_by.empty() && host.held_by[0].bytes >= std::max<uint64_t>(1, sum.reachable_bytes / 3))
    text += fmt::format(", {} of them held by {}", format_percent({host.held_by[0].bytes, sum.reachable_bytes}),
                        holder_words(host.held_by[0]));
  const uint64_t judged = lost_blocks(sum) + sum.possibly_lost_blocks + sum.reachable_blocks;
  if (judged < sum.leaked_blocks)
    text += fmt::format("; not judged: {}", format_counted(sum.leaked_blocks - judged, "block"));
  if (check.unread_bytes != 0) {
    text += fmt::format("; {} of its memory could not be read",
                        view.exact_bytes ? format_bytes_exact(check.unread_bytes) : format_bytes(check.unread_bytes));
  }
  if (!check.reason.empty()) text += "; " + escape_controls(check.reason);
  text = "lost  " + wrapped(text, wrapping) + "\n";
  const std::string rows = lost_places(profile, tree, names, host, view).rows;
  return text + rows;
}

LostPlaces lost_places(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       const LeakView& view) {
  const uint64_t all = lost_bytes(sum_of_sites(device));
  if (const std::vector<LostStory> stories = find_lost_stories(profile, tree, device); !stories.empty())
    return owner_rows(stories, all, names, view);
  LostPlaces result;
  const std::vector<Place> places = find_places(profile, tree, device);
  const std::vector<uint32_t> order = rank_lost(places);
  const size_t shown = std::min(order.size(), view.most_places);
  result.remark = shown_of(shown, order.size(), "place");
  std::vector<CallerChain> chains;
  chains.reserve(shown);
  std::vector<PlaceLine> lines;
  for (size_t i = 0; i < shown; ++i) {
    const Place& place = places[order[i]];
    PlaceLine line;
    line.numbers = lost_columns(lost_bytes(place.numbers), lost_blocks(place.numbers), all, view);
    line.function = names.place_function(place);
    line.location = names.place_location(place);
    chains.push_back(callers_of(profile, tree, device, place));
    line.callers = &chains.back();
    lines.push_back(std::move(line));
  }
  size_t function_column = 0;
  for (const std::string& line : lay_out(names, lines, view.indent, view.columns, &function_column))
    result.rows += line + "\n";
  return result;
}

}  // namespace heapprof::cli
