// cli/collect/rings/ring_decoder.cc: see ring_decoder.h; stacks are in ring_decoder_stacks.cc.
//
// The two most frequent records have a loop of their own.
#include "cli/collect/rings/ring_decoder.h"

#include "shared/device_operations.h"
#include "shared/kernels.h"
#include "shared/scopes.h"

#include <algorithm>

namespace heapprof::cli {

namespace {

using wire::RecordType;

constexpr size_t kFirstDepth = 64;
constexpr size_t kLastFrames = DecodeShared::kBatchFrames - wire::kMaxFreshFrames;  // with so many, any record still
                                                                                    // fits
constexpr size_t kMaxSharing = 1u << 16;                                            // threads of one shared ring

}  // namespace

RingDecoder::RingDecoder(const uint64_t* words, uint64_t ring_bytes, DecodeShared* shared)
    : words_(words), byte_mask_(ring_bytes - 1), shared_(shared), path_hashes_(kFirstDepth), nodes_(kFirstDepth) {
  path_hashes_[0] = CallTree::kRootHash;
}

bool RingDecoder::refuse() {
  ++shared_->corrupt_records;
  has_stopped_ = true;
  return false;
}

// The first pass over a record's stack (ring_decoder_stacks.cc).
[[gnu::always_inline]] inline bool RingDecoder::push_frames(uint64_t w1, uint64_t head, uint16_t event, Cursor* cursor,
                                                            uint32_t* site) {
  const uint32_t keep = wire::record_keep(w1);
  const uint32_t fresh = wire::record_fresh(w1);
  if (keep > depth_ || fresh > wire::kMaxFreshFrames || keep + fresh > shared_->max_frames) [[unlikely]]
    return refuse();
  if (wire::payload_bytes(fresh) > head - cursor->position) [[unlikely]]
    return refuse();
  depth_ = keep + fresh;
  if (depth_ >= nodes_.size()) [[unlikely]]
    grow_stack(depth_);

  const FreshFrames frames{cursor->position, keep, fresh};
  cursor->position += wire::payload_bytes(fresh);
  if (!knows_hashes_) {
    PathMemo::Entry* const entry = walk_by_memo(frames);
    if (site == nullptr) return true;
    *site = (event & DecodeShared::Stack::kIsTruncated) != 0
                ? shared_->tree->truncated_site_of(nodes_[depth_].node, depth_)
                : site_of_leaf(entry);
    return true;
  }
  locate_frames(frames, shared_->frames.data() + cursor->frames);
  cursor->frames += fresh;
  shared_->stacks[cursor->stacks++] = {event, static_cast<uint16_t>(fresh), keep};
  return true;
}

// Decodes the two most frequent records, until another one comes. decode_any could decode them as well. This loop, in
// which the collector spends most of its time, keeps its variables in registers.
template <bool kByMemo>
RingDecoder::Cursor RingDecoder::decode_common(const Cursor& cursor, uint64_t head, const DecodeLimits& limits,
                                               std::span<Event> batch) {
  if (prefix_.has_any || rate_ != 0 || cursor.position >= head || cursor.frames > kLastFrames) return cursor;
  const uint32_t free_tag = pack_thread(thread_, EventKind::kFree);
  const uint32_t malloc_tag = pack_thread(thread_, EventKind::kMalloc);
  const uint64_t stamp_base = stamp_base_, ceiling = limits.ceiling;
  const unsigned char* const words = reinterpret_cast<const unsigned char*>(words_);
  const uint64_t mask = byte_mask_, shift = shift_;
  const uint32_t max_frames = shared_->max_frames;
  const auto word_at = [&](uint64_t position) {
    return __atomic_load_n(reinterpret_cast<const uint64_t*>(words + ((position + shift) & mask)), __ATOMIC_RELAXED);
  };
  uint64_t position = cursor.position;
  uint64_t last_stamp = std::max(cursor.last_stamp, limits.floor);
  uint32_t depth = depth_;
  Event* event = batch.data() + cursor.events;
  DecodeShared::Stack* stack = shared_->stacks.data() + cursor.stacks;
  DecodeShared::Frame* frame = shared_->frames.data() + cursor.frames;
  const DecodeShared::Frame* const last_frame = shared_->frames.data() + kLastFrames;
  const Event* const end = event + (batch.size() - std::max(cursor.events, cursor.stacks));
  while (event != end) {
    const uint64_t w0 = word_at(position);
    const uint64_t w1 = word_at(position + sizeof(uint64_t));  // a unit never wraps
    const uint64_t address = wire::record_address(w0);
    if (address == 0) break;
    uint64_t size_bytes = 0;
    uint32_t tag = free_tag, site = 0;
    uint64_t next = position + wire::kUnitBytes;
    if (wire::record_type(w0) != RecordType::kFree) {
      size_bytes = wire::record_size(w0);
      if (wire::record_type(w0) != RecordType::kMalloc || !wire::is_compact_size(size_bytes)) break;
      tag = malloc_tag;
      const uint32_t keep = wire::record_keep(w1), fresh = wire::record_fresh(w1);
      const uint32_t new_depth = keep + fresh;
      if (keep > depth || fresh > wire::kMaxFreshFrames || new_depth > max_frames) [[unlikely]] {
        refuse();
        break;
      }
      if (wire::payload_bytes(fresh) > head - next) [[unlikely]] {
        refuse();
        break;
      }
      if (new_depth >= nodes_.size()) [[unlikely]]
        grow_stack(new_depth);
      depth = new_depth;
      if constexpr (kByMemo) {
        depth_ = new_depth;
        site = site_of_leaf(walk_by_memo({next, keep, fresh}));
      } else {
        locate_frames({next, keep, fresh}, frame);
        frame += fresh;
        *stack++ = {static_cast<uint16_t>(event - batch.data()), static_cast<uint16_t>(fresh), keep};
      }
      next += wire::payload_bytes(fresh);
    }
    position = next;
    last_stamp = std::max(last_stamp, std::min(stamp_base + wire::record_stamp_delta(w1), ceiling));
    *event++ = {last_stamp, address, size_bytes, site, tag};
    if (position >= head || (kByMemo ? !shared_->memo.is_asked() : frame > last_frame)) break;
  }
  depth_ = depth;
  return {position, last_stamp, static_cast<size_t>(event - batch.data()),
          static_cast<size_t>(frame - shared_->frames.data()), static_cast<size_t>(stack - shared_->stacks.data())};
}

size_t RingDecoder::decode(uint64_t head, const DecodeLimits& limits, std::span<Event> batch) {
  if (has_stopped_) {  // its thread must not wait for the collector
    position_ = head;
    return 0;
  }
  if (head - position_ > byte_mask_ + 1 || head % wire::kUnitBytes != 0) {
    refuse();
    position_ = head;
    return 0;
  }
  Cursor cursor{position_, last_stamp_, 0, 0, 0};
  PathMemo& memo = shared_->memo;
  memo.begin(shared_->modules->version());
  const bool began_by_memo = memo.is_asked();
  const uint32_t generation = generation_;
  if (began_by_memo) knows_hashes_ = false;
  for (;;) {
    if (!memo.is_asked()) know_hashes();
    cursor = knows_hashes_ ? decode_common<false>(cursor, head, limits, batch)
                           : decode_common<true>(cursor, head, limits, batch);
    if (has_stopped_ || cursor.position >= head || cursor.events >= batch.size() || cursor.stacks >= batch.size() ||
        cursor.frames > kLastFrames) {
      break;
    }
    const wire::Record record{load(cursor.position), load(cursor.position + sizeof(uint64_t))};
    cursor.position += wire::kUnitBytes;
    if (!decode_any(record, head, limits, batch, &cursor)) break;
    if (wire::record_type(record.w0) == RecordType::kScope && !decode_scopes(head, limits, batch, &cursor)) break;
  }
  position_ = has_stopped_ ? head : cursor.position;
  last_stamp_ = cursor.last_stamp;
  intern_stacks(batch, cursor.stacks, began_by_memo && generation == generation_);
  if (began_by_memo) memo.end(cursor.events);
  return cursor.events;
}

// Decodes any record; its first unit has been consumed already.
bool RingDecoder::decode_any(wire::Record record, uint64_t head, const DecodeLimits& limits, std::span<Event> batch,
                             Cursor* cursor) {
  const RecordType type = wire::record_type(record.w0);
  switch (type) {
    case RecordType::kMalloc:
    case RecordType::kReallocEnd:
    case RecordType::kFree:
    case RecordType::kReallocBegin:
    case RecordType::kReallocCancel:
    case RecordType::kReallocFree: return decode_block(type, record, head, limits, batch, cursor);
    case RecordType::kStack: return push_frames(record.w1, head, DecodeShared::Stack::kNoEvent, cursor, nullptr);
    case RecordType::kPrefixSize:
    case RecordType::kPrefixAddress:
    case RecordType::kPrefixTruncated:
    case RecordType::kPrefixDevice:
    case RecordType::kPrefixObject: return decode_prefix(type, record.w1);
    case RecordType::kScope: return decode_scope(record, limits, batch, cursor);
    case RecordType::kLaunch: return decode_launch(record, batch, cursor);
    case RecordType::kControl: return decode_control(record, batch, cursor);
  }
  return refuse();
}

bool RingDecoder::decode_block(RecordType type, wire::Record record, uint64_t head, const DecodeLimits& limits,
                               std::span<Event> batch, Cursor* cursor) {
  Event event{stamp_of(record.w1, limits, cursor->last_stamp), 0, 0, 0, 0};
  EventKind kind = EventKind::kReallocCancel;
  uint16_t index = 0;
  switch (type) {
    case RecordType::kMalloc:
    case RecordType::kReallocEnd:
      if (!take_address(record.w0, &event.address) || !take_size(record.w0, &event.size_bytes)) return refuse();
      index = static_cast<uint16_t>(cursor->events | (prefix_.is_truncated ? DecodeShared::Stack::kIsTruncated : 0));
      if (!push_frames(record.w1, head, index, cursor, &event.site)) return false;
      if (prefix_.is_truncated) ++shared_->truncated_stacks;
      kind = type == RecordType::kMalloc ? EventKind::kMalloc : EventKind::kReallocEnd;
      break;
    case RecordType::kFree:
    case RecordType::kReallocBegin:
      if (!take_address(record.w0, &event.address)) return refuse();
      kind = type == RecordType::kFree ? EventKind::kFree : EventKind::kReallocBegin;
      break;
    default:
      if (type == RecordType::kReallocFree) kind = EventKind::kReallocFree;
      break;
  }
  if (prefix_.has_device) {
    if (!take_device(&kind, &event)) return refuse();
  } else {
    if (rate_of(event.size_bytes) != 0) return refuse();  // no block is so large
    if (type == RecordType::kMalloc || type == RecordType::kReallocEnd)
      event.size_bytes = pack_size(event.size_bytes, rate_);
  }
  prefix_ = {};
  cursor->last_stamp = event.stamp;
  event.thread_and_kind = pack_thread(thread_, kind);
  batch[cursor->events++] = event;
  return true;
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

// Puts the part of a device event that does not fit into an Event into the table, except for Python objects: there are
// as many of these as blocks of the heap. False: no agent writes that.
bool RingDecoder::take_device(EventKind* kind, Event* event) {
  if (*kind != EventKind::kMalloc && *kind != EventKind::kFree) return false;
  const bool begins = *kind == EventKind::kMalloc;
  constexpr uint64_t kObjectBegins = wire::pack_device(wire::DeviceOperation::kBeginInner, wire::kPythonDevice);
  constexpr uint64_t kObjectEnds = wire::pack_device(wire::DeviceOperation::kEndInner, wire::kPythonDevice);
  const bool is_object = prefix_.device == (begins ? kObjectBegins : kObjectEnds);
  *kind = !is_object ? EventKind::kDevice : begins ? EventKind::kObjectBegin : EventKind::kObjectEnd;
  if (is_object) return true;
  const DeviceEvent said{wire::device_operation(prefix_.device), wire::device_number(prefix_.device), prefix_.object,
                         event->address};
  const RecordType record = begins ? RecordType::kMalloc : RecordType::kFree;
  if (!wire::is_sound(said.operation, {record, said.device, said.object, said.address, event->size_bytes}))
    return false;
  shared_->settle();
  event->address = shared_->devices->put(said);
  return true;
}

bool RingDecoder::decode_prefix(RecordType type, uint64_t value) {
  if (type == RecordType::kPrefixObject) {
    if (!prefix_.has_device || prefix_.object != 0 || value == 0) return refuse();
    prefix_.object = value;
    return true;
  }
  bool& is_set = type == RecordType::kPrefixSize      ? prefix_.has_size
                 : type == RecordType::kPrefixAddress ? prefix_.has_address
                 : type == RecordType::kPrefixDevice  ? prefix_.has_device
                                                      : prefix_.is_truncated;
  if (is_set) return refuse();
  is_set = prefix_.has_any = true;
  if (type == RecordType::kPrefixSize) prefix_.size_bytes = value;
  if (type == RecordType::kPrefixAddress) prefix_.address = value;
  if (type == RecordType::kPrefixDevice) prefix_.device = value;
  return true;
}

bool RingDecoder::decode_control(wire::Record record, std::span<Event> batch, Cursor* cursor) {
  switch (wire::control_kind(record.w0)) {
    case wire::ControlKind::kTimestamp: stamp_base_ = record.w1; return true;
    case wire::ControlKind::kThread: enter_thread(static_cast<uint32_t>(record.w1), batch, cursor); return true;
    case wire::ControlKind::kGeneration: generation_ = static_cast<uint32_t>(record.w1); return true;
    case wire::ControlKind::kReset: depth_ = 0; return true;  // how much was lost is counted in the ring's header
    case wire::ControlKind::kChunk: return enter_chunk(record.w1, cursor->position);
    case wire::ControlKind::kScopeTime:
      scope_time_ = record.w1;
      has_scope_time_ = true;
      return true;
    case wire::ControlKind::kLaunches:
      if (record.w1 < launches_) return refuse();
      batch[cursor->events++] = {cursor->last_stamp, 0, record.w1 - std::exchange(launches_, record.w1), 0,
                                 pack_thread(thread_, EventKind::kLaunches)};
      return true;
    case wire::ControlKind::kInterval: return set_rate(record.w1);
  }
  return refuse();
}

// Sets the interval by which blocks were sampled from here on.
bool RingDecoder::set_rate(uint64_t interval_bytes) {
  std::optional<uint32_t> rate;
  if (interval_bytes == 0) rate = 0;
  if (shared_->rates != nullptr) rate = shared_->rates->find(interval_bytes);
  if (!rate) return refuse();
  rate_ = *rate;
  return true;
}

// The next record, at `position`, is at `ring_off`. Any chunk of the ring is accepted: an agent that names a wrong one
// only spoils its own data.
bool RingDecoder::enter_chunk(uint64_t ring_off, uint64_t position) {
  if (ring_off > byte_mask_ || ring_off % wire::kChunkBytes != 0) return refuse();
  const uint64_t left = (position - wire::kUnitBytes + shift_) & byte_mask_;
  finished_chunks_ |= uint32_t{1} << left / wire::kChunkBytes;
  used_chunks_ |= uint32_t{1} << left / wire::kChunkBytes;
  shift_ = ring_off - position;
  return true;
}

void RingDecoder::enter_thread(uint32_t id, std::span<Event> batch, Cursor* cursor) {
  last_stamp_ = cursor->last_stamp;
  if (thread_ != 0 && id == thread_id_) return;  // the same thread again, after a pause
  thread_id_ = id;
  shared_->settle();
  if (is_shared_) {
    if (sharing_.size() >= kMaxSharing && sharing_.count(id) == 0) {  // no real target has so many
      thread_ = 0;
      return;
    }
    const auto [at, is_new] = sharing_.try_emplace(id, 0);
    if (is_new) at->second = shared_->threads->enter(id);
    thread_ = at->second;
    return;
  }
  if (thread_ != 0) batch[cursor->events++] = leave(thread_);
  thread_ = shared_->threads->enter(id);
}

Event RingDecoder::leave(uint32_t thread) {
  shared_->threads->leave(thread);
  return {last_stamp_, 0, 0, 0, pack_thread(thread, EventKind::kThreadLeft)};
}

}  // namespace heapprof::cli
