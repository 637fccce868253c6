// cli/collect/rings/stack_folder.h: the short form of a stack that a recursion made deep.
//
// A recursion of 20,000 levels with a block at each has 20,000 stacks of 10,000 frames on average: 200 million frames
// in a profile. All that a reader learns from them is where the recursion begins, which functions it calls, and what it
// allocates. So a stack of more than kDeepFrames frames is recorded in a folded form.
//
//   main  eval  call  eval  call  call  eval  make        make is the innermost frame
//   main  [recursion]  eval  call  make
//
// Folding goes from the outermost frame inwards. If a frame comes again, this frame and all frames between its two
// places are a recursion. Each of its frames is named once, in the order in which they first came. The innermost frame,
// which allocates, is never folded.
//
// Guarantees
//  - The form of a stack depends on that stack alone. It has each of the stack's distinct frames once, the innermost
//    twice at most, and a mark before each recursion.
// Context:  the collector's thread; for new stacks only, never at an event of a known one.
// Cost:     a look-up for each new node of the call tree, and 4 bytes; nothing before the first deep stack.
#pragma once

#include "cli/collect/memory/growing_array.h"
#include "cli/model/profile/recording.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {

class CallTree;

inline constexpr uint32_t kDeepFrames = 1024;  // stacks of more are folded

class StackFolder {
 public:
  // The node of the short form of a deep stack; `node` itself if no frame in it comes again. Adds nodes to the tree.
  uint32_t fold(CallTree* tree, uint32_t node, uint32_t depth);

  // The tree's nodes as a recording has them. Adds the marks to the locations.
  std::vector<StackNode> recorded_stacks(const CallTree& tree, std::vector<Location>* locations) const;
  // Whether the tree's node is the mark of a recursion, not a frame.
  static bool is_mark(const StackNode& node) { return is_mark(node.location); }

 private:
  // In StackNode::location of the call tree: not a location, but a mark's number.
  static constexpr uint32_t kMark = 0x80000000;
  static bool is_mark(uint32_t location) { return (location & kMark) != 0; }

  using Recursion = std::pair<uint32_t, uint32_t>;  // its first location, and how many there are
  struct Deepest {
    uint32_t node = 0;
    uint32_t depth = 0;
  };
  struct Step {
    uint32_t location;
    uint32_t node;
  };

  uint32_t form_of(CallTree* tree, uint32_t node);
  uint32_t add(CallTree* tree, uint32_t form, uint32_t location);
  void fold_from(CallTree* tree, size_t first);
  size_t start_of(size_t at) const;
  uint32_t mark_of(const Recursion& recursion);
  void enter(const CallTree& tree, uint32_t form);
  void push(CallTree* tree, uint32_t location);
  std::unordered_map<uint32_t, uint32_t> count_frames(const CallTree& tree) const;

  GrowingArray<uint32_t> forms_;       // by node: its path with recursions folded; 0: not known yet
  std::vector<Step> path_;             // of the form that was used last; its locations are all different
  std::vector<uint32_t> index_;        // by location: its position in path_, if it is there
  std::vector<uint32_t> unformed_;     // scratch memory of form_of()
  std::vector<Recursion> recursions_;  // by mark
  std::map<Recursion, uint32_t> marks_;
  std::unordered_map<uint32_t, Deepest> deepest_;  // by short form
};

}  // namespace heapprof::cli
