// cli/collect/rings/call_tree.h: gives every call stack one number: a tree of locations, and the sites at its nodes.
//
// A stack is looked up frame by frame from the outermost one. The hash of a frame's whole path finds its slot.
// Computing the hash needs no memory access, so slots can be prefetched many records ahead (hash_step, prefetch) and
// looked up later (descend). The slots are in a SplittingTable, so that adding a frame never moves all other slots.
// When it did, this took up to 290 ms, and a ring fills in 5 ms.
//
// Guarantees
//  - Equal stacks have the same node, different stacks have different nodes: the hash only finds the slot, and the full
//    key is compared.
//  - A parent's index is smaller than its children's. Node 0 is the root.
//  - The site of a deep stack is that of its short form (stack_folder.h).
//  - Without memory a call throws std::bad_alloc and has changed nothing.
// Cost:     12 bytes a node, 21-43 a slot.
#pragma once

#include "cli/collect/memory/growing_array.h"
#include "cli/collect/memory/slab_pool.h"
#include "cli/collect/memory/splitting_table.h"
#include "cli/collect/rings/stack_folder.h"
#include "cli/model/profile/recording.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace heapprof::cli {

// A site: a stack, and whether the unwinder reached its end.
struct SiteKey {
  uint32_t stack;
  uint32_t truncated;
};

class CallTree {
 public:
  static constexpr uint32_t kRootHash = 0xD2E4F597;

  CallTree();

  static uint32_t hash_step(uint32_t parent_hash, uint32_t location) {
    const uint64_t hash = uint64_t{parent_hash ^ location} * 0x9E3779B97F4A7C15ull;
    return static_cast<uint32_t>(hash ^ hash >> 32);
  }
  uint32_t path_hash_of(uint32_t node) const { return table_->hashes[node]; }
  void prefetch(uint32_t path_hash) const {
    const SlotKey key = key_of(path_hash);
    table_->slots.prefetch(key.hash, key.near);
  }

  struct Slot {
    uint32_t parent;
    uint32_t location;
    uint32_t node;  // 0: free
    uint32_t site;  // 0: nothing was allocated by exactly this stack yet

    bool is_free() const { return node == 0; }
  };

  // The child of `parent` at `location`, added if it is new. path_hash is the hash of the child's path. The reference
  // is valid until the next descend.
  Slot& descend(uint32_t path_hash, uint32_t parent, uint32_t location) {
    const auto is_wanted = [parent, location](const Slot& slot) {
      return slot.parent == parent && slot.location == location && !slot.is_free();
    };
    const SlotKey key = key_of(path_hash);
    if (Slot* slot = table_->slots.find(key.hash, key.near, is_wanted)) [[likely]]
      return *slot;
    return add(path_hash, parent, location);
  }

  // The site of a whole stack of `depth` frames, added if it is new; never 0.
  uint32_t site_of(Slot& slot, uint32_t depth) {
    if (slot.site == 0) [[unlikely]] {
      if (depth > kDeepFrames) return deep_site_of(slot.node, depth);
      slot.site = add_site(slot.node, false);
    }
    return slot.site;
  }
  // The same for a node that was not just descended to.
  uint32_t site_of(uint32_t node, uint32_t depth);
  uint32_t truncated_site_of(uint32_t node, uint32_t depth);

  const GrowingArray<StackNode>& nodes() const { return nodes_; }
  // Sites are numbered from 1; [0] is unused.
  const GrowingArray<SiteKey>& sites() const { return sites_; }
  const StackFolder& folder() const { return folder_; }
  uint32_t site_count() const { return static_cast<uint32_t>(sites_.size()); }
  // As SplittingTable::mean_probes(). pre: the slots are not released
  double mean_probes() const {
    return table_->slots.mean_probes([this](const Slot& slot) { return key_of(table_->hashes[slot.node]); });
  }
  uint64_t slot_bytes() const { return table_ == nullptr ? 0 : table_->bytes(); }
  // No stack is looked up any more: frees the slots. Nodes and sites stay.
  void release_slots() { table_.reset(); }

 private:
  using SlotKey = SplittingTable<Slot>::Key;
  // Needed only while stacks are looked up.
  struct Table {
    SlabPool pool;
    SplittingTable<Slot> slots{&pool};
    GrowingArray<uint32_t> hashes;  // of the nodes' paths

    uint64_t bytes() const { return pool.bytes() + slots.directory_bytes() + hashes.size() * sizeof(uint32_t); }
  };

  static SlotKey key_of(uint32_t hash) { return {hash, hash >> 12 & (SplittingTable<Slot>::kNear - 1)}; }
  Slot& add(uint32_t path_hash, uint32_t parent, uint32_t location);
  Slot& slot_of(uint32_t node);
  uint32_t deep_site_of(uint32_t node, uint32_t depth);
  uint32_t add_site(uint32_t node, bool truncated);

  std::unique_ptr<Table> table_;
  GrowingArray<StackNode> nodes_;
  GrowingArray<SiteKey> sites_;
  StackFolder folder_;
  uint32_t root_site_ = 0;
  struct LatestTruncated {
    uint32_t node = 0;
    uint32_t site = 0;  // 0: none
  };
  std::unordered_map<uint32_t, uint32_t> truncated_sites_;  // by node
  std::array<LatestTruncated, 1024> latest_truncated_{};    // by the node's last bits: most are looked up again soon
};

}  // namespace heapprof::cli
