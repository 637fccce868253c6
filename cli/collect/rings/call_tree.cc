// cli/collect/rings/call_tree.cc: see call_tree.h.
//
// A slot holds the whole key, so that a look-up touches no node. When a part of the table is split, the hashes of its
// slots are needed again. Keeping them costs 4 bytes a node, and saves a sweep over all nodes.
#include "cli/collect/rings/call_tree.h"

namespace heapprof::cli {

CallTree::CallTree() : table_(std::make_unique<Table>()) {
  nodes_.push_back({});
  table_->hashes.push_back(kRootHash);
  sites_.push_back({});
}

CallTree::Slot& CallTree::add(uint32_t path_hash, uint32_t parent, uint32_t location) {
  if (nodes_.size() > UINT32_MAX - 1) throw std::bad_alloc();
  nodes_.make_room(1);
  table_->hashes.make_room(1);
  const auto node = static_cast<uint32_t>(nodes_.size());
  const auto key_of_slot = [&hashes = table_->hashes](const Slot& slot) { return key_of(hashes[slot.node]); };
  Slot* slot = table_->slots.insert(key_of(path_hash), {parent, location, node, 0}, key_of_slot);
  nodes_.push_back({parent, location});
  table_->hashes.push_back(path_hash);
  return *slot;
}

CallTree::Slot& CallTree::slot_of(uint32_t node) {
  const SlotKey key = key_of(path_hash_of(node));
  return *table_->slots.find(key.hash, key.near, [node](const Slot& slot) { return slot.node == node; });
}

uint32_t CallTree::site_of(uint32_t node, uint32_t depth) {
  if (node == 0) return root_site_ != 0 ? root_site_ : root_site_ = add_site(0, false);
  return site_of(slot_of(node), depth);
}

// The folder adds nodes, and slots may move: so the slot is looked up again.
uint32_t CallTree::deep_site_of(uint32_t node, uint32_t depth) {
  const uint32_t site = site_of(folder_.fold(this, node, depth), 0);
  slot_of(node).site = site;
  return site;
}

uint32_t CallTree::add_site(uint32_t node, bool truncated) {
  sites_.push_back({node, truncated ? 1u : 0u});
  return static_cast<uint32_t>(sites_.size() - 1);
}

uint32_t CallTree::truncated_site_of(uint32_t node, uint32_t depth) {
  const LatestTruncated& latest = latest_truncated_[node % latest_truncated_.size()];
  if (latest.site != 0 && latest.node == node) return latest.site;
  uint32_t& site = truncated_sites_[node];
  if (site == 0) {
    const uint32_t folded = depth > kDeepFrames ? folder_.fold(this, node, depth) : node;
    site = folded != node ? truncated_site_of(folded, 0) : add_site(node, true);
  }
  latest_truncated_[node % latest_truncated_.size()] = {node, site};
  return site;
}

}  // namespace heapprof::cli
