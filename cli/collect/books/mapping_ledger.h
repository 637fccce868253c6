// cli/collect/books/mapping_ledger.h: the books of the pages that a program mapped itself: anonymous pages, those of
// files, and those that are only reserved (PROT_NONE), each counted as a device.
//
// Guarantees
//  - A block consists of the pages that one call mapped, or to which it granted or removed access. Its live bytes are
//    those of pages that are still mapped; it ends with the last of them. Pages end when others are mapped over them.
//    Pages that mremap moves count until they have moved.
//  - Pages whose begin was not recorded (the loader's, stacks of threads) change nothing, until mremap moves them.
//  - A failed call leaves its pages unchanged.
// Context:  one thread; events in the order of their stamps.
// Trust:    every number is the target's, within wire::is_range().
// Cost:     a look-up in a tree an event, and a step for each piece that ends or changes its device. Events that may
//           walk the same pieces again and again (changes of protection, failed calls) are given up after kMostLooks,
//           and counted.
#pragma once

#include "cli/collect/books/device_ledger.h"
#include "cli/collect/books/page_ranges.h"
#include "shared/device_operations.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

struct MappedBlock {
  uint64_t live_bytes;
  uint64_t birth;   // ticks
  uint32_t device;  // wire::kMappedDevice …
  uint32_t site;
  uint32_t thread;
  bool is_file;       // true also while it is only reserved
  uint16_t name = 0;  // number of the program's name for it; 0: none
};
static_assert(sizeof(MappedBlock) == 32);

class MappingLedger {
 public:
  static constexpr bool is_about(wire::DeviceOperation operation) { return wire::is_about_pages(operation); }

  void start(uint64_t ticks) { start_ticks_ = ticks; }
  // The bucket boundaries of all books' stays; without them there are no stays.
  void set_bounds(StayBounds* bounds) { bounds_ = bounds; }
  // pre: is_about(device_event.operation)
  void apply(const DeviceEvent& device_event, const Event& event, uint64_t now_ticks);
  // Names the block that begins at the address. False: none does.
  bool name(uint64_t address, uint32_t name);
  // Forgets the thread's last operations: another thread may get its slot.
  void forget_thread(uint32_t thread);
  // Settles unfinished moves, and ends the lifetimes.
  void finish(uint64_t end_ticks);

  // The book of this device; nullptr: it never had a page.
  DeviceBook* book(uint32_t device) const { return books_[device - wire::kMappedDevice].get(); }
  uint64_t live_bytes(uint32_t device) const {
    return book(device) == nullptr ? 0 : book(device)->sites.totals().live.bytes;
  }
  // The number of events whose effect is not in the books.
  uint64_t unmatched() const { return unmatched_; }
  // About how much memory its tables take.
  uint64_t bytes() const { return ranges_.size() * kPieceBytes + blocks_.size() * kBlockBytes; }
  // Calls visit(const PagePiece&) for all pages mapped now, of files or not, except those only reserved.
  template <typename Visitor>
  void for_each_range(const Visitor& visit) const {
    ranges_.for_each([&](const PagePiece& piece) {
      const auto block = blocks_.find(piece.block);
      if (block != blocks_.end() && block->second.device != wire::kReservedDevice) visit(piece);
    });
  }
  // Calls visit(const MappedBlock&) for each block that is live; after finish() for each that is left.
  template <typename Visitor>
  void for_each_live(uint32_t device, const Visitor& visit) const {
    for (const auto& [id, block] : blocks_) {
      if (block.device == device) visit(block);
    }
  }

 private:
  static constexpr uint64_t kPieceBytes = 100;
  static constexpr uint64_t kBlockBytes = 100;
  static constexpr size_t kFreeLooks = 16;           // at pieces, of one event
  static constexpr uint64_t kMostLooks = 2'000'000;  // beyond those: seconds in all

  struct Ended {
    MappedBlock block;
    uint64_t lifetime_ticks;
    bool is_temporary;
  };
  // What a thread's last unmapping ended, in case it turns out to have failed.
  struct Unmapped {
    uint64_t start;
    std::vector<PagePiece> pieces;
    std::unordered_map<uint64_t, Ended> ended;  // by block
    uint64_t ticks;                             // when
  };
  // Pages of one kind that mremap moves or copies.
  struct MovedKind {
    uint32_t device;
    bool is_file;
    uint32_t name;
    std::vector<PagePiece> pieces;
  };
  // The pages that mremap is about to move: they were removed from the ranges, but are still in the sums.
  struct Moving {
    uint64_t start;
    uint64_t size_bytes;  // 0: it is not moved, but gets a second mapping
    std::vector<PagePiece> pieces;
    bool is_long;  // too many pieces to find their kinds
  };

  using Moves = std::unordered_map<uint32_t, Moving>;

  DeviceBook& book_of(uint32_t device);
  void open(const Event& event, uint32_t device, bool is_file, const std::vector<PagePiece>& pieces);
  void end_move(const Moving& moving, const DeviceEvent& device_event, const Event& event);
  std::vector<PagePiece> pieces_to_copy(const Moving& moving, const DeviceEvent& device_event, uint64_t size_bytes,
                                        bool* is_long);
  std::vector<MovedKind> kinds_of(const std::vector<PagePiece>& pieces, uint64_t end, bool is_first_only) const;
  void name_block(MappedBlock* block, uint32_t name);
  // Fills in `ended` if that was the block's last byte.
  bool drop(const PagePiece& piece, bool may_be_temporary, Ended* ended);
  void drop_all(const std::vector<PagePiece>& pieces);
  void map(const DeviceEvent& device_event, const Event& event);
  void unmap(uint64_t start, uint64_t end, uint32_t thread);
  void begin_move(uint64_t start, uint64_t size_bytes, uint32_t thread);
  void keep(uint64_t start, uint32_t thread);
  void put_back(const Moving& moving);
  void abandon_move(Moves::iterator at);
  void restore(const Unmapped& unmapped);
  void protect(uint64_t start, uint64_t end, bool is_reserved, const Event& event);
  bool may_look_at(size_t pieces);
  void note_changes();

  std::array<std::unique_ptr<DeviceBook>, 3> books_;
  PageRanges ranges_;
  std::unordered_map<uint64_t, MappedBlock> blocks_;
  std::unordered_map<uint32_t, uint64_t> latest_;    // by thread: its latest block, whose end now makes it temporary
  std::unordered_map<uint32_t, Unmapped> unmapped_;  // by thread
  Moves moving_;                                     // by thread
  uint64_t last_block_ = 0;
  uint64_t looks_ = 0;
  uint64_t unmatched_ = 0;
  uint64_t start_ticks_ = 0;
  StayBounds* bounds_ = nullptr;
  uint64_t now_ticks_ = 0;
};

}  // namespace heapprof::cli
