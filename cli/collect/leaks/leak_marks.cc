// cli/collect/leaks/leak_marks.cc: three searches, one for each answer that is worse than the one before.
//
// First what roots reach by starts of blocks, while blocks that only an inner pointer leads to are put aside. Then
// these, and whatever they lead to, as far as it was not reached yet: a block is looked at once, as what it holds does
// not depend on who leads to it. What is left is lost, and the third search says which of it a programmer has to free,
// so that the rest goes with it.
//
// Inner pointers that are as good as one to the start (as Valgrind's --leak-check-heuristics has them): to the
// characters of a string of the old ABI, behind its length, capacity and count; behind the size that some allocators
// put before a block (sqlite); behind the number of elements that new[] puts there where elements have destructors; and
// to a base of an object with several of them, where both begin with a table of virtual functions.
#include "cli/collect/leaks/leak_marks.h"

#include <algorithm>
#include <array>

namespace heapprof::cli {

namespace {

constexpr uint64_t kWordBytes = sizeof(uint64_t);
constexpr uint64_t kMostObjectBytes = 64 << 10;  // of an object with several bases
constexpr uint64_t kMostHeaderBytes = 24;        // before what an old string or an array begins with
constexpr uint64_t kLooksBetween = 4096;         // blocks, from one question whether to stop to the next

// The header of a chunk of glibc's malloc lies 16 bytes before its block, the first 8 of them in the block before.
uint64_t next_header_of(const LeakBlock& block) {
  constexpr uint64_t kHeaderBytes = 16;
  constexpr uint64_t kLeastChunk = 32;
  const uint64_t chunk_bytes = std::max(kLeastChunk, (block.size_bytes + kWordBytes + 15) & ~uint64_t{15});
  return block.start - kHeaderBytes + chunk_bytes;
}

// The first words of a block.
struct FirstWords {
  std::array<uint64_t, 3> words{};
  size_t count = 0;
};
FirstWords first_words(const LeakBlock& block, WordSource* source) {
  FirstWords first;
  const uint64_t bytes = std::min<uint64_t>(block.size_bytes & ~(kWordBytes - 1), sizeof first.words);
  source->visit({block.start, block.start + bytes}, [&](std::span<const uint64_t> words, uint64_t address) {
    for (size_t i = 0; i < words.size(); ++i) {
      const uint64_t at = (address - block.start) / kWordBytes + i;
      if (at >= first.words.size()) return;
      first.words[at] = words[i];
      first.count = at + 1;
    }
  });
  return first;
}

// Length, capacity, count of references, and then the characters and a zero byte: what capacity asks for is the block.
bool is_old_string(const LeakBlock& block, uint64_t offset, const FirstWords& first) {
  constexpr uint64_t kRepBytes = 24;
  return offset == kRepBytes && first.count == 3 && first.words[0] <= first.words[1] &&
         first.words[1] == block.size_bytes - kRepBytes - 1;
}

bool is_behind_size(const LeakBlock& block, uint64_t offset, const FirstWords& first) {
  return offset == kWordBytes && first.count >= 1 && first.words[0] == block.size_bytes - kWordBytes;
}

bool is_new_array(const LeakBlock& block, uint64_t offset, const FirstWords& first) {
  return offset == kWordBytes && first.count >= 1 && first.words[0] != 0 &&
         (block.size_bytes - kWordBytes) % first.words[0] == 0 && first.words[0] < block.size_bytes;
}

}  // namespace

LeakMarks::LeakMarks(BlockTable* blocks, WordSource* source) : blocks_(*blocks), source_(*source) {}

bool LeakMarks::has_to_stop() {
  if (++looks_ % kLooksBetween == 0 && has_to_stop_ && has_to_stop_()) is_interrupted_ = true;
  return is_interrupted_;
}

LeakMarks::Found LeakMarks::look_up(uint64_t word) {
  const uint32_t block = blocks_.find(word);
  return {block, block != BlockTable::kNone && blocks_[block].start == word};
}

bool LeakMarks::counts_as_start(uint32_t index, uint64_t word) {
  const LeakBlock& block = blocks_[index];
  const uint64_t offset = word - block.start;
  if (offset % kWordBytes != 0 || block.start % kWordBytes != 0) return false;
  if (block.size_bytes > kMostObjectBytes && offset > kMostHeaderBytes) return false;  // elements of a large array
  const FirstWords first = first_words(block, &source_);
  if (is_old_string(block, offset, first) || is_behind_size(block, offset, first) || is_new_array(block, offset, first))
    return true;
  if (first.count == 0 || block.size_bytes < offset + kWordBytes || !source_.is_vtable(first.words[0])) return false;
  uint64_t base = 0;
  source_.visit({word, word + kWordBytes}, [&base](std::span<const uint64_t> words, uint64_t) { base = words[0]; });
  return source_.is_vtable(base);
}

void LeakMarks::reach(uint32_t block) {
  if (blocks_[block].kind == LeakKind::kReachable) return;
  blocks_[block].kind = LeakKind::kReachable;
  reached_.push_back(block);
}

void LeakMarks::suspect(uint32_t block) {
  if (blocks_[block].kind != LeakKind::kUnjudged) return;
  blocks_[block].kind = LeakKind::kPossiblyLost;
  suspects_.push_back(block);
}

void LeakMarks::mark_from(uint64_t word, bool is_libc) {
  const Found found = look_up(word);
  if (found.block == BlockTable::kNone) return;
  if (blocks_[found.block].kind == LeakKind::kReachable) return;
  if (found.is_start) return reach(found.block);
  if (is_libc && word == next_header_of(blocks_[found.block])) return;
  if (counts_as_start(found.block, word)) return reach(found.block);
  suspect(found.block);
}

void LeakMarks::add_root_words(std::span<const uint64_t> words) {
  for (const uint64_t word : words) mark_from(word, false);
}

void LeakMarks::add_root(MemoryRange range, bool is_libc) {
  const auto add = [&](MemoryRange part) {
    if (part.start >= part.end || is_interrupted_) return;
    source_.visit(part, [&](std::span<const uint64_t> words, uint64_t) {
      if (has_to_stop_ && has_to_stop_()) is_interrupted_ = true;
      if (is_interrupted_) return;
      for (const uint64_t word : words) mark_from(word, is_libc);
    });
  };
  const uint64_t end = range.end & ~(kWordBytes - 1);
  uint64_t at = (range.start + kWordBytes - 1) & ~(kWordBytes - 1);
  for (uint32_t block = blocks_.first_behind(at);
       block < blocks_.size() && blocks_[block].start < end && !has_to_stop(); ++block) {
    add({at, std::min(blocks_[block].start & ~(kWordBytes - 1), end)});
    at = std::max(at, (blocks_[block].end() + kWordBytes - 1) & ~(kWordBytes - 1));
  }
  add({at, end});
}

void LeakMarks::scan(uint32_t index, const std::function<void(uint64_t)>& visit_word) {
  const LeakBlock& block = blocks_[index];
  const uint64_t start = (block.start + kWordBytes - 1) & ~(kWordBytes - 1);
  const uint64_t end = (block.start + block.size_bytes) & ~(kWordBytes - 1);
  if (start >= end) return;
  source_.visit({start, end}, [&](std::span<const uint64_t> words, uint64_t) {
    for (const uint64_t word : words) {
      if (word != 0) visit_word(word);
    }
  });
}

void LeakMarks::follow_reachable() {
  while (!reached_.empty() && !has_to_stop()) {
    const uint32_t block = reached_.back();
    reached_.pop_back();
    scan(block, [this](uint64_t word) { mark_from(word, false); });
  }
}

// A suspect that was reached after all is none any more.
void LeakMarks::follow_suspects() {
  std::erase_if(suspects_, [this](uint32_t block) { return blocks_[block].kind != LeakKind::kPossiblyLost; });
  while (!suspects_.empty() && !has_to_stop()) {
    const uint32_t block = suspects_.back();
    suspects_.pop_back();
    scan(block, [this](uint64_t word) {
      const Found found = look_up(word);
      if (found.block != BlockTable::kNone) suspect(found.block);
    });
  }
}

// Where each block that is lost leads to, among these.
LeakMarks::Edges LeakMarks::edges_of_lost() {
  Edges edges;
  edges.first.reserve(blocks_.size() + 1);
  for (uint32_t block = 0; block < blocks_.size(); ++block) {
    edges.first.push_back(edges.to.size());
    if (blocks_[block].kind != LeakKind::kUnjudged || has_to_stop()) continue;
    scan(block, [&](uint64_t word) {
      const uint32_t other = look_up(word).block;
      if (other != BlockTable::kNone && other != block && blocks_[other].kind == LeakKind::kUnjudged)
        edges.to.push_back(other);
    });
  }
  edges.first.push_back(edges.to.size());
  return edges;
}

// Goes from the block to all that it leads to and that was not visited; leave(block) is called for each when all that
// it leads to has been left.
template <typename Leave>
void LeakMarks::walk_lost(const Edges& edges, uint32_t from, std::vector<bool>* visited, const Leave& leave) {
  struct Step {
    uint32_t block;
    uint64_t next;
  };
  std::vector<Step> path = {{from, edges.first[from]}};
  (*visited)[from] = true;
  while (!path.empty() && !has_to_stop()) {
    Step& step = path.back();
    if (step.next == edges.first[step.block + 1]) {
      leave(step.block);
      path.pop_back();
      continue;
    }
    const uint32_t other = edges.to[step.next++];
    if ((*visited)[other]) continue;
    (*visited)[other] = true;
    path.push_back({other, edges.first[other]});
  }
}

// Blocks that lead to each other are a ring, and a block alone is one, too; of each ring that no other leads into one
// block is lost. When all are walked, in the order of addresses, a ring is left for good before any that leads into it
// is. So walks that begin at blocks in the reverse of that order begin at one block of each such ring, that of the
// smallest address, and have visited all others when their turn comes (as in Kosaraju's search for such rings).
void LeakMarks::follow_lost() {
  const Edges edges = edges_of_lost();
  std::vector<uint32_t> left;
  std::vector<bool> visited(blocks_.size());
  const auto is_lost = [this](uint32_t block) {
    return blocks_[block].kind != LeakKind::kReachable && blocks_[block].kind != LeakKind::kPossiblyLost;
  };
  for (uint32_t block = 0; block < blocks_.size(); ++block) {
    if (is_lost(block) && !visited[block])
      walk_lost(edges, block, &visited, [&left](uint32_t it) { left.push_back(it); });
  }
  visited.assign(blocks_.size(), false);
  for (auto block = left.rbegin(); block != left.rend(); ++block) {
    if (visited[*block]) continue;
    walk_lost(edges, *block, &visited, [this](uint32_t it) { blocks_[it].kind = LeakKind::kIndirectly; });
    blocks_[*block].kind = LeakKind::kLost;
  }
}

void LeakMarks::finish() {
  follow_reachable();
  follow_suspects();
  follow_lost();
}

}  // namespace heapprof::cli
