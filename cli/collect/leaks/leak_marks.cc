// cli/collect/leaks/leak_marks.cc: three searches, each for a worse kind of block.
//
// The first search finds the blocks that roots reach by pointers to starts of blocks, and sets aside blocks to which
// only a pointer into their middle leads. The second search starts at the blocks set aside, and finds all blocks that
// they lead to and that were not reached yet. A block is searched once, because its content does not depend on what
// leads to it. The blocks that are left are lost. The third search finds which of them a programmer has to free, so
// that the rest is freed with them, and how much this is.
//
// Some pointers into the middle count as pointers to the start (as with Valgrind's --leak-check-heuristics). These are
// pointers to the characters of a string of the old ABI, after its length, capacity and count; to the address after the
// size that some allocators put before a block (sqlite); and to the address after the number of elements that new[]
// stores if elements have destructors. Pointers to a base of an object with several bases count as well, if both begin
// with a virtual function table.
#include "cli/collect/leaks/leak_marks.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kWordBytes = sizeof(uint64_t);
constexpr uint64_t kMostObjectBytes = 64 << 10;  // of an object with several bases
constexpr uint64_t kMostHeaderBytes = 24;        // before the data of an old string or an array
constexpr uint64_t kLooksBetween = 4096;         // blocks that are visited between two checks whether to stop

// The header of a chunk of glibc's malloc is 16 bytes before its block; its first 8 bytes are in the previous block.
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

// Length, capacity, reference count, and then the characters and a zero byte: the capacity determines the block's size.
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

// Adds up owners of the same kind with the same sites. The sum for a ring is looked up by all its sites; there are no
// more of them than blocks in the ring. The sum for a single block is looked up by its site alone, because there may be
// millions of single blocks.
class OwnerSums {
 public:
  // owner: the blocks of a ring, or one block; bytes, blocks: the size and number of these and all blocks that they
  // lead to.
  void add(const BlockTable& table, std::vector<uint32_t>* owner, uint64_t bytes, uint64_t blocks) {
    if (blocks == 0) return;  // none of them was recorded
    std::sort(owner->begin(), owner->end(), [&table](uint32_t a, uint32_t b) { return table[a].site < table[b].site; });
    std::vector<LostPart> parts;
    for (const uint32_t index : *owner) {
      const LeakBlock& block = table[index];
      if (block.site == 0) continue;
      if (parts.empty() || parts.back().site != block.site) parts.push_back({block.site, 0, 0});
      parts.back().bytes += block.size_bytes;
      ++parts.back().blocks;
    }
    LostOwner& sum = sum_of(parts, owner->size() > 1);
    for (size_t i = 0; i < parts.size(); ++i) {
      sum.parts[i].bytes += parts[i].bytes;
      sum.parts[i].blocks += parts[i].blocks;
    }
    ++sum.owners;
    sum.bytes += bytes;
    sum.blocks += blocks;
  }

  std::vector<LostOwner> take() {
    std::vector<LostOwner> owners;
    LostOwner rest = std::move(unrecorded_);
    for (auto& [site, owner] : single_) owners.push_back(std::move(owner));
    for (auto& [sites, owner] : rings_) owners.push_back(std::move(owner));
    for (LostOwner& owner : owners) shorten(&owner.parts);
    std::stable_sort(owners.begin(), owners.end(), [](const LostOwner& a, const LostOwner& b) {
      return std::tuple(b.bytes, b.blocks, a.is_ring, a.parts[0].site) <
             std::tuple(a.bytes, a.blocks, b.is_ring, b.parts[0].site);
    });
    const size_t most = LeakMarks::kMostOwners;
    const bool has_rest = rest.owners != 0 || owners.size() > most;
    while (owners.size() > most - (has_rest ? 1 : 0)) {
      rest.owners += owners.back().owners;
      rest.bytes += owners.back().bytes;
      rest.blocks += owners.back().blocks;
      owners.pop_back();
    }
    if (has_rest) owners.push_back(std::move(rest));
    return owners;
  }

 private:
  static void shorten(std::vector<LostPart>* parts) {
    std::sort(parts->begin(), parts->end(), [](const LostPart& a, const LostPart& b) {
      return std::tuple(b.bytes, b.blocks, a.site) < std::tuple(a.bytes, a.blocks, b.site);
    });
    if (parts->size() > LeakMarks::kMostParts) parts->resize(LeakMarks::kMostParts);
  }

  // The sum to which an owner with these parts is added. Its own parts are in the order of `parts`.
  LostOwner& sum_of(const std::vector<LostPart>& parts, bool is_ring) {
    if (parts.empty()) return unrecorded_;
    LostOwner* sum = nullptr;
    if (is_ring) {
      std::vector<uint32_t> sites;
      for (const LostPart& part : parts) sites.push_back(part.site);
      sum = &rings_[std::move(sites)];
    } else {
      sum = &single_[parts[0].site];
    }
    sum->is_ring = is_ring;
    if (!sum->parts.empty()) return *sum;
    for (const LostPart& part : parts) sum->parts.push_back({part.site, 0, 0});
    return *sum;
  }

  std::unordered_map<uint32_t, LostOwner> single_;
  std::map<std::vector<uint32_t>, LostOwner> rings_;  // by their sites, ascending
  LostOwner unrecorded_;                              // of blocks that were not recorded
};

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

