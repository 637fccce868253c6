// cli/collect/rings/ring_decoder.h: turns the bytes of one ring into events whose stacks are sites. Stage one of two;
// the ledger is the other.
//
// Its state is the ring's: position, clock, previous stack, owner. What rings share (call tree, modules, threads) is in
// DecodeShared. The ledger may run in a second thread at the same time. It reads neither tree nor modules; before
// decode() changes the threads or the devices' events, it waits for the ledger. This costs little, because threads are
// few, and calls of a device's API take microseconds.
//
// Guarantees
//  - Stamps of the events of a ring never decrease.
//  - A record that no agent writes stops the ring: it is counted, and nothing after it is used.
// Trust:    every byte is hostile: each word is loaded once, into a local, checked, then used.
// Cost:     see tests/bench/collect.cc.
#pragma once

#include "cli/collect/rings/call_tree.h"
#include "cli/collect/rings/device_event.h"
#include "cli/collect/rings/event.h"
#include "cli/collect/rings/module_map.h"
#include "cli/collect/rings/path_memo.h"
#include "cli/collect/rings/sample_rates.h"
#include "cli/collect/rings/second_thread.h"
#include "cli/collect/rings/thread_table.h"
#include "shared/events.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {

// What all rings of a process have in common.
struct DecodeShared {
  CallTree* tree;
  ModuleMap* modules;
  ThreadTable* threads;
  uint32_t max_frames;
  DeviceEventTable* devices;
  const SampleRates* rates = nullptr;  // by which blocks may be sampled; nullptr: blocks are not sampled
  SecondThread* second;                // may be using the threads and devices; nullptr: no second one
  uint64_t truncated_stacks = 0;
  uint64_t corrupt_records = 0;

  // Waits until the ledger is done. After that, the decoder may change the data that it shares with the ledger.
  void settle() const {
    if (second != nullptr) second->wait();
  }

  PathMemo memo;

  // Scratch memory of decode().
  struct Frame {
    uint64_t pc_avma;
    uint32_t path_hash;
    uint32_t location;
  };
  struct Stack {
    static constexpr uint16_t kIndexMask = 0x0fff;
    static constexpr uint16_t kIsTruncated = 0x8000;
    static constexpr uint16_t kNoEvent = 0xffff;  // a part of a longer stack

    uint16_t event;  // index in the batch, with a flag, or kNoEvent
    uint16_t fresh;
    uint32_t keep;
  };
  std::vector<Frame> frames = std::vector<Frame>(kBatchFrames);
  std::vector<Stack> stacks = std::vector<Stack>(kBatchEvents);

  static constexpr size_t kBatchEvents = 256;
  static_assert(kBatchEvents <= Stack::kIndexMask && wire::kMaxFreshFrames <= UINT16_MAX);
  static constexpr size_t kBatchFrames = 8 * wire::kMaxFreshFrames;  // one record always fits into an empty batch
};

// The bounds in time of the records to be decoded.
struct DecodeLimits {
  uint64_t floor;    // no record was published before this
  uint64_t ceiling;  // all records were published before this
};

class RingDecoder {
 public:
  // words: the ring's data; ring_bytes: a power of two
  RingDecoder(const uint64_t* words, uint64_t ring_bytes, DecodeShared* shared);

  // Several threads take turns in this ring, so a thread that stops writing has not left it.
  void set_shared(bool is_shared) { is_shared_ = is_shared; }

  // Decodes records before `head` until the batch is full. Returns the number of events: 0 is possible before the end.
  // pre: `batch` has at most DecodeShared::kBatchEvents.
  size_t decode(uint64_t head, const DecodeLimits& limits, std::span<Event> batch);

  uint64_t position() const { return position_; }  // bytes consumed: what tail may become
  uint64_t last_stamp() const { return last_stamp_; }
  bool has_stopped() const { return has_stopped_; }
  uint32_t thread() const { return thread_; }  // slot of the last record's thread

  // Chunks (wire::kChunkBytes each, as bits) whose last record was decoded since the last call.
  uint32_t take_finished() {
    // Nothing is read any more: all chunks may be overwritten.
    return has_stopped_ ? UINT32_MAX : std::exchange(finished_chunks_, 0);
  }
  // Chunks with records that were decoded since the last call.
  uint32_t take_used() { return std::exchange(used_chunks_, 0); }

  // In a shared ring: emits a leave event for each thread with is_gone(id), as far as `batch` has room. Returns the
  // number of events.
  // pre: the ledger is not running
  template <typename IsGone>
  size_t leave_gone(std::span<Event> batch, const IsGone& is_gone) {
    size_t count = 0;
    for (auto at = sharing_.begin(); at != sharing_.end() && count < batch.size();) {
      if (at->second == thread_ || !is_gone(at->first)) {
        ++at;
        continue;
      }
      batch[count++] = leave(at->second);
      at = sharing_.erase(at);
    }
    return count;
  }
  size_t sharing_threads() const { return sharing_.size(); }

 private:
  // How far a batch has come. The loop keeps it by value, so that no store through a pointer can change it.
  struct Cursor {
    uint64_t position;
    uint64_t last_stamp;
    size_t events;
    size_t frames;
    size_t stacks;
  };

