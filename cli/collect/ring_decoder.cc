// cli/collect/ring_decoder.cc: see ring_decoder.h.
//
// A batch goes through two passes. The first parses records, finds the location of each new program counter and the hash of
// its path, and asks the cache for the slot in the call tree; the second looks the slots up. A miss in a large tree costs
// 80-100 ns; of a batch of 256 records they overlap.
#include "cli/collect/ring_decoder.h"

#include <algorithm>

namespace heapprof::cli {

namespace {

using wire::RecordType;

constexpr uint32_t kNoEvent = 0xffffffff;
constexpr size_t kMaxBatchFrames = 2 * wire::kMaxFreshFrames;  // one record always fits into an empty batch
constexpr uint64_t kFirstDepth = 64;
constexpr size_t kMaxSharing = 1u << 16;  // threads of one shared ring

}  // namespace

struct RingDecoder::Batch {
  std::span<Event> events;
  size_t count = 0;

  void push(const Event& event) { events[count++] = event; }
};

RingDecoder::RingDecoder(const uint64_t* words, uint64_t ring_bytes, DecodeShared* shared)
    : words_(words), byte_mask_(ring_bytes - 1), shared_(shared), path_hashes_(kFirstDepth), nodes_(kFirstDepth) {}

size_t RingDecoder::decode(uint64_t head, const DecodeLimits& limits, std::span<Event> events) {
  if (has_stopped_) {  // its thread must not wait for us
    position_ = head;
    return 0;
  }
  if (head - position_ > byte_mask_ + 1 || head % wire::kUnitBytes != 0) {
    refuse();
    position_ = head;
    return 0;
  }
  shared_->frames.clear();
  shared_->stacks.clear();
  Batch batch{events};
  while (position_ < head && batch.count < events.size() &&
         shared_->frames.size() + wire::kMaxFreshFrames <= kMaxBatchFrames && shared_->stacks.size() < events.size()) {
    if (!decode_record(head, limits, &batch)) break;
  }
  intern_stacks(events);
  if (has_stopped_) position_ = head;
  return batch.count;
}

bool RingDecoder::refuse() {
  ++shared_->corrupt_records;
  has_stopped_ = true;
  return false;
}

// pre: position_ < head, both multiples of a unit
bool RingDecoder::decode_record(uint64_t head, const DecodeLimits& limits, Batch* batch) {
  const wire::Record record{load(position_), load(position_ + sizeof(uint64_t))};
  position_ += wire::kUnitBytes;
  const RecordType type = wire::record_type(record.w0);
  switch (type) {
    case RecordType::kMalloc:
    case RecordType::kReallocEnd:
    case RecordType::kFree:
    case RecordType::kReallocBegin:
    case RecordType::kReallocCancel:
    case RecordType::kReallocFree: return decode_block(type, record, head, limits, batch);
    case RecordType::kStack: return push_frames(record.w1, head, kNoEvent);
    case RecordType::kPrefixSize:
    case RecordType::kPrefixAddress:
    case RecordType::kPrefixTruncated: return decode_prefix(type, record.w1);
    case RecordType::kControl: return decode_control(record, batch);
  }
  return refuse();
}

bool RingDecoder::decode_block(RecordType type, wire::Record record, uint64_t head, const DecodeLimits& limits,
                               Batch* batch) {
  Event event{advance_clock(record.w1, limits), 0, 0, 0, 0};
  switch (type) {
    case RecordType::kMalloc:
    case RecordType::kReallocEnd:
      if (!take_address(record.w0, &event.address) || !take_size(record.w0, &event.size_bytes)) return refuse();
      if (!push_frames(record.w1, head, static_cast<uint32_t>(batch->count))) return false;
      event.thread_and_kind =
          pack_thread(thread_, type == RecordType::kMalloc ? EventKind::kMalloc : EventKind::kReallocEnd);
      break;
    case RecordType::kFree:
    case RecordType::kReallocBegin:
      if (!take_address(record.w0, &event.address)) return refuse();
      event.thread_and_kind =
          pack_thread(thread_, type == RecordType::kFree ? EventKind::kFree : EventKind::kReallocBegin);
      break;
    default:
      event.thread_and_kind = pack_thread(
          thread_, type == RecordType::kReallocCancel ? EventKind::kReallocCancel : EventKind::kReallocFree);
      break;
  }
  prefix_ = {};
  batch->push(event);
  return true;
}

uint64_t RingDecoder::advance_clock(uint64_t w1, const DecodeLimits& limits) {
  const uint64_t stamp = stamp_base_ + wire::record_stamp_delta(w1);
  last_stamp_ = std::max({last_stamp_, limits.floor, std::min(stamp, limits.ceiling)});
  return last_stamp_;
}

bool RingDecoder::take_address(uint64_t w0, uint64_t* address) {
  *address = wire::record_address(w0);
  if (prefix_.has_address) {
    if (*address != 0) return false;
    *address = prefix_.address;
  }
  return *address != 0;
}

bool RingDecoder::take_size(uint64_t w0, uint64_t* size_bytes) {
  *size_bytes = wire::record_size(w0);
  if (prefix_.has_size != (*size_bytes == wire::kSizeInPrefix)) return false;
  if (prefix_.has_size) *size_bytes = prefix_.size_bytes;
  return true;
}

bool RingDecoder::decode_prefix(RecordType type, uint64_t value) {
  switch (type) {
    case RecordType::kPrefixSize:
      if (prefix_.has_size) return refuse();
      prefix_.has_size = true;
      prefix_.size_bytes = value;
      return true;
    case RecordType::kPrefixAddress:
      if (prefix_.has_address) return refuse();
      prefix_.has_address = true;
      prefix_.address = value;
      return true;
    default:
      if (prefix_.is_truncated) return refuse();
      prefix_.is_truncated = true;
      return true;
  }
}

bool RingDecoder::decode_control(wire::Record record, Batch* batch) {
  switch (wire::control_kind(record.w0)) {
    case wire::ControlKind::kTimestamp: stamp_base_ = record.w1; return true;
    case wire::ControlKind::kThread: enter_thread(static_cast<uint32_t>(record.w1), batch); return true;
    case wire::ControlKind::kGeneration: generation_ = static_cast<uint32_t>(record.w1); return true;
    case wire::ControlKind::kReset: depth_ = 0; return true;  // how much was lost is counted in the ring's header
  }
  return refuse();
}

void RingDecoder::enter_thread(uint32_t id, Batch* batch) {
  if (thread_ != 0 && id == thread_id_) return;  // the same thread again, after a pause
  thread_id_ = id;
  if (is_shared_) {
    if (sharing_.size() >= kMaxSharing && sharing_.count(id) == 0) {  // no target has so many
      thread_ = 0;
      return;
    }
    const auto [at, is_new] = sharing_.try_emplace(id, 0);
    if (is_new) at->second = shared_->threads->enter(id);
    thread_ = at->second;
    return;
  }
  if (thread_ != 0) batch->push(leave(thread_));
  thread_ = shared_->threads->enter(id);
}

Event RingDecoder::leave(uint32_t thread) {
  shared_->threads->leave(thread);
  return {last_stamp_, 0, 0, 0, pack_thread(thread, EventKind::kThreadLeft)};
}

// First pass over a record's stack.
bool RingDecoder::push_frames(uint64_t w1, uint64_t head, uint32_t event) {
  const uint32_t keep = wire::record_keep(w1);
  const uint32_t fresh = wire::record_fresh(w1);
  if (keep > depth_ || fresh > wire::kMaxFreshFrames || keep + fresh > shared_->max_frames) return refuse();
  if (wire::payload_bytes(fresh) > head - position_) return refuse();
  depth_ = keep + fresh;
  if (depth_ > path_hashes_.size()) {
    path_hashes_.resize(std::max<size_t>(depth_, 2 * path_hashes_.size()));
    nodes_.resize(path_hashes_.size());
  }
  uint64_t path_hash = keep == 0 ? CallTree::kRootHash : path_hashes_[keep - 1];
  for (uint32_t i = 0; i < fresh; ++i) {
    const uint32_t location = shared_->modules->locate(load(position_ + i * sizeof(uint64_t)), generation_);
    path_hash = CallTree::hash_step(path_hash, location);
    shared_->tree->prefetch(path_hash);
    path_hashes_[keep + i] = path_hash;
    shared_->frames.push_back({path_hash, location});
  }
  position_ += wire::payload_bytes(fresh);
  const bool is_truncated = event != kNoEvent && prefix_.is_truncated;
  if (is_truncated) ++shared_->truncated_stacks;
  shared_->stacks.push_back({path_hash, event, keep, fresh, is_truncated});
  return true;
}

// Second pass.
void RingDecoder::intern_stacks(std::span<Event> events) {
  CallTree& tree = *shared_->tree;
  const DecodeShared::Frame* frame = shared_->frames.data();
  for (const DecodeShared::Stack& stack : shared_->stacks) {
    uint32_t node = stack.keep == 0 ? 0 : nodes_[stack.keep - 1].node;
    for (uint32_t i = 0; i < stack.fresh; ++i, ++frame) {
      node = tree.descend(frame->path_hash, node, frame->location);
      nodes_[stack.keep + i] = {node, 0};
    }
    if (stack.event == kNoEvent) continue;
    const uint32_t depth = stack.keep + stack.fresh;
    if (stack.truncated != 0) {
      events[stack.event].site = tree.truncated_site_of(node);
    } else if (depth == 0) {
      events[stack.event].site = tree.site_of(stack.leaf_hash, 0);
    } else {
      uint32_t& site = nodes_[depth - 1].site;
      if (site == 0) site = tree.site_of(stack.leaf_hash, node);
      events[stack.event].site = site;
    }
  }
}

}  // namespace heapprof::cli
