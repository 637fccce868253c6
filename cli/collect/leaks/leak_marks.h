// cli/collect/leaks/leak_marks.h: which blocks can still be reached, given the roots: a search through memory in which
// every word may be a pointer.
//
// The kinds are those of Valgrind's memcheck. A block that roots lead to by pointers to starts of blocks is reachable.
// One to which only a pointer into a middle leads, there or on the way, is possibly lost; four patterns of C++
// libraries count as pointers to the start (leak_marks.cc). Of the others one is lost of which nothing that is lost
// leads to it, or one of a ring of them that lead to each other, that of the smallest address; what is reached from
// there is lost indirectly. Such a lost block, alone or with its ring, owns what is reached from it: lost_owners() says
// by site how much that is.
//
// Guarantees
//  - Every block gets a kind. Only words at addresses that are multiples of 8 are pointers.
//  - What a block holds is read once at most, and once more each time that another holder leads to it, too (Join).
//  - Each block that is lost, or lost indirectly, counts with one owner: what several lead to with one of them. Blocks
//    of site 0, which were not recorded, lead to others and count nowhere.
// Trust:    what is read is the program's: any word may be anything, and leads to a block of the table or nowhere.
// Context:  one thread.
// Cost:     about 10 ns a block and 1-2 ns a word, up to four times that where holders share (tests/bench is without
//           it: once a run, at its end, and with the flag); 8 bytes for each pointer from one lost block to another,
//           and 24 for each block.
#pragma once

#include "cli/collect/leaks/block_table.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace heapprof::cli {

struct MemoryRange {
  uint64_t start = 0;
  uint64_t end = 0;

  bool operator==(const MemoryRange&) const = default;
};

// What the search reads: the memory of a process that does not change meanwhile.
class WordSource {
 public:
  // `words` are those from `address` on.
  using Visit = std::function<void(std::span<const uint64_t> words, uint64_t address)>;

  virtual ~WordSource() = default;
  // Visits the words of the range that there are, in order. Pages that were never touched hold no word but 0 and may be
  // left out. What is called may visit words itself, of less than 64 KiB.
  virtual void visit(MemoryRange range, const Visit& visit) = 0;
  // Whether there stands a table of virtual functions, as its object would point to.
  virtual bool is_vtable(uint64_t address) = 0;
};

// Blocks of one site among those that own.
struct LostPart {
  uint32_t site = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;

  bool operator==(const LostPart&) const = default;
};

// Lost blocks of one site that nothing leads to; or rings of lost blocks that lead to each other, and that no other
// leads into: of the same sites.
struct LostOwner {
  std::vector<LostPart> parts;  // the largest first, kMostParts at most; empty: of all other owners together
  bool is_ring = false;
  uint64_t owners = 0;  // blocks, or rings
  uint64_t bytes = 0;   // of them and all that is reached from them
  uint64_t blocks = 0;

  bool operator==(const LostOwner&) const = default;
};

class LeakMarks {
 public:
  static constexpr size_t kMostOwners = 256;
  static constexpr size_t kMostParts = 4;
  static constexpr uint32_t kMostHolderId = (1 << 24) - 1;
  // Who holds what the word at this address of a root leads to (LeakBlock::holder).
  using HolderOf = std::function<uint32_t(uint64_t address)>;
  // The holder that stands for both. Of one of them and what stands for both it is the latter; and only a few steps
  // lead from any holder to one that stays what it is.
  using Join = std::function<uint32_t(uint32_t holder, uint32_t other)>;

  LeakMarks(BlockTable* blocks, WordSource* source);

  // Whose words lead to blocks. What lies in a block of the table is left out: it counts where the block is reached.
  // is_libc: data of the C library, whose malloc keeps addresses of the headers of chunks that are free: such a header
  // may begin with the last word of the block before it.
  void add_root(MemoryRange range, bool is_libc, const HolderOf& holder_of = {});
  void add_root_words(std::span<const uint64_t> words, uint32_t holder = 0);
  // What has a holder keeps it. Holders from now on have a greater id than this one, which stands for all of them
  // together, and stays that. pre: follow(); join can be called up to the next one
  void begin_holders(uint32_t all, const Join& join);
  // What the roots so far lead to has its holders.
  void follow() { follow_reachable(); }
  // After the last root: every block has its kind.
  void finish();
  // After finish(): the largest first, kMostOwners at most, of which the last one may be the rest.
  const std::vector<LostOwner>& lost_owners() const { return owners_; }
  // The deadline has passed: finish() was not done, and no kind means anything.
  bool is_interrupted() const { return is_interrupted_; }
  // Asked now and then: true: stop.
  void set_interrupt(std::function<bool()> has_to_stop) { has_to_stop_ = std::move(has_to_stop); }

 private:
  struct Found {
    uint32_t block;  // kNone: the word is no pointer
    bool is_start;
  };

  // Of block i those to [first[i], first[i + 1]).
  struct Edges {
    std::vector<uint64_t> first;
    std::vector<uint32_t> to;
  };

  Found look_up(uint64_t word);
  bool counts_as_start(uint32_t block, uint64_t word);
  template <typename HolderOfWord>
  void mark_from(uint64_t word, bool is_libc, const HolderOfWord& holder_of_word);
  void reach(uint32_t block, uint32_t holder);
  void suspect(uint32_t block);
  void scan(uint32_t block, const std::function<void(uint64_t)>& visit_word);
  void follow_reachable();
  void follow_suspects();
  Edges edges_of_lost();
  static Edges reversed(const Edges& edges);
  template <typename Leave>
  void walk_lost(const Edges& edges, uint32_t from, std::vector<bool>* visited, const Leave& leave);
  void follow_lost();
  bool has_to_stop();

  BlockTable& blocks_;
  WordSource& source_;
  std::function<bool()> has_to_stop_;
  std::vector<uint32_t> reached_;   // whose content was not looked at yet
  std::vector<uint32_t> suspects_;  // only pointers into their middle were seen
  std::vector<LostOwner> owners_;
  uint32_t all_holders_ = 0;
  Join join_;
  uint64_t looks_ = 0;
  bool is_interrupted_ = false;
};

}  // namespace heapprof::cli
