// cli/collect/books/device_ledger.h: the books of device memory: for each device its sites, exact peak, timeline and
// the blocks that are left.
//
// Guarantees
//  - wire::DeviceOperation defines the operations. The end of a context ends what was allocated in it; memory of a
//    handle ends when both its last reference and its last mapping are gone.
//  - An end without a begin is counted, and changes nothing.
//  - Memory that a call of the CUDA runtime returned, in which no call of the driver was seen, is live memory, too,
//    unless it lies inside a block or mapping that the driver handed out.
// Context:  one thread; events in the order of their stamps.
// Trust:    every number is the target's.
// Cost:     a few look-ups an event; 160 bytes a live block.
#pragma once

#include "cli/collect/books/device_book.h"
#include "cli/collect/books/inner_blocks.h"
#include "cli/collect/books/trace_book.h"
#include "cli/collect/rings/device_event.h"
#include "cli/collect/rings/event.h"
#include "cli/model/profile/segments_use.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace heapprof::cli {

struct DeviceBlock {
  uint64_t size_bytes;
  uint64_t birth;    // ticks
  uint64_t context;  // 0: it outlives every context
  uint32_t device;
  uint32_t site;
  uint32_t thread;
  uint32_t references;  // of a handle: references and mappings; of imported memory: how often it was opened
  bool is_of_pool;
  bool is_unseen;           // by a call of the CUDA runtime in which no driver call was seen
  uint16_t name = 0;        // number of the program's name for it; 0: none
  bool is_segment = false;  // a tensor has lain in it
};
static_assert(sizeof(DeviceBlock) == 48);

// Sums over all calls of one kind (wire::DeviceCall) at one site, or by one thread.
struct CallSum {
  uint64_t count;
  uint64_t duration_ticks;
  uint64_t size_bytes;
};
using CallSums =
    std::unordered_map<uint64_t, CallSum>;  // by wire::DeviceCall in the upper half, site or thread id in the lower

class DeviceLedger {
 public:
  void start(uint64_t ticks) { start_ticks_ = ticks; }
  // The times that divide lifetimes into buckets, for all books; without them no lifetimes are kept by bucket
  // (stay_book.h).
  void set_bounds(StayBounds* bounds) { bounds_ = bounds; }
  // thread_id: the kernel's id of the thread; event.thread() is only its slot
  void apply(const DeviceEvent& device_event, const Event& event, uint32_t thread_id, uint64_t now_ticks);
  // Names the memory that begins at the address, or is mapped there. False: no memory does.
  bool name(uint64_t address, uint32_t name);
  // The tensor that begins at the address or, if there is no tensor, the memory that begins there. Its `device` is the
  // key in books().
  std::optional<DeviceBlock> find_tensor(uint64_t address);
  // Forgets the thread's last operations: another thread may get its slot.
  void forget_thread(uint32_t thread) {
    for (const auto& [device, blocks] : inner_) blocks->forget_thread(thread);
    latest_.erase(thread);
    released_.erase(thread);
    released_handles_.erase(thread);
    unmapped_.erase(thread);
    begun_.erase(thread);
  }
  // An event of a block inside a device's memory, or of a Python object.
  InnerChange apply_inner(const DeviceEvent& device_event, const Event& event, uint64_t now_ticks);
  // Call for a forked child: it may end inner blocks that its parent began, so their ends do not count as unmatched.
  void set_inherits() { inherits_ = true; }
  // How much of a device's segments is used by tensors. Times are in ticks.
  SegmentsUse segments_of(uint32_t device) const;
  void stop_growing();
  // The trace of device events, without Python objects.
  TraceBook& trace() { return trace_; }
  const TraceBook& trace() const { return trace_; }
  // visit(device number, address, size_bytes, site, is_mapping, is_segment): live memory of the driver that has an
  // address.
  template <typename Visitor>
  void for_each_address(const Visitor& visit) const {
    for (const auto& [address, block] : memory_)
      visit(block.device, address, block.size_bytes, block.site, false, block.is_segment);
    for (const auto& [address, mapping] : mappings_) {
      const auto handle = handles_.find(mapping.handle);
      if (handle != handles_.end())
        visit(handle->second.device, address, mapping.size_bytes, mapping.site, true, mapping.is_segment);
    }
  }
  // visit(device number, const Block&): live tensors.
  template <typename Visitor>
  void for_each_tensor(const Visitor& visit) const {
    for (const auto& [number, blocks] : inner_) {
      if (number == wire::kPythonDevice) continue;
      blocks->for_each_live([&visit, device = number](const Block& block) { visit(device, block); });
    }
  }
  // Ends the lifetimes of all blocks that are left.
  void finish(uint64_t end_ticks);