void LeakMarks::reach(uint32_t index, uint32_t holder) {
  LeakBlock& block = blocks_[index];
  if (block.kind == LeakKind::kReachable) {
    if (block.holder == holder || block.holder <= all_holders_) return;
    holder = join_(block.holder, holder);
    if (block.holder == holder) return;
  }
  block.kind = LeakKind::kReachable;
  block.holder = holder & kMostHolderId;
  reached_.push_back(index);
}

void LeakMarks::suspect(uint32_t block) {
  if (blocks_[block].kind != LeakKind::kUnjudged) return;
  blocks_[block].kind = LeakKind::kPossiblyLost;
  suspects_.push_back(block);
}

// holder_of_word is called if the word leads to a block whose holder may change.
template <typename HolderOfWord>
void LeakMarks::mark_from(uint64_t word, bool is_libc, const HolderOfWord& holder_of_word) {
  const Found found = look_up(word);
  if (found.block == BlockTable::kNone) return;
  const LeakBlock& block = blocks_[found.block];
  if (block.kind == LeakKind::kReachable && block.holder <= all_holders_) return;
  if (found.is_start) return reach(found.block, holder_of_word());
  if (is_libc && word == next_header_of(block)) return;
  const uint32_t holder = holder_of_word();
  if (block.kind == LeakKind::kReachable && block.holder == holder) return;
  if (counts_as_start(found.block, word)) return reach(found.block, holder);
  suspect(found.block);
}

void LeakMarks::begin_holders(uint32_t all, const Join& join) {
  all_holders_ = all;
  join_ = join;
}

void LeakMarks::add_root_words(std::span<const uint64_t> words, uint32_t holder) {
  for (const uint64_t word : words) mark_from(word, false, [holder] { return holder; });
}

void LeakMarks::add_root(MemoryRange range, bool is_libc, const HolderOf& holder_of) {
  const auto add = [&](MemoryRange part) {
    if (part.start >= part.end || is_interrupted_) return;
    source_.visit(part, [&](std::span<const uint64_t> words, uint64_t address) {
      if (has_to_stop_ && has_to_stop_()) is_interrupted_ = true;
      if (is_interrupted_) return;
      for (size_t i = 0; i < words.size(); ++i)
        mark_from(words[i], is_libc, [&] { return holder_of ? holder_of(address + i * kWordBytes) : 0; });
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
    const uint32_t holder = blocks_[block].holder;
    scan(block, [this, holder](uint64_t word) { mark_from(word, false, [holder] { return holder; }); });
  }
}

// First drops the suspects that were reached in another way after all.
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

// The pointers from lost blocks to lost blocks.
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

// The same pointers, in the reverse direction.
LeakMarks::Edges LeakMarks::reversed(const Edges& edges) {
  Edges back;
  back.first.assign(edges.first.size(), 0);
  back.to.resize(edges.to.size());
  for (const uint32_t to : edges.to) ++back.first[to + 1];
  for (size_t i = 1; i < back.first.size(); ++i) back.first[i] += back.first[i - 1];
  std::vector<uint64_t> next(back.first.begin(), back.first.end() - 1);
  for (uint32_t from = 0; from + 1 < edges.first.size(); ++from) {
    for (uint64_t i = edges.first[from]; i < edges.first[from + 1]; ++i) back.to[next[edges.to[i]]++] = from;
  }
  return back;
}

// Depth-first search from the block, over unvisited blocks; calls leave(block) for each after all that it leads to
// (post-order).
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

// A ring is a set of blocks that reach each other (a strongly connected component); a single block is one, too. In each
// ring that no other ring leads into, one block is definitely lost. The first walks visit all blocks in the order of
// their addresses, and note the order in which blocks are left. If one ring leads into another, its last block is left
// after all blocks of the other. So the second walks, which start in the reverse of this order, start at one block of
// each ring that no other leads into: the one with the smallest address. All other blocks have been visited when their
// turn comes (as in Kosaraju's algorithm). A third walk, against the pointers, from each start finds the blocks of its
// ring. It finds no other blocks, because no other ring leads to this one; so no two of these walks visit the same
// block.
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
  const Edges back = reversed(edges);
  std::vector<bool> is_in_ring(blocks_.size());
  std::vector<uint32_t> ring;
  OwnerSums sums;
  for (auto block = left.rbegin(); block != left.rend() && !is_interrupted_; ++block) {
    if (visited[*block]) continue;
    uint64_t bytes = 0;
    uint64_t blocks = 0;
    walk_lost(edges, *block, &visited, [&](uint32_t it) {
      blocks_[it].kind = LeakKind::kIndirectly;
      if (blocks_[it].site == 0) return;
      bytes += blocks_[it].size_bytes;
      ++blocks;
    });
    blocks_[*block].kind = LeakKind::kLost;
    ring.clear();
    walk_lost(back, *block, &is_in_ring, [&ring](uint32_t it) { ring.push_back(it); });
    if (!is_interrupted_) sums.add(blocks_, &ring, bytes, blocks);
  }
  if (!is_interrupted_) owners_ = sums.take();
}

void LeakMarks::finish() {
  follow_reachable();
  follow_suspects();
  follow_lost();
}

}  // namespace heapprof::cli
