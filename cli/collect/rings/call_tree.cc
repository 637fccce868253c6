// cli/collect/rings/call_tree.cc: see call_tree.h.
//
// A slot holds the whole key, so that a look-up touches no node. Growing needs the paths' hashes again; they are
// computed for all nodes in one sweep, which parents-before-children makes possible, instead of being stored for ever.
#include "cli/collect/rings/call_tree.h"

namespace heapprof::cli {

namespace {
constexpr uint64_t kFirstSlots = 4096;
}

CallTree::CallTree() : table_(std::make_unique<GrowingArray<Slot>>()) {
  table_->grow_to(kFirstSlots);
  slots_ = &(*table_)[0];
  mask_ = kFirstSlots - 1;
  nodes_.push_back({});
  sites_.push_back({});
}

CallTree::Slot& CallTree::add(uint64_t path_hash, uint32_t parent, uint32_t location) {
  if (nodes_.size() > UINT32_MAX - 1) throw std::bad_alloc();
  if (nodes_.size() * 4 > (mask_ + 1) * 3) grow();
  const auto node = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({parent, location});
  uint64_t i = path_hash & mask_;
  while (slots_[i].node != 0) i = (i + 1) & mask_;
  slots_[i] = {parent, location, node, 0};
  return slots_[i];
}

uint32_t CallTree::site_of(uint64_t path_hash, uint32_t node) {
  if (node == 0) return root_site_ != 0 ? root_site_ : root_site_ = add_site(0, false);
  uint64_t i = path_hash & mask_;
  while (slots_[i].node != node) i = (i + 1) & mask_;
  return site_of(slots_[i]);
}

uint32_t CallTree::add_site(uint32_t node, bool truncated) {
  sites_.push_back({node, truncated ? 1u : 0u});
  return static_cast<uint32_t>(sites_.size() - 1);
}

uint32_t CallTree::truncated_site_of(uint32_t node) {
  uint32_t& site = truncated_sites_[node];
  if (site == 0) site = add_site(node, true);
  return site;
}

void CallTree::grow() {
  GrowingArray<uint64_t> hashes;
  hashes.grow_to(nodes_.size());
  hashes[0] = kRootHash;
  for (size_t node = 1; node < nodes_.size(); ++node) {
    hashes[node] = hash_step(hashes[nodes_[node].parent], nodes_[node].location);
  }
  auto table = std::make_unique<GrowingArray<Slot>>();
  table->grow_to(2 * (mask_ + 1));
  const uint64_t mask = 2 * (mask_ + 1) - 1;
  for (const Slot& slot : *table_) {
    if (slot.node == 0) continue;
    uint64_t i = hashes[slot.node] & mask;
    while ((*table)[i].node != 0) i = (i + 1) & mask;
    (*table)[i] = slot;
  }
  table_ = std::move(table);
  slots_ = &(*table_)[0];
  mask_ = mask;
}

}  // namespace heapprof::cli
