// cli/collect/leaks/leak_marks.h: finds the blocks that can still be reached from the roots: a conservative search, in
// which every word may be a pointer.
//
// The kinds are those of Valgrind's memcheck. A block is reachable if pointers to starts of blocks lead to it from the
// roots. If every such path needs a pointer into the middle of a block, this one or one on the way, the block is
// possibly lost. Four patterns of C++ libraries count as pointers to the start (leak_marks.cc). All other blocks are
// lost. A lost block is definitely lost if no other lost block points to it. If blocks that reach each other (a ring)
// are not reached from any other, the one with the smallest address is definitely lost. Blocks reached from a lost one
// are indirectly lost. A definitely lost block, alone or with its ring, owns all blocks that are reached from it.
// lost_owners() says by site how much this is.
//
// Guarantees
//  - Every block gets a kind. Only words at addresses that are multiples of 8 are pointers.
//  - A block's content is read at most once, plus once each time that its holder changes because another holder leads
//    to it as well (Join).
//  - Each block that is definitely or indirectly lost counts for one owner, even if several lead to it. Blocks of site
//    0 were not recorded: they are searched, but not counted.
// Trust:    the memory read is the program's: a word may be anything, and leads to a block of the table or nowhere.
// Context:  one thread.
// Cost:     about 10 ns a block and 1-2 ns a word, up to four times that if holders share blocks; 8 bytes for each
//           pointer from one lost block to another, and 24 for each block. tests/bench does not measure it, because it
//           runs once, at the end, and only with the flag.
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

// The memory that the search reads: that of a process, which must not change during the search.
class WordSource {
 public:
  // `words` start at `address`.
  using Visit = std::function<void(std::span<const uint64_t> words, uint64_t address)>;

  virtual ~WordSource() = default;
  // Visits the existing words of the range, in order. Pages that were never touched have only zeros and may be left
  // out. The callback may visit words itself, of less than 64 KiB.
  virtual void visit(MemoryRange range, const Visit& visit) = 0;
  // Whether a virtual function table is at the address, as an object would point to it.
  virtual bool is_vtable(uint64_t address) = 0;
};

// The blocks of one site that are among the owners.
struct LostPart {
  uint32_t site = 0;
  uint64_t bytes = 0;
  uint64_t blocks = 0;

  bool operator==(const LostPart&) const = default;
};

// Lost blocks of one site that nothing points to; or rings of lost blocks that no other block points into, all of the
// same sites.
struct LostOwner {
  std::vector<LostPart> parts;  // the largest first, kMostParts at most; empty: this is the sum of all other owners
  bool is_ring = false;
  uint64_t owners = 0;  // how many blocks, or rings
  uint64_t bytes = 0;   // of the owners and all that is reached from them
  uint64_t blocks = 0;

  bool operator==(const LostOwner&) const = default;
};

class LeakMarks {
 public:
  static constexpr size_t kMostOwners = 256;
  static constexpr size_t kMostParts = 4;
  static constexpr uint32_t kMostHolderId = (1 << 24) - 1;
  // The holder of the block to which the word at this address of a root points (LeakBlock::holder).
  using HolderOf = std::function<uint32_t(uint64_t address)>;
  // The holder that represents both. If this holder is joined with one of the two again, it must stay the same. After a
  // few joins any holder must reach one that no longer changes.
  using Join = std::function<uint32_t(uint32_t holder, uint32_t other)>;

  LeakMarks(BlockTable* blocks, WordSource* source);

  // Adds memory whose words are roots. Parts inside a block of the table are left out: they count if the block is
  // reached. is_libc: this is data of the C library. Its malloc keeps addresses of the headers of free chunks, and such
  // a header may begin with the last word of the previous block.
  void add_root(MemoryRange range, bool is_libc, const HolderOf& holder_of = {});
  void add_root_words(std::span<const uint64_t> words, uint32_t holder = 0);
  // Blocks that have a holder now keep it. Holders from now on have greater ids than `all`. The holder `all` represents
  // all of them together, and does not change when it is joined. pre: follow(). join may be called until the next
  // begin_holders()
  void begin_holders(uint32_t all, const Join& join);
  // Gives all blocks reached from the roots so far their holders.
  void follow() { follow_reachable(); }
  // Call it after the last root. Then every block has its kind.
  void finish();
  // Call it after finish(). The largest owners come first, kMostOwners at most; the last one may be the sum of the
  // rest.
  const std::vector<LostOwner>& lost_owners() const { return owners_; }
  // Whether the search was stopped before its end. If so, no block's kind is valid.
  bool is_interrupted() const { return is_interrupted_; }
  // has_to_stop is called now and then; if it returns true, the search stops.
  void set_interrupt(std::function<bool()> has_to_stop) { has_to_stop_ = std::move(has_to_stop); }

 private:
  struct Found {
    uint32_t block;  // kNone: the word is no pointer
    bool is_start;
  };

  // The edges of block i are to[first[i]] … to[first[i + 1] - 1].
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
  std::vector<uint32_t> reached_;   // blocks whose content was not searched yet
  std::vector<uint32_t> suspects_;  // only pointers into their middle were found
  std::vector<LostOwner> owners_;
  uint32_t all_holders_ = 0;
  Join join_;
  uint64_t looks_ = 0;
  bool is_interrupted_ = false;
};

}  // namespace heapprof::cli
