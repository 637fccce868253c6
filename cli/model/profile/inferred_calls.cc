// cli/model/profile/inferred_calls.cc: an inferred frame becomes an ordinary location and stack node with a mark
// (Location::inferred). So the code that names, groups and orders stacks needs no special case.
#include "cli/model/profile/inferred_calls.h"

#include "cli/base/file_name.h"
#include "cli/model/profile/node_table.h"
#include "cli/model/profile/profile.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr uint32_t kAllocationItself = 0xffffffff;  // instead of a location

// A recording's locations with their call targets.
class Calls {
 public:
  Calls(const Recording& recording, const SymbolTable& symbols) : recording_(recording), symbols_(symbols) {}

  // The open pair of a node and its parent.
  std::optional<CallPair> above(uint32_t node) const {
    const uint32_t outer = recording_.stacks[node].parent;
    if (!is_whole(outer) || !is_whole(node)) return std::nullopt;
    return open_call(named(outer), named(node));
  }

  // The open pair of a site's innermost node and its allocation.
  std::optional<CallPair> below(uint32_t innermost) const {
    return is_whole(innermost) ? open_call(named(innermost)) : std::nullopt;
  }

 private:
  bool is_whole(uint32_t node) const {
    return node != 0 && node < recording_.stacks.size() &&
           recording_.stacks[node].location < recording_.locations.size();
  }

  NamedLocation named(uint32_t node) const {
    const uint32_t location = recording_.stacks[node].location;
    return {recording_.locations[location], symbols_.calls[location], symbols_.frames[location]};
  }

  const Recording& recording_;
  const SymbolTable& symbols_;
};

// Makes the locations and nodes of inferred frames, and copies of the nodes further in. Each is made once.
class Inserter {
 public:
  Inserter(Recording* recording, SymbolTable* symbols)
      : found_(symbols->inferred), recording_(recording), symbols_(symbols), table_(&nodes_) {}

  // The node where the pair's path ends, or `node` itself.
  uint32_t follow(uint32_t node, const std::optional<CallPair>& pair) {
    const auto entry = pair ? found_.find(*pair) : found_.end();
    if (entry == found_.end()) return node;
    for (const InferredCall& call : entry->second) node = intern(node, location_of(pair->module, call));
    return node;
  }
  // Returns the number of a new node, after the old ones.
  uint32_t intern(uint32_t parent, uint32_t location) { return table_.intern(parent, location) + old_nodes_ - 1; }

  // Must be called last.
  void append_nodes() {
    recording_->stacks.reserve(recording_->stacks.size() + nodes_.size());
    for (size_t i = 1; i < nodes_.size(); ++i) recording_->stacks.push_back({nodes_[i].parent, nodes_[i].frame});
  }

 private:
  uint32_t location_of(uint32_t module, const InferredCall& call) {
    const auto [entry, is_new] = locations_.try_emplace({module, call.svma}, recording_->locations.size());
    if (is_new) {
      recording_->locations.push_back({module, call.svma, true});
      symbols_->frames.push_back(call.frames);
      symbols_->calls.emplace_back();
    }
    return static_cast<uint32_t>(entry->second);
  }

  const InferredCalls& found_;
  Recording* recording_;
  SymbolTable* symbols_;
  const uint32_t old_nodes_ = static_cast<uint32_t>(recording_->stacks.size());
  std::vector<FrameNode> nodes_;
  NodeTable table_;
  std::map<std::pair<uint32_t, uint64_t>, size_t> locations_;
};

// Pairs of locations; open addressing, at most half full. The slots hold the keys themselves, so that the table stays
// small: millions of nodes have about 10,000 pairs, at most 200,000, and a look-up that misses the cache costs as much
// as all other work.
class PairSet {
 public:
  bool has(uint32_t outer, uint32_t inner) const { return slots_[slot_of(key_of(outer, inner))] != 0; }
  // Returns whether the pair is new.
  bool add(uint32_t outer, uint32_t inner) {
    const uint64_t key = key_of(outer, inner);
    size_t slot = slot_of(key);
    if (slots_[slot] != 0) return false;
    if (2 * (count_ + 1) > slots_.size()) {
      std::vector<uint64_t> old(2 * slots_.size());
      old.swap(slots_);
      for (const uint64_t known : old) {
        if (known != 0) slots_[slot_of(known)] = known;
      }
      slot = slot_of(key);
    }
    slots_[slot] = key;
    ++count_;
    return true;
  }

 private:
  // Never returns 0, which marks a free slot.
  static uint64_t key_of(uint32_t outer, uint32_t inner) { return (uint64_t{outer} + 1) << 32 | inner; }
  size_t slot_of(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    uint64_t hash = key * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    size_t slot = hash & mask;
    while (slots_[slot] != 0 && slots_[slot] != key) slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<uint64_t> slots_ = std::vector<uint64_t>(1 << 15);
  size_t count_ = 0;
};

}  // namespace

bool is_open_call(const CallKeys& outer, const CallKeys& inner) {
  return outer.target != 0 && inner.function != 0 && inner.function != outer.target;
}

