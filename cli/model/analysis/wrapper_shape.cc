// cli/model/analysis/wrapper_shape.cc: one pass over the sites finds the functions with enough bytes; each of these is
// examined separately, until the first condition that fails.
//
// Sums are wider than 64 bits, so that they do not saturate. If they saturated, a forged profile could have a million
// functions with a quarter each.
#include "cli/model/analysis/wrapper_shape.h"

#include "cli/base/function_name.h"
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/site_fields.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace heapprof::cli {
namespace {

constexpr uint64_t kShare = 4;              // at least one part in so many of the bytes is its own
constexpr uint64_t kLargeObject = 4 << 10;  // bytes

// The least numbers that must be observed, for a function whose name says nothing (kOfAny), and for one whose name says
// that it allocates (kOfNamed).
struct Needed {
  size_t callers;
  size_t steady_callers;  // callers that got blocks of one size in each stack
  size_t sizes;
  uint64_t blocks;
};
constexpr Needed kOfAny = {8, 5, 4, 1'000};
constexpr Needed kOfNamed = {3, 2, 2, 6};

struct CallerSizes {
  bool has_steady = false;
  bool has_other = false;  // blocks of several sizes in one stack
};

// The smallest and largest block; other tools' profiles have only the mean.
struct SizeRange {
  uint64_t smallest_bytes = UINT64_MAX;
  uint64_t largest_bytes = 0;

  void add(const SizedNumbers& numbers) {
    const uint64_t mean_bytes = numbers.total_blocks == 0 ? 0 : numbers.total_bytes / numbers.total_blocks;
    smallest_bytes = std::min(smallest_bytes, has_sizes(numbers) ? numbers.smallest_bytes : mean_bytes);
    largest_bytes = std::max(largest_bytes, has_sizes(numbers) ? numbers.largest_bytes : mean_bytes);
  }
  bool is_one() const { return smallest_bytes == largest_bytes; }
};

}  // namespace

void OwnBlocks::Sums::add(const Site& site) {
  peak_bytes += site.numbers.peak_bytes;
  total_bytes += site.numbers.total_bytes;
  leaked_bytes += site.numbers.leaked_bytes;
}

bool OwnBlocks::Sums::is_quarter_of(const Sums& all) const {
  const auto is_part = [](Wide part, Wide whole) { return part != 0 && part * kShare >= whole; };
  return is_part(peak_bytes, all.peak_bytes) || is_part(total_bytes, all.total_bytes) ||
         is_part(leaked_bytes, all.leaked_bytes);
}

OwnBlocks::OwnBlocks(const Profile& profile, const PlaceTree& tree)
    : profile_(profile), tree_(tree), all_(profile.devices.size()), seen_(profile.nodes.size(), 0) {
  for (uint32_t device = 0; device < profile.devices.size(); ++device) {
    const std::vector<Site>& sites = profile.devices[device].sites;
    for (uint32_t i = 0; i < sites.size(); ++i) {
      all_[device].add(sites[i]);
      const uint32_t node = tree.place_node[sites[i].node];
      if (node == 0 || tree.kinds[profile.nodes[node].frame] != FrameKind::kUser) continue;
      std::vector<Part>& parts = parts_[tree.functions[profile.nodes[node].frame]];
      if (parts.empty() || parts.back().device != device) parts.push_back({device, {}, {}});
      parts.back().sums.add(sites[i]);
      parts.back().sites.push_back(i);
    }
  }
}

std::vector<uint32_t> OwnBlocks::find_wrappers() {
  std::vector<uint32_t> wrappers;
  for (const auto& [function, parts] : parts_) {
    for (const Part& part : parts) {
      if (is_reserved_device(profile_.devices[part.device].name) || !part.sums.is_quarter_of(all_[part.device]))
        continue;
      const Look here = look_at(function, part);
      if (!here.is_wrapper) continue;
      const bool is_denied = std::any_of(parts.begin(), parts.end(), [&, number = function](const Part& other) {
        if (&other == &part) return false;
        const Look there = look_at(number, other);
        return there.contradicts || (there.has_one_size && !is_same_call(there.frame, here.frame));
      });
      if (!is_denied) wrappers.push_back(function);
      break;
    }
  }
  return wrappers;
}

bool OwnBlocks::contradicts(uint32_t function) {
  const auto found = parts_.find(function);
  return found != parts_.end() && std::any_of(found->second.begin(), found->second.end(),
                                              [&](const Part& part) { return look_at(function, part).contradicts; });
}

bool OwnBlocks::cuts_pieces(uint32_t function, bool makes_objects) const {
  const auto found = parts_.find(function);
  if (found == parts_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const Part& part) {
    SizeRange all;
    bool has_steady_only = true;
    for (const uint32_t i : part.sites) {
      const SizedNumbers& numbers = profile_.devices[part.device].sites[i].numbers;
      all.add(numbers);
      has_steady_only = has_steady_only && (!has_sizes(numbers) || numbers.smallest_bytes == numbers.largest_bytes);
    }
    if (makes_objects) return !has_steady_only || all.largest_bytes >= kLargeObject;
    return all.is_one() && all.largest_bytes >= kLargeObject;
  });
}

OwnBlocks::Look OwnBlocks::look_at(uint32_t function, const Part& part) {
  const Device& device = profile_.devices[part.device];
  const uint32_t first = tree_.place_node[device.sites[part.sites[0]].node];
  Look look;
  look.frame = profile_.nodes[first].frame;
  if (frame_at(first).function.empty() || frame_at(first).function == kSmallSitesText) return look;
  const auto is_of_one_call = [&](uint32_t i) {
    const uint32_t place = tree_.place_node[device.sites[i].node];
    return is_same_call(profile_.nodes[place].frame, look.frame) && is_next_to_allocator(device.sites[i].node, place);
  };
  ++looks_;
  look.contradicts = !std::all_of(part.sites.begin(), part.sites.end(), is_of_one_call) ||
                     std::any_of(part.sites.begin(), part.sites.end(), [&](uint32_t i) {
                       const uint32_t place = tree_.place_node[device.sites[i].node];
                       return is_further_out(function, profile_.nodes[place].parent);
                     });
  if (look.contradicts) return look;

  std::unordered_map<uint32_t, CallerSizes> callers;  // by function
  std::set<uint64_t> sizes;
  SizeRange range;
  uint64_t blocks = 0;
  for (const uint32_t i : part.sites) {
    const Site& site = device.sites[i];
    range.add(site.numbers);
    const uint32_t outer = tree_.user_node[profile_.nodes[tree_.place_node[site.node]].parent];
    if (site.grouped_stacks != 0 || outer == 0 || frame_at(outer).function.empty()) continue;
    if (frame_at(outer).function == kSmallSitesText) continue;
    CallerSizes& caller = callers[tree_.functions[profile_.nodes[outer].frame]];
    blocks = add_saturating(blocks, site.numbers.total_blocks);
    if (site.numbers.total_blocks < 2 || !has_sizes(site.numbers)) continue;  // a single block says nothing
    const bool is_steady = site.numbers.smallest_bytes == site.numbers.largest_bytes;
    (is_steady ? caller.has_steady : caller.has_other) = true;
    if (is_steady) sizes.insert(site.numbers.largest_bytes);
  }
  size_t steady = 0;
  size_t others = 0;
  for (const auto& [number, caller] : callers) {
    others += caller.has_other ? 1 : 0;
    steady += caller.has_steady && !caller.has_other ? 1 : 0;
  }
  const Needed& needed = says_that_it_allocates(plain_function(frame_at(first).function)) ? kOfNamed : kOfAny;
  const bool passes_sizes_on =
      steady >= needed.steady_callers && steady * 2 >= callers.size() && sizes.size() >= needed.sizes;
  look.is_wrapper = passes_sizes_on && callers.size() >= needed.callers && blocks >= needed.blocks;
  look.has_one_size = range.is_one();
  const bool is_clear = steady + others >= needed.callers && blocks >= needed.blocks;
  look.contradicts = (is_clear && !passes_sizes_on) || (steady + others >= 2 && others > steady) ||
                     (look.has_one_size && callers.size() >= 2);
  return look;
}

// Whether only the allocator, and already folded wrappers, are between the block and the function.
bool OwnBlocks::is_next_to_allocator(uint32_t node, uint32_t place) const {
  for (; node != place; node = profile_.nodes[node].parent) {
    const uint32_t frame = profile_.nodes[node].frame;
    const bool is_folded = frame < profile_.folds.size() && profile_.folds[frame] != FrameFold::kNot;
    const bool is_part_of_folded = tree_.kinds[frame] == FrameKind::kUser && frame_at(node).function.empty();
    if (tree_.kinds[frame] != FrameKind::kAllocator && !is_folded && !is_part_of_folded) return false;
  }
  return true;
}

// Whether the function is at the node or further out. Each look_at() visits a node only once.
bool OwnBlocks::is_further_out(uint32_t function, uint32_t node) {
  for (; node != 0 && seen_[node] != looks_; node = profile_.nodes[node].parent) {
    seen_[node] = looks_;
    if (tree_.functions[profile_.nodes[node].frame] == function) return true;
  }
  return false;
}

// Whether both frames are the same line of the function, or the same address if lines are unknown.
bool OwnBlocks::is_same_call(uint32_t frame, uint32_t other) const {
  const Frame& a = profile_.frames[frame];
  const Frame& b = profile_.frames[other];
  return tree_.labels[frame] == tree_.labels[other] && (a.line != 0 || a.svma == b.svma);
}

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool says_that_it_allocates(std::string_view plain) {
  plain = plain.substr(0, plain.find('<'));
  while (!plain.empty() && !is_letter(plain.back())) plain.remove_suffix(1);
  size_t begin = plain.size();
  while (begin > 0 && is_letter(plain[begin - 1])) {
    --begin;
    const bool ends_hump = is_upper(plain[begin]) && begin + 1 < plain.size() && !is_upper(plain[begin + 1]);
    if (ends_hump) break;
  }
  std::string word(plain.substr(begin));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return word == "allocate" || word == "reallocate" || word == "mallocz" ||
         (word.ends_with("alloc") && !word.ends_with("dealloc"));
}

}  // namespace heapprof::cli