  // The books of all devices that ever had memory, by wire's device number.
  struct DevicesFirst {
    bool operator()(uint32_t a, uint32_t b) const {
      const auto rank = [](uint32_t device) {  // each CUDA device is followed by its tensors
        return std::pair(device < wire::kUnknownCudaDevice, device >= kInnerOfCuda ? device - kInnerOfCuda : device);
      };
      return rank(a) != rank(b) ? rank(a) < rank(b) : a < b;
    }
  };
  using Books = std::map<uint32_t, std::unique_ptr<DeviceBook>, DevicesFirst>;
  Books& books() { return books_; }
  const CallSums& calls_by_site() const { return calls_by_site_; }
  const CallSums& calls_by_thread() const { return calls_by_thread_; }
  // The memory that the process is known to use on the device: what is live, and what the driver holds in addition for
  // its pools and graphs.
  uint64_t seen_bytes(uint32_t device) const;
  // Operations on memory and handles without a recorded begin, and begins without a recorded end of the previous block.
  uint64_t unmatched() const;
  // About how much memory its tables take.
  uint64_t bytes() const {
    return (memory_.size() + handles_.size() + mappings_.size() + graph_addresses_.size()) * kBlockBytes +
           inner_bytes() + trace_.bytes() + books_.size() * kBookBytes +
           (calls_by_site_.size() + calls_by_thread_.size()) * kCallBytes;
  }
  // Calls visit(block) for each block that is live; after finish() for each that is left.
  template <typename Visitor>
  void for_each_live(uint32_t device, const Visitor& visit) const {
    if (is_inner(device)) {
      const auto at = inner_.find(device);
      if (at == inner_.end()) return;
      return at->second->for_each_live([&](const Block& block) {
        visit(DeviceBlock{block.size_bytes, block.birth, 0, device, block.site, block.thread, 1, false, false});
      });
    }
    for (const auto* blocks : {&memory_, &handles_}) {
      for (const auto& [key, block] : *blocks) {
        if (block.device == device) visit(block);
      }
    }
  }

 private:
  static constexpr uint64_t kBlockBytes = 160;
  static constexpr uint64_t kBookBytes = 128 << 10;
  static constexpr uint64_t kCallBytes = 64;

  struct Mapping {
    uint64_t size_bytes;
    uint64_t handle;
    uint32_t count;  // external memory may be mapped to one address again
    uint32_t site;
    bool is_segment = false;  // a tensor has lain in it
  };
  enum class Ended {
    kBlock,
    kReference,
    kNothing
  };  // kReference: other references are left, so the block lives on; kNothing: there was no block
  // A thread's last release. It is undone if the driver refused it.
  struct Released {
    uint64_t key;
    Ended ended;
    DeviceBlock block;
    uint64_t lifetime_ticks;
    bool is_temporary;
  };
  using ReleasedBy = std::unordered_map<uint32_t, Released>;  // by thread
  // A mapping that ended, and the effect on its memory.
  struct Unmapped {
    uint64_t address;
    Mapping mapping;
    Released memory;
  };
  struct Begun {  // an operation that takes memory implicitly (kBeginEstimate)
    uint32_t device;
    uint64_t free_bytes;  // wire::kFreeUnknown
    uint64_t live_bytes;
  };
  using Blocks = std::map<uint64_t, DeviceBlock>;
  // The segments of a device.
  struct Segments {
    uint64_t reserved_bytes = 0;
    uint64_t peak_bytes = 0;
    uint64_t looked_bytes = 0;  // the peak at which `at_peak` was taken
    SegmentsMoment at_peak;
    SegmentsMoment at_refusal;
  };