  // The new frames of a record: where they are in the ring, how many frames of the previous stack come before them, and
  // how many they are.
  struct FreshFrames {
    uint64_t position;
    uint32_t keep;
    uint32_t fresh;
  };

  uint64_t load(uint64_t position) const {
    return __atomic_load_n(&words_[((position + shift_) & byte_mask_) / sizeof(uint64_t)], __ATOMIC_RELAXED);
  }
  [[gnu::always_inline]] uint64_t stamp_of(uint64_t w1, const DecodeLimits& limits, uint64_t last_stamp) const {
    uint64_t stamp = stamp_base_ + wire::record_stamp_delta(w1);
    if (stamp > limits.ceiling) stamp = limits.ceiling;
    if (stamp < limits.floor) stamp = limits.floor;
    return stamp < last_stamp ? last_stamp : stamp;
  }
  template <bool kByMemo>
  Cursor decode_common(const Cursor& cursor, uint64_t head, const DecodeLimits& limits, std::span<Event> batch);
  bool decode_any(wire::Record record, uint64_t head, const DecodeLimits& limits, std::span<Event> batch,
                  Cursor* cursor);
  bool decode_launch(wire::Record record, std::span<Event> batch, Cursor* cursor);
  bool decode_block(wire::RecordType type, wire::Record record, uint64_t head, const DecodeLimits& limits,
                    std::span<Event> batch, Cursor* cursor);
  bool decode_scopes(uint64_t head, const DecodeLimits& limits, std::span<Event> batch, Cursor* cursor);
  bool decode_block_name(wire::Record record, const DecodeLimits& limits, std::span<Event> batch, Cursor* cursor);
  bool decode_scope(wire::Record record, const DecodeLimits& limits, std::span<Event> batch, Cursor* cursor);
  uint32_t take_operator();
  bool decode_prefix(wire::RecordType type, uint64_t value);
  bool take_device(EventKind* kind, Event* event);
  bool decode_control(wire::Record record, std::span<Event> batch, Cursor* cursor);
  bool set_rate(uint64_t interval_bytes);
  bool enter_chunk(uint64_t ring_off, uint64_t position);
  bool push_frames(uint64_t w1, uint64_t head, uint16_t event, Cursor* cursor, uint32_t* site);
  void locate_frames(const FreshFrames& at, DecodeShared::Frame* frame);
  PathMemo::Entry* walk_by_memo(const FreshFrames& at);
  PathMemo::Entry& learn(uint64_t pc_avma, uint32_t parent);
  // The site of the last stack. entry: what walk_by_memo returned.
  uint32_t site_of_leaf(PathMemo::Entry* entry) {
    Node& leaf = nodes_[depth_];
    if (leaf.site == 0) [[unlikely]] {
      leaf.site = shared_->tree->site_of(leaf.node, depth_);
      if (entry != nullptr) entry->site = leaf.site;
    }
    return leaf.site;
  }
  void know_hashes();
  void grow_stack(size_t depth);
  bool take_address(uint64_t w0, uint64_t* address);
  bool take_size(uint64_t w0, uint64_t* size_bytes);
  void enter_thread(uint32_t id, std::span<Event> batch, Cursor* cursor);
  Event leave(uint32_t thread);
  void intern_stacks(std::span<Event> batch, size_t stacks, bool fills_memo);
  bool refuse();

  struct Node {
    uint32_t node;
    uint32_t site;  // 0: not asked for yet
  };
  struct Prefix {
    uint64_t size_bytes;
    uint64_t address;
    bool has_size;
    bool has_address;
    bool is_truncated;
    bool has_device;
    bool has_any;
    uint64_t device;  // wire::pack_device
    uint64_t object;
  };

  const uint64_t* words_;
  uint64_t byte_mask_;
  DecodeShared* shared_;
  uint64_t position_ = 0;
  uint64_t shift_ = 0;  // a record's offset, modulo the ring's size, is its position + shift
  uint32_t finished_chunks_ = 0;
  uint32_t used_chunks_ = 0;
  uint64_t stamp_base_ = 0;
  uint64_t last_stamp_ = 0;
  uint32_t depth_ = 0;
  uint32_t generation_ = 0;
  uint32_t thread_ = 0;
  uint32_t thread_id_ = 0;
  Prefix prefix_{};
  uint64_t scope_time_ = 0;  // of the kScope record that follows
  bool has_scope_time_ = false;
  uint64_t launches_ = 0;  // the number in the last kLaunches record
  uint32_t rate_ = 0;      // by which the next blocks were chosen (sample_rates.h)
  bool has_stopped_ = false;
  bool is_shared_ = false;
  std::unordered_map<uint32_t, uint32_t> sharing_;  // in a shared ring: thread id → slot
  // The previous stack, outermost frame first, after the root.
  std::vector<uint32_t> path_hashes_;  // as of the last record parsed, if they are known
  std::vector<Node> nodes_;            // as of the last record whose stack was looked up
  bool knows_hashes_ = true;
};

}  // namespace heapprof::cli
