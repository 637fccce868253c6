// cli/model/profile/node_table.cc: open addressing over node numbers; the keys are the nodes themselves.
#include "cli/model/profile/node_table.h"

#include <algorithm>

namespace heapprof::cli {

NodeTable::NodeTable(std::vector<FrameNode>* nodes, size_t expected_nodes) : nodes_(nodes) {
  if (nodes_->empty()) nodes_->push_back({});
  size_t slots = 1024;
  while (slots < 2 * std::max(nodes_->size(), expected_nodes + 1)) slots *= 2;
  slots_.resize(slots);
  for (uint32_t node = 1; node < nodes_->size(); ++node) slots_[slot_of((*nodes_)[node])] = node;
}

size_t NodeTable::slot_of(FrameNode key) const {
  const size_t mask = slots_.size() - 1;
  uint64_t hash = (uint64_t{key.parent} << 32 | key.frame) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const FrameNode& node = (*nodes_)[slots_[slot]];
    if (node.parent == key.parent && node.frame == key.frame) break;
  }
  return slot;
}

uint32_t NodeTable::intern(uint32_t parent, uint32_t frame) {
  const FrameNode key{parent, frame};
  size_t slot = slot_of(key);
  if (slots_[slot] != 0) return slots_[slot];
  if (2 * (nodes_->size() + 1) > slots_.size()) {
    grow();
    slot = slot_of(key);
  }
  const auto node = static_cast<uint32_t>(nodes_->size());
  nodes_->push_back(key);
  slots_[slot] = node;
  return node;
}

void NodeTable::grow() {
  slots_.assign(2 * slots_.size(), 0);
  for (uint32_t node = 1; node < nodes_->size(); ++node) slots_[slot_of((*nodes_)[node])] = node;
}

}  // namespace heapprof::cli