  DeviceBook& book_of(uint32_t device);
  uint64_t inner_bytes() const;
  SegmentsMoment look_at_segments(uint32_t device) const;
  void enter_segments(uint32_t device, uint64_t address, uint64_t size_bytes);
  void begin_segment(uint32_t device, uint64_t size_bytes);
  void end_segment(uint32_t device, uint64_t size_bytes);
  void end_mapping_segment(const Mapping& mapping);
  void trace(TraceAction action, uint64_t address, const DeviceBlock& block) {
    trace_.note(action, {block.device, address, block.size_bytes, block.site, block.is_segment}, now_ticks_);
  }
  void trace_refusal(uint32_t number, const DeviceEvent& device_event, const Event& event) {
    const uint64_t free_bytes = wire::free_of(device_event.address);
    const uint64_t free = free_bytes == wire::kFreeUnknown ? kFreeNotKnown : free_bytes;
    trace_.note(TraceAction::kRefuse, {number, free, event.size_bytes, event.site, false}, now_ticks_);
  }
  void trace_mapping(TraceAction action, uint64_t address, const Mapping& mapping) {
    if (!trace_.is_on()) return;
    const auto handle = handles_.find(mapping.handle);
    if (handle == handles_.end()) return;
    trace_.note(action, {handle->second.device, address, mapping.size_bytes, mapping.site, mapping.is_segment},
                now_ticks_);
  }
  void name_block(DeviceBlock* block, uint32_t name);
  bool add_reference(Blocks* blocks, uint64_t key, uint32_t device);
  void open(Blocks* blocks, uint64_t key, const DeviceBlock& block);
  Released close(const DeviceBlock& block, uint64_t key);
  Released drop_reference(Blocks* blocks, uint64_t key);
  void take_back(Blocks* blocks, ReleasedBy* released, uint64_t key, uint32_t thread);
  void note_change(const DeviceBlock& block);
  void release(uint64_t address, uint32_t thread);
  void forget_latest(uint32_t thread, uint64_t key);  // if the thread's latest block is that one
  void keep(uint64_t address, uint32_t thread);
  void reopen(Blocks* blocks, const Released& released);
  void map(uint64_t address, const Mapping& mapping);
  void unmap(uint64_t address, uint64_t size_bytes, uint32_t thread);
  void keep_mappings(uint32_t thread);
  void end_context(uint64_t context, uint32_t thread);
  bool is_piece(uint64_t address) const;
  void release_unseen(uint64_t address, uint32_t thread);
  void begin_estimate(const DeviceEvent& device_event, uint32_t thread);
  void end_estimate(const DeviceEvent& device_event, const Event& event);
  void count_call(const DeviceEvent& device_event, const Event& event, uint32_t thread_id);

  TraceBook trace_;
  Books books_;
  CallSums calls_by_site_;
  CallSums calls_by_thread_;
  Blocks memory_;                                  // by address
  Blocks handles_;                                 // by handle
  std::map<uint64_t, Mapping> mappings_;           // by address
  std::unordered_map<uint32_t, uint64_t> latest_;  // by thread: its latest block; if that ends now, it is temporary
  ReleasedBy released_;
  ReleasedBy released_handles_;
  std::unordered_map<uint32_t, std::vector<Unmapped>> unmapped_;  // by thread: what its last kUnmap ended
  static constexpr size_t kMostEnding = 4096;                     // entries of ending_; such calls are short
  // By context and the thread that may end it: when its end began. Memory born until then ends with it.
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> ending_;
  std::unordered_set<uint64_t> graph_addresses_;
  std::map<uint32_t, std::unique_ptr<InnerBlocks>> inner_;  // by inner_number
  std::map<uint32_t, Segments> segments_;                   // by device
  InnerBlocks* objects_ = nullptr;                          // Python's, one of inner_
  bool inherits_ = false;
  std::unordered_map<uint32_t, Begun> begun_;  // by thread: the last, until it ends
  uint64_t start_ticks_ = 0;
  StayBounds* bounds_ = nullptr;
  uint64_t now_ticks_ = 0;
  uint64_t unmatched_ = 0;
};

// "pinned", "managed", "imported", "registered", "mapped", "cuda:0", "cuda:0/tensors", "python" …
std::string device_name(uint32_t device);

}  // namespace heapprof::cli