bool is_open_call(const CallKeys& innermost) {
  return innermost.target != 0 && innermost.target != CallKeys::kAllocator;
}

std::optional<CallPair> open_call(const NamedLocation& outer, const NamedLocation& inner) {
  if (outer.location.module != inner.location.module) {
    // The outer frame called the C++ runtime's operator new.
    const bool is_allocator = !inner.frames.empty() && inner.frames.back().function.starts_with("operator new");
    return is_allocator ? open_call(outer) : std::nullopt;
  }
  if (!is_open_call(outer.keys, inner.keys)) return std::nullopt;
  return CallPair{outer.location.module, outer.location.svma, inner.location.svma};
}

std::optional<CallPair> open_call(const NamedLocation& innermost) {
  if (!is_open_call(innermost.keys)) return std::nullopt;
  return CallPair{innermost.location.module, innermost.location.svma, 0};
}

bool is_cpp_runtime(const std::string& path) {
  const std::string_view name = base_name_view(path);
  return name.starts_with("libstdc++.so") || name.starts_with("libc++");
}

std::vector<CallPair> find_neighbours(const Recording& recording) {
  const std::vector<StackNode>& stacks = recording.stacks;
  const std::vector<Location>& locations = recording.locations;
  std::vector<CallPair> pairs;
  PairSet distinct;
  const auto add = [&](uint32_t outer, uint32_t inner) {
    if (!distinct.add(outer, inner)) return;
    const Location& from = locations[outer];
    if (from.module < recording.modules.size() && from.svma != 0)
      pairs.push_back({from.module, from.svma, inner == kAllocationItself ? 0 : locations[inner].svma});
  };
  const auto location_of = [&](uint32_t node) {
    return node != 0 && node < stacks.size() && stacks[node].location < locations.size() ? stacks[node].location
                                                                                         : kAllocationItself;
  };
  for (uint32_t i = 1; i < stacks.size(); ++i) {
    const uint32_t outer = location_of(stacks[i].parent);
    const uint32_t inner = location_of(i);
    if (outer == kAllocationItself || inner == kAllocationItself) continue;
    if (distinct.has(outer, inner)) continue;
    if (locations[outer].module == locations[inner].module && locations[inner].svma != 0) add(outer, inner);
  }
  std::vector<char> is_runtime;  // by module
  for (const Module& module : recording.modules) is_runtime.push_back(is_cpp_runtime(module.path) ? 1 : 0);
  for (const RecordedDevice& device : recording.devices) {
    for (const RecordedSite& site : device.sites) {
      const uint32_t innermost = location_of(site.stack);
      if (innermost == kAllocationItself) continue;
      add(innermost, kAllocationItself);
      const uint32_t outer = location_of(stacks[site.stack].parent);
      const uint32_t module = locations[innermost].module;
      if (outer != kAllocationItself && locations[outer].module != module && module < is_runtime.size() &&
          is_runtime[module] != 0)
        add(outer, kAllocationItself);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

void add_inferred_calls(Recording* recording, SymbolTable* symbols) {
  const InferredCalls& found = symbols->inferred;
  const bool has_path =
      std::any_of(found.begin(), found.end(), [](const auto& entry) { return !entry.second.empty(); });
  const size_t nodes = recording->stacks.size();
  if (!has_path || symbols->calls.size() != recording->locations.size()) return;
  for (size_t i = 1; i < nodes; ++i) {
    const StackNode& node = recording->stacks[i];
    if (node.parent >= i || node.location >= recording->locations.size()) return;  // broken: left unchanged
  }
  // Most locations have no known call target, and are skipped. The flags are only for the old locations; those that are
  // added during the loop are not looked up.
  std::vector<char> is_known_call;
  is_known_call.reserve(symbols->calls.size());
  for (const CallKeys& keys : symbols->calls) is_known_call.push_back(keys.target != 0 ? 1 : 0);
  const auto has_target = [&](uint32_t node) {
    return node != 0 && is_known_call[recording->stacks[node].location] != 0;
  };
  const Calls calls(*recording, *symbols);
  Inserter inserter(recording, symbols);
  std::vector<uint32_t> new_node(nodes, 0);
  for (uint32_t i = 1; i < nodes; ++i) {
    const StackNode node = recording->stacks[i];
    uint32_t parent = new_node[node.parent];
    if (has_target(node.parent)) parent = inserter.follow(parent, calls.above(i));
    new_node[i] = parent == node.parent ? i : inserter.intern(parent, node.location);
  }
  for (RecordedDevice& device : recording->devices) {
    for (RecordedSite& site : device.sites) {
      if (site.stack >= nodes) continue;
      const uint32_t innermost = std::exchange(site.stack, new_node[site.stack]);
      if (has_target(innermost)) site.stack = inserter.follow(site.stack, calls.below(innermost));
    }
  }
  for_each_other_node(*recording, [&](uint32_t& node) { node = node < nodes ? new_node[node] : node; });
  inserter.append_nodes();
}

}  // namespace heapprof::cli
