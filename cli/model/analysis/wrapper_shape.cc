// cli/model/analysis/wrapper_shape.cc: one pass over the sites finds the functions that have enough to be looked at;
// each of these is looked at by itself, and the first thing that does not fit ends that.
#include "cli/model/analysis/wrapper_shape.h"

#include "cli/base/function_name.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/site_fields.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <unordered_map>

namespace heapprof::cli {
namespace {

constexpr uint64_t kShare = 4;  // one part in so many of the bytes is its own, or more

// What has to be seen: of a function whose name says nothing, and of one whose name says that it allocates.
struct Needed {
  size_t callers;
  size_t steady_callers;  // to which it gave blocks of one size in each stack
  size_t sizes;
  uint64_t blocks;
};
constexpr Needed kOfAny = {8, 5, 4, 1'000};
constexpr Needed kOfNamed = {3, 2, 2, 6};

struct Sums {
  uint64_t peak_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t leaked_bytes = 0;
  std::vector<uint32_t> sites;  // indexes into Device::sites
};

class DeviceWrappers {
 public:
  DeviceWrappers(const Profile& profile, const PlaceTree& tree, const Device& device)
      : profile_(profile), tree_(tree), device_(device) {}

  void find(std::vector<uint32_t>* wrappers) {
    std::unordered_map<uint32_t, Sums> functions;
    Sums all;
    for (uint32_t i = 0; i < device_.sites.size(); ++i) {
      const Site& site = device_.sites[i];
      add(site, &all);
      const uint32_t node = tree_.place_node[site.node];
      if (node == 0 || tree_.kinds[profile_.nodes[node].frame] != FrameKind::kUser) continue;
      Sums& sums = functions[tree_.functions[profile_.nodes[node].frame]];
      add(site, &sums);
      sums.sites.push_back(i);
    }
    for (const auto& [function, sums] : functions) {
      if (is_part(sums.peak_bytes, all.peak_bytes) || is_part(sums.total_bytes, all.total_bytes) ||
          is_part(sums.leaked_bytes, all.leaked_bytes)) {
        if (is_wrapper(function, sums.sites)) wrappers->push_back(function);
      }
    }
  }

 private:
  static bool is_part(uint64_t part, uint64_t whole) { return part != 0 && part >= whole / kShare; }

  static void add(const Site& site, Sums* sums) {
    sums->peak_bytes = add_saturating(sums->peak_bytes, site.numbers.peak_bytes);
    sums->total_bytes = add_saturating(sums->total_bytes, site.numbers.total_bytes);
    if (site.suppressed_by == 0) sums->leaked_bytes = add_saturating(sums->leaked_bytes, site.numbers.leaked_bytes);
  }

  const Frame& frame_at(uint32_t node) const { return profile_.frames[profile_.nodes[node].frame]; }

  // Whether nothing but the allocator, and wrappers that are folded already, is between the block and the function.
  bool is_next_to_allocator(uint32_t node, uint32_t place) const {
    for (; node != place; node = profile_.nodes[node].parent) {
      const uint32_t frame = profile_.nodes[node].frame;
      const bool is_folded = frame < profile_.folds.size() && profile_.folds[frame] != FrameFold::kNot;
      const bool is_part_of_folded = tree_.kinds[frame] == FrameKind::kUser && frame_at(node).function.empty();
      if (tree_.kinds[frame] != FrameKind::kAllocator && !is_folded && !is_part_of_folded) return false;
    }
    return true;
  }

  // By node: whether the function stands there, or further out.
  std::vector<bool> stacks_with(uint32_t function) const {
    std::vector<bool> has(profile_.nodes.size());
    for (uint32_t node = 1; node < has.size(); ++node) {
      const FrameNode& it = profile_.nodes[node];
      has[node] = has[it.parent] || tree_.functions[it.frame] == function;
    }
    return has;
  }

  struct Caller {
    bool has_steady = false;
    bool has_other = false;  // blocks of several sizes in one stack
  };

  bool is_wrapper(uint32_t function, const std::vector<uint32_t>& sites) const {
    const uint32_t first = tree_.place_node[device_.sites[sites[0]].node];
    if (frame_at(first).function.empty() || frame_at(first).function == kSmallSitesText) return false;
    const std::vector<bool> has_function = stacks_with(function);
    std::unordered_map<uint32_t, Caller> callers;  // by function
    std::set<uint64_t> sizes;
    uint64_t blocks = 0;
    for (const uint32_t i : sites) {
      const Site& site = device_.sites[i];
      const uint32_t place = tree_.place_node[site.node];
      const uint32_t parent = profile_.nodes[place].parent;
      if (!is_same_call(profile_.nodes[place].frame, profile_.nodes[first].frame)) return false;
      if (has_function[parent] || !is_next_to_allocator(site.node, place)) return false;
      const uint32_t outer = tree_.user_node[parent];
      if (site.grouped_stacks != 0 || outer == 0 || frame_at(outer).function.empty()) continue;
      if (frame_at(outer).function == kSmallSitesText) continue;
      Caller& caller = callers[tree_.functions[profile_.nodes[outer].frame]];
      blocks = add_saturating(blocks, site.numbers.total_blocks);
      if (site.numbers.total_blocks < 2 || !has_sizes(site.numbers)) continue;  // one block says nothing of others
      const bool is_steady = site.numbers.smallest_bytes == site.numbers.largest_bytes;
      (is_steady ? caller.has_steady : caller.has_other) = true;
      if (is_steady) sizes.insert(site.numbers.largest_bytes);
    }
    const Needed& needed = says_that_it_allocates(plain_function(frame_at(first).function)) ? kOfNamed : kOfAny;
    const auto steady = static_cast<size_t>(std::count_if(callers.begin(), callers.end(), [](const auto& one) {
      return one.second.has_steady && !one.second.has_other;
    }));
    return callers.size() >= needed.callers && steady >= needed.steady_callers && steady * 2 >= callers.size() &&
           sizes.size() >= needed.sizes && blocks >= needed.blocks;
  }

  // One line of the function; where lines are not known, one address.
  bool is_same_call(uint32_t frame, uint32_t other) const {
    const Frame& a = profile_.frames[frame];
    const Frame& b = profile_.frames[other];
    return tree_.labels[frame] == tree_.labels[other] && (a.line != 0 || a.svma == b.svma);
  }

  const Profile& profile_;
  const PlaceTree& tree_;
  const Device& device_;
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::vector<uint32_t> find_wrappers(const Profile& profile, const PlaceTree& tree) {
  std::vector<uint32_t> wrappers;
  for (const Device& device : profile.devices) {
    if (!is_reserved_device(device.name)) DeviceWrappers(profile, tree, device).find(&wrappers);
  }
  return wrappers;
}

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
