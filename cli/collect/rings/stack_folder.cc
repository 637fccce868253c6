// cli/collect/rings/stack_folder.cc: a folded form is a path in the same call tree. As long as nothing is folded, it is
// the path of the stack itself.
//
// A node's form follows from its parent's and its own location, so a recursion costs one step a level. No search is
// needed to find a location in a form: index_ says where it would be, and path_ whether it is there. index_ is never
// cleared. path_ is rebuilt if the form that is needed is not the previous one or close to it. This is fast because
// forms of recursions are short.
//
// A mark says how many frames after it are folded. So a form shows which of its frames were repeated, and which only
// came after the repeated ones.
#include "cli/collect/rings/stack_folder.h"

#include "cli/collect/rings/call_tree.h"
#include "cli/model/profile/recursion_frame.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

uint32_t child(CallTree* tree, uint32_t parent, uint32_t location) {
  return tree->descend(CallTree::hash_step(tree->path_hash_of(parent), location), parent, location).node;
}

}  // namespace

uint32_t StackFolder::fold(CallTree* tree, uint32_t node, uint32_t depth) {
  const StackNode innermost = tree->nodes()[node];
  const uint32_t form = form_of(tree, innermost.parent);
  if (form == innermost.parent) return node;
  const uint32_t folded = child(tree, form, innermost.location);
  Deepest& deepest = deepest_[folded];
  if (deepest.depth < depth) deepest = {node, depth};
  return folded;
}

uint32_t StackFolder::form_of(CallTree* tree, uint32_t node) {
  forms_.grow_to(tree->nodes().size());
  unformed_.clear();
  for (; node != 0 && forms_[node] == 0; node = tree->nodes()[node].parent) unformed_.push_back(node);
  uint32_t form = node == 0 ? 0 : forms_[node];
  for (; !unformed_.empty(); unformed_.pop_back()) {
    form = add(tree, form, tree->nodes()[unformed_.back()].location);
    forms_[unformed_.back()] = form;
  }
  return form;
}

uint32_t StackFolder::add(CallTree* tree, uint32_t form, uint32_t location) {
  enter(*tree, form);
  if (index_.size() <= location) index_.resize(std::max<size_t>(location + 1, 2 * index_.size()));
  const size_t at = index_[location];
  if (at >= path_.size() || path_[at].location != location) {
    push(tree, location);
  } else {
    fold_from(tree, start_of(at));
  }
  return path_.back().node;
}

// The position of the mark of the recursion that this frame is in; if it is in none, the frame's own.
size_t StackFolder::start_of(size_t at) const {
  for (size_t i = at; i-- > 0;) {
    if (is_mark(path_[i].location)) return i + recursions_[path_[i].location & ~kMark].second >= at ? i : at;
  }
  return at;
}

void StackFolder::fold_from(CallTree* tree, size_t first) {
  std::vector<uint32_t> recurring;
  for (size_t i = first; i < path_.size(); ++i) {
    if (!is_mark(path_[i].location)) recurring.push_back(path_[i].location);
  }
  const uint32_t mark = mark_of({recurring.front(), static_cast<uint32_t>(recurring.size())});
  if (path_[first].location == mark) return;  // all of it was folded before
  path_.resize(first);
  push(tree, mark);
  for (const uint32_t location : recurring) push(tree, location);
}

uint32_t StackFolder::mark_of(const Recursion& recursion) {
  const auto [at, is_new] = marks_.try_emplace(recursion, static_cast<uint32_t>(recursions_.size()) | kMark);
  if (is_new) recursions_.push_back(recursion);
  return at->second;
}

void StackFolder::push(CallTree* tree, uint32_t location) {
  path_.push_back({location, child(tree, path_.empty() ? 0 : path_.back().node, location)});
  if (!is_mark(location)) index_[location] = static_cast<uint32_t>(path_.size() - 1);
}

void StackFolder::enter(const CallTree& tree, uint32_t form) {
  constexpr int kNear = 4;
  for (int i = 0; i < kNear && !path_.empty() && path_.back().node != form; ++i) path_.pop_back();
  if (!path_.empty() && path_.back().node == form) return;
  path_.clear();
  for (uint32_t node = form; node != 0; node = tree.nodes()[node].parent)
    path_.push_back({tree.nodes()[node].location, node});
  std::reverse(path_.begin(), path_.end());
  for (uint32_t i = 0; i < path_.size(); ++i) {
    if (!is_mark(path_[i].location)) index_[path_[i].location] = i;
  }
}

// For each node of a mark: how many frames the deepest stack had where the form has the folded frames after the mark.
std::unordered_map<uint32_t, uint32_t> StackFolder::count_frames(const CallTree& tree) const {
  std::unordered_map<uint32_t, uint32_t> frames;
  std::vector<uint32_t> counts(index_.size(), 0);  // by location
  for (const auto& [folded, deepest] : deepest_) {
    const uint32_t outer = tree.nodes()[deepest.node].parent;
    for (uint32_t node = outer; node != 0; node = tree.nodes()[node].parent) ++counts[tree.nodes()[node].location];
    std::vector<uint32_t> inner;  // of the form, the outermost last
    for (uint32_t node = tree.nodes()[folded].parent; node != 0; node = tree.nodes()[node].parent) {
      const uint32_t location = tree.nodes()[node].location;
      if (!is_mark(location)) {
        inner.push_back(location);
        continue;
      }
      uint32_t sum = 0;
      for (uint32_t i = 0; i < recursions_[location & ~kMark].second; ++i) sum += counts[inner[inner.size() - 1 - i]];
      frames[node] = std::max(frames[node], sum);
    }
    for (uint32_t node = outer; node != 0; node = tree.nodes()[node].parent) counts[tree.nodes()[node].location] = 0;
  }
  return frames;
}

std::vector<StackNode> StackFolder::recorded_stacks(const CallTree& tree, std::vector<Location>* locations) const {
  std::vector<StackNode> stacks;
  stacks.reserve(tree.nodes().size());
  stacks.assign(tree.nodes().begin(), tree.nodes().end());
  if (recursions_.empty()) return stacks;
  const std::unordered_map<uint32_t, uint32_t> frames = count_frames(tree);
  std::map<uint64_t, uint32_t> numbers;  // by svma: the number of a mark's location
  for (uint32_t i = 1; i < stacks.size(); ++i) {
    if (!is_mark(stacks[i].location)) continue;
    const auto counted = frames.find(i);
    const uint64_t svma =
        pack_recursion(recursions_[stacks[i].location & ~kMark].first, counted == frames.end() ? 0 : counted->second);
    const auto [at, is_new] = numbers.try_emplace(svma, static_cast<uint32_t>(locations->size()));
    if (is_new) locations->push_back({kNoModule, svma});
    stacks[i].location = at->second;
  }
  return stacks;
}

}  // namespace heapprof::cli
