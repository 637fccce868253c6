// cli/collect/books/inner_blocks.h: blocks inside memory that is counted already: Python objects, tensors in a CUDA
// device.
//
// They have their own device book, which is never summed with another, and their own addresses: a heap block and the
// object in it may have the same one. There may be as many of them as of heap blocks, so they are kept in the same way.
//
// Guarantees
//  - A resize changes the sums at one moment, that of kResizeInner.
//  - Without memory a call throws std::bad_alloc and has changed nothing.
// Context:  one thread; events in the order of their stamps.
// Cost:     as for heap blocks (live_heap.h, ledger.h).
#pragma once

#include "cli/collect/books/device_book.h"
#include "cli/collect/books/live_heap.h"
#include "cli/collect/books/trace_book.h"
#include "cli/collect/rings/event.h"
#include "shared/events.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

// A device's inner blocks have their own number among the books: for a CUDA device, its number plus kInnerOfCuda.
constexpr uint32_t kInnerOfCuda = 256;
constexpr uint32_t inner_number(uint32_t device) {
  return device == wire::kPythonDevice ? device : device + kInnerOfCuda;
}
constexpr bool is_inner(uint32_t number) { return number == wire::kPythonDevice || number >= kInnerOfCuda; }

// What an event allocated and freed, for the scope that it was in.
struct InnerChange {
  Amount allocated{};
  Amount freed{};
};

class InnerBlocks {
 public:
  // The caller owns the book, and does not move it.
  explicit InnerBlocks(DeviceBook* book) : book_(*book) {}

  // Also traces its events, under that device number. The caller owns the trace, and does not move it.
  void trace_into(TraceBook* trace, uint32_t number) {
    trace_ = trace;
    number_ = number;
  }

  InnerChange apply(wire::DeviceOperation operation, uint64_t address, const Event& event, uint64_t now_ticks);
  void forget_thread(uint32_t thread);
  // Names the block that begins at the address, until it ends or is resized; false: no block does. Without memory it
  // throws std::bad_alloc, and no sum has changed.
  bool name(uint64_t address, uint32_t name);
  void stop_growing() { blocks_.stop_growing(); }
  // Settles resizes that never ended, and ends the lifetimes.
  void finish(uint64_t end_ticks);

  // Ends without a begin, and begins without a recorded end of the previous block.
  uint64_t unmatched() const { return unmatched_; }
  // How many of these are ends without a begin.
  uint64_t foreign() const { return foreign_; }
  uint64_t bytes() const { return blocks_.bytes(); }
  std::optional<Block> find(uint64_t address) {
    const LiveHeap::Entry* const entry = blocks_.find(address);
    return entry == nullptr ? std::nullopt : std::optional(entry->block(address));
  }
  // visit(const Block&); after finish() for each that is left.
  template <typename Visitor>
  void for_each_live(const Visitor& visit) const {
    blocks_.for_each(visit);
    for (const auto& [thread, begun] : begun_) {
      if (begun.is_known) visit(begun.block);
    }
  }

 private:
  struct Begun {  // a resize
    Block block;
    bool is_known;
    bool is_latest;  // its thread allocated nothing after it
  };

  void begin(uint64_t address, const Event& event, InnerChange* change);
  void end(uint64_t address, InnerChange* change);
  void move(uint64_t address, uint32_t thread);
  void keep(uint32_t thread);
  void close(const Block& block, bool is_temporary, InnerChange* change);
  void trace(TraceAction action, uint64_t address, uint64_t size_bytes, uint32_t site) {
    if (trace_ != nullptr) trace_->note(action, {number_, address, size_bytes, site, false}, now_ticks_);
  }
  void end_name(const Block& block);
  uint64_t& latest_of(uint32_t thread) {
    if (thread >= latest_.size()) latest_.resize(thread + 1);
    return latest_[thread];
  }

  DeviceBook& book_;
  TraceBook* trace_ = nullptr;  // nullptr: none
  uint32_t number_ = 0;
  LiveHeap blocks_;
  std::vector<uint64_t> latest_;                  // by thread: its latest block; if that ends now, it is temporary
  std::unordered_map<uint32_t, Begun> begun_;     // by thread
  std::unordered_map<uint64_t, uint32_t> names_;  // by address; of few blocks
  uint64_t now_ticks_ = 0;
  uint64_t unmatched_ = 0;
  uint64_t foreign_ = 0;
};

}  // namespace heapprof::cli
