// cli/collect/rings/ring_decoder_stacks.cc: turns the frames of a record into its site.
//
// A batch goes through two passes. The first parses records, finds the location of each new program counter and the
// hash of its path, and prefetches the slot in the call tree; the second looks the slots up. A cache miss in a large
// tree costs 80-100 ns, but the cache misses of a batch of 256 records overlap.
//
// At one time most programs use only few stacks. PathMemo finds their frames, one after the other, in one pass. If too
// many frames are unknown to it, the rest of the batch takes two passes.
#include "cli/collect/rings/ring_decoder.h"

#include <algorithm>

namespace heapprof::cli {

// Makes room for a stack of `depth` frames and the root.
void RingDecoder::grow_stack(size_t depth) {
  path_hashes_.resize(std::max(depth + 1, 2 * path_hashes_.size()));
  nodes_.resize(path_hashes_.size());
}

// Appends a record's new frames to those that it keeps, and notes what the second pass will need. Not inlined: the
// callers' many variables would then be spilled to memory around the loop.
[[gnu::noinline]] void RingDecoder::locate_frames(const FreshFrames& at, DecodeShared::Frame* frame) {
  uint32_t* hash = path_hashes_.data() + at.keep;
  uint32_t path_hash = *hash;
  ModuleMap& modules = *shared_->modules;
  const CallTree& tree = *shared_->tree;
  const uint32_t generation = generation_;
  uint64_t position = at.position;
  for (uint32_t left = at.fresh; left != 0; --left, position += sizeof(uint64_t)) {
    const uint64_t pc_avma = load(position);
    const uint32_t location = modules.locate(pc_avma, generation);
    path_hash = CallTree::hash_step(path_hash, location);
    tree.prefetch(path_hash);
    *++hash = path_hash;
    *frame++ = {pc_avma, path_hash, location};
  }
}

// The same in one pass, which looks the new frames up at once. Returns the memo's entry of the innermost new frame;
// nullptr: no frame is new.
[[gnu::noinline]] PathMemo::Entry* RingDecoder::walk_by_memo(const FreshFrames& at) {
  Node* node = nodes_.data() + at.keep;
  uint32_t parent = node->node;
  PathMemo& memo = shared_->memo;
  const uint32_t generation = generation_;
  uint64_t position = at.position;
  PathMemo::Entry* entry = nullptr;
  for (uint32_t left = at.fresh; left != 0; --left, position += sizeof(uint64_t)) {
    const uint64_t pc_avma = load(position);
    entry = memo.find(pc_avma, PathMemo::key_of(parent, generation));
    if (entry == nullptr) [[unlikely]]
      entry = &learn(pc_avma, parent);
    parent = entry->node;
    *++node = {parent, entry->site};
  }
  return entry;
}

[[gnu::noinline]] PathMemo::Entry& RingDecoder::learn(uint64_t pc_avma, uint32_t parent) {
  CallTree& tree = *shared_->tree;
  const uint32_t location = shared_->modules->locate(pc_avma, generation_);
  const CallTree::Slot& slot = tree.descend(CallTree::hash_step(tree.path_hash_of(parent), location), parent, location);
  shared_->memo.count_miss();
  return shared_->memo.keep({pc_avma, PathMemo::key_of(parent, generation_), slot.node, slot.site});
}

// Call it when the memo is not asked any more: from here on the hashes of the paths are needed.
void RingDecoder::know_hashes() {
  if (knows_hashes_) return;
  knows_hashes_ = true;
  for (uint32_t i = 1; i <= depth_; ++i) path_hashes_[i] = shared_->tree->path_hash_of(nodes_[i].node);
}

// The second pass: looks up the stacks of a batch in the call tree, and gives the events their sites. fills_memo: the
// memo did not know these frames.
void RingDecoder::intern_stacks(std::span<Event> batch, size_t stacks, bool fills_memo) {
  CallTree& tree = *shared_->tree;
  PathMemo& memo = shared_->memo;
  const DecodeShared::Frame* frame = shared_->frames.data();
  for (const DecodeShared::Stack& stack : std::span(shared_->stacks).first(stacks)) {
    Node* leaf = nodes_.data() + stack.keep;
    CallTree::Slot* slot = nullptr;
    for (uint32_t i = 0; i < stack.fresh; ++i, ++frame) {
      const uint32_t parent = leaf->node;
      slot = &tree.descend(frame->path_hash, parent, frame->location);
      *++leaf = {slot->node, slot->site};
      if (fills_memo) {
        const uint64_t key = PathMemo::key_of(parent, generation_);
        if (memo.find(frame->pc_avma, key) == nullptr) memo.keep({frame->pc_avma, key, slot->node, slot->site});
      }
    }
    if (stack.event == DecodeShared::Stack::kNoEvent) continue;
    uint32_t& site = batch[stack.event & DecodeShared::Stack::kIndexMask].site;
    if ((stack.event & DecodeShared::Stack::kIsTruncated) != 0) [[unlikely]] {
      site = tree.truncated_site_of(leaf->node, stack.keep + stack.fresh);
      continue;
    }
    if (leaf->site == 0) [[unlikely]] {
      const uint32_t depth = stack.keep + stack.fresh;
      leaf->site = slot != nullptr ? tree.site_of(*slot, depth) : tree.site_of(leaf->node, depth);
    }
    site = leaf->site;
  }
}

}  // namespace heapprof::cli
