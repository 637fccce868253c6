// agent/record/record.cc: writes every record that the fast path (record_fast.h) does not.
//
// One store of head publishes a record and its prefixes, so their space is reserved together. It is reserved before the
// stamp is taken: a thread that waits for space must not hold back the collector's watermark. The stack is captured
// before that: capturing may announce a module, which has to be in the table before the record is published.
#include "agent/record/record.h"

#include "agent/libc/vector_state.h"
#include "agent/process/generation.h"
#include "agent/process/link_map.h"
#include "agent/record/record_fast.h"
#include "agent/record/record_parts.h"
#include "agent/record/reference.h"
#include "agent/start/start.h"
#include "agent/unwind/unwind_plain.h"

namespace heapprof::agent {

void (*g_at_stack)() = nullptr;
std::atomic<const Waiting*> g_waiting{nullptr};

[[gnu::noinline]] bool prepare(Context* context) {
  if (context->needs_open && !open_ring(context)) return false;
  const uint32_t generation = current_generation();
  if (context->generation != generation) {
    if (!reserve(context, kRecordBytes)) return false;
    context->generation = generation;
    put(context, wire::pack_control(wire::ControlKind::kGeneration, generation));
  }
  set_generation(context->unwind, generation);
  const bool is_python_new =
      g_control->python != 0 && context->python == nullptr && g_python.load(std::memory_order_acquire) != nullptr;
  if (HEAPPROF_UNLIKELY(is_python_new)) start_python(context);
  context->ready_for = g_control->unwinder == wire::UnwinderKind::kHeapprof ? generation : kNotReady;
  context->stack_ready_for = context->python == nullptr && context->told_interval == 0 ? context->ready_for : kNotReady;
  return true;
}

namespace {

static_assert(kRecordBytes + wire::payload_bytes(wire::kMaxFreshFrames) <= kMostReservedBytes);

// Puts the prefixes of a device record. device: nullptr for the heap.
[[gnu::always_inline]] inline void put_device(Context* context, const DeviceRecord* device) {
  if (device == nullptr) return;
  put(context, prefix(wire::RecordType::kPrefixDevice), wire::pack_device(device->operation, device->device));
  if (device->object != 0) put(context, prefix(wire::RecordType::kPrefixObject), device->object);
}

// Writes a record without a stack.
[[gnu::always_inline]] inline void write_plain(Context* context, wire::RecordType type, uint64_t address,
                                               const DeviceRecord* device = nullptr) {
  if (!is_prepared(context) || !reserve(context, kRecordBytes)) return;
  const uint32_t delta = stamp(context);
  put_device(context, device);
  if (address != 0 && !wire::is_compact_address(address)) {
    put(context, prefix(wire::RecordType::kPrefixAddress), address);
    address = 0;
  }
  put(context, wire::pack_w0(type, address, 0), wire::pack_w1(delta, 0, 0));
  publish(context);
}

// Puts the program counters [first, first + count) of the delta, outermost first, padded to a unit.
void put_frames(Context* context, const StackDelta& delta, uint32_t first, uint32_t count) {
  const Frame* frames = delta.fresh_frames + first;
  uint32_t i = 0;
  for (; i + 1 < count; i += 2) put(context, frames[i].pc_avma, frames[i + 1].pc_avma);
  if (i < count) put(context, frames[i].pc_avma, 0);
}

// Writes a record with a captured stack.
[[gnu::always_inline]] inline void write_captured(Context* context, wire::RecordType type, uint64_t address,
                                                  uint64_t size_bytes, const StackDelta& delta,
                                                  const DeviceRecord* device) {
  uint32_t sent = 0;
  while (HEAPPROF_UNLIKELY(delta.fresh - sent > wire::kMaxFreshFrames)) {
    const uint32_t count = wire::kMaxFreshFrames;
    if (!reserve(context, wire::kUnitBytes + wire::payload_bytes(count))) return;
    put(context, wire::pack_w0(wire::RecordType::kStack, 0, 0),
        wire::pack_w1(context->stamp_delta, delta.keep + sent, count));
    put_frames(context, delta, sent, count);
    publish(context);
    sent += count;
  }
  const uint32_t rest = delta.fresh - sent;
  if (!reserve(context, kRecordBytes + wire::payload_bytes(rest))) return;

  const uint32_t stamp_delta = stamp(context);
  put_device(context, device);
  if (HEAPPROF_UNLIKELY(delta.truncation != 0)) {
    put(context, prefix(wire::RecordType::kPrefixTruncated), delta.truncation);
  }
  if (HEAPPROF_UNLIKELY(!wire::is_compact_address(address))) {
    put(context, prefix(wire::RecordType::kPrefixAddress), address);
    address = 0;
  }
  if (HEAPPROF_UNLIKELY(!wire::is_compact_size(size_bytes))) {
    put(context, prefix(wire::RecordType::kPrefixSize), size_bytes);
    size_bytes = wire::kSizeInPrefix;
  }
  put(context, wire::pack_w0(type, address, size_bytes), wire::pack_w1(stamp_delta, delta.keep + sent, rest));
  put_frames(context, delta, sent, rest);
  publish(context);
}

// Writes the interval by which heap blocks that begin from here on are chosen. False: no space.
[[gnu::noinline]] bool tell_interval(Context* context, uint64_t interval_bytes) {
  if (!reserve(context, wire::kUnitBytes)) return false;
  put(context, wire::pack_control(wire::ControlKind::kInterval, interval_bytes));
  publish(context);
  context->told_interval = interval_bytes;
  return prepare(context);
}

// Captures a stack and writes a record with it. False: the event is not recorded, or its stack is truncated.
[[gnu::always_inline]] inline bool write_stacked(Context* context, wire::RecordType type, uint64_t address,
                                                 uint64_t size_bytes, uint64_t interval_bytes, const StartFrame& caller,
                                                 const DeviceRecord* device = nullptr) {
  if (HEAPPROF_UNLIKELY(g_at_stack != nullptr)) g_at_stack();
  if (!is_prepared(context)) return false;
  if (HEAPPROF_UNLIKELY(context->told_interval != interval_bytes) && device == nullptr &&
      !tell_interval(context, interval_bytes))
    return false;
  StackDelta delta;
  if (HEAPPROF_LIKELY(context->ready_for != kNotReady)) {
    const bool is_near = context->python != nullptr && capture_as_hooks_do(context->unwind, caller, &delta);
    if (!is_near) capture_stack(context->unwind, caller, context->generation, &delta);
  } else if (g_control->unwinder == wire::UnwinderKind::kFramePointers) {
    capture_frame_pointers(context->unwind, caller, context->generation, &delta);
  } else {
    capture_with_reference(context, caller, &delta);
  }
  if (HEAPPROF_UNLIKELY(context->python != nullptr)) add_python_frames(context->python, context->unwind, &delta);
  write_captured(context, type, address, size_bytes, delta, device);
  return delta.truncation == 0;
}

// Writes the record of record_changed if the chunk has little room, or there is much to write.
[[gnu::noinline]] void write_changed_slowly(Context* context, uint64_t w0, const StackDelta& delta) {
  write_captured(context, wire::record_type(w0), wire::record_address(w0), wire::record_size(w0), delta, nullptr);
}

// Begins an event that ends a block. The loader frees memory while it unloads an object, so this is where every unload
// is noticed: a hook of dlclose would not see what libc unloads by itself (gconv modules).
Context* begin_ending_event(HookFrame hook_frame) {
  if (HEAPPROF_UNLIKELY(is_loader(returns_to(hook_frame))) && is_unloading()) note_unloading();
  return begin_event(cfa_of(hook_frame));
}

uint64_t address_of(const void* block) { return reinterpret_cast<uint64_t>(block); }

}  // namespace

namespace {

bool is_time_for(const Waiting& waiting, UnwindContext* unwind) {
  uint32_t count = 0;
  const uint64_t* const pcs_avma = current_stack(unwind, &count);
  return waiting.is_time(pcs_avma, count);
}

// If the loader made the call, it may be adding an object.
void look_for_loads(HookFrame hook_frame) {
  if (HEAPPROF_UNLIKELY(is_loader(returns_to(hook_frame)))) note_loading();
}

}  // namespace

void record_begun_by(wire::RecordType type, Context* context, const void* block, size_t size_bytes,
                     uint64_t interval_bytes, HookFrame hook_frame) {
  // An allocator whose addition overflowed returned a small block (tcmalloc, memalign(3, SIZE_MAX)): its size is
  // unknown.
  constexpr size_t kAddressSpaceBytes = size_t{1} << kUsualAddressBits;
  if (HEAPPROF_UNLIKELY(size_bytes > kAddressSpaceBytes)) size_bytes = 0;
  look_for_loads(hook_frame);
  if (HEAPPROF_UNLIKELY(!is_usable(context))) {
    end_event(context);
    if (interval_bytes != 0) return;  // a handler has forked since it was chosen: the mark is the parent's
    context = begin_event_slow(cfa_of(hook_frame));
    if (context == nullptr) return;
    if (HEAPPROF_UNLIKELY(is_sampling())) {  // in this session
      end_event(context);
      return record_sampled(type, block, size_bytes, hook_frame);
    }
  }
  const bool is_whole =
      write_stacked(context, type, address_of(block), size_bytes, interval_bytes, caller_of(hook_frame));
  const Waiting* const waiting = g_waiting.load(std::memory_order_acquire);
  const bool is_time = HEAPPROF_UNLIKELY(waiting != nullptr) && is_whole && is_time_for(*waiting, context->unwind);
  end_event(context);
  if (HEAPPROF_UNLIKELY(is_time)) call_kept(waiting->act);
}

void record_changed(Context* context, uint64_t w0, HookFrame hook_frame) {
  look_for_loads(hook_frame);
  StackDelta delta;
  if (HEAPPROF_UNLIKELY(!capture_plain_stack(context->unwind, returns_to(hook_frame), cfa_of(hook_frame), &delta))) {
    const auto* block = reinterpret_cast<const void*>(wire::record_address(w0));
    return record_begun(wire::record_type(w0), context, block, wire::record_size(w0), hook_frame);
  }
  const uint64_t payload_bytes = wire::payload_bytes(delta.fresh);
  if (HEAPPROF_LIKELY(delta.fresh <= wire::kMaxFreshFrames &&
                      context->head + kRecordBytes + payload_bytes <= context->limit)) {
    const uint32_t stamp_delta = stamp(context);
    put(context, w0, wire::pack_w1(stamp_delta, delta.keep, delta.fresh));
    put_frames(context, delta, 0, delta.fresh);
    publish(context);
  } else {
    write_changed_slowly(context, w0, delta);
  }
  end_event_fast(context);
}

void record_stacked(wire::RecordType type, const void* block, size_t size_bytes, HookFrame hook_frame) {
  if (HEAPPROF_UNLIKELY(recording() != 0)) return record_sampled(type, block, size_bytes, hook_frame);
  look_for_loads(hook_frame);
  Context* context = begin_event(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  if (HEAPPROF_LIKELY(!is_sampling())) return record_begun(type, context, block, size_bytes, hook_frame);
  end_event(context);  // begin_event has begun a session in which blocks are sampled
  record_sampled(type, block, size_bytes, hook_frame);
}

void record_free(const void* block, HookFrame hook_frame) {
  if (!is_end_passed(block, hook_frame)) record_reported_free(block, hook_frame);
}

void record_reported_free(const void* block, HookFrame hook_frame) {
  Context* context = begin_ending_event(hook_frame);
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  write_plain(context, wire::RecordType::kFree, address_of(block));
  end_event(context);
}

bool record_realloc_begin(const void* block, HookFrame hook_frame) {
  if (is_end_passed(block, hook_frame)) return false;
  Context* context = begin_ending_event(hook_frame);
  if (HEAPPROF_UNLIKELY(context == nullptr)) return true;
  write_plain(context, wire::RecordType::kReallocBegin, address_of(block));
  end_event(context);
  return true;
}

void record_ended(Context* context, wire::RecordType type) {
  write_plain(context, type, 0);
  end_event(context);
}

void record_realloc_failed(const void* begun, size_t size_bytes, HookFrame hook_frame) {
  if (size_bytes != 0) take_back_end(begun);
  Context* context = begin_event(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  record_ended(context, size_bytes == 0 ? wire::RecordType::kReallocFree : wire::RecordType::kReallocCancel);
}

void record_device(const DeviceRecord& record, HookFrame hook_frame) {
  Context* context = begin_event(cfa_of(hook_frame));
  if (context == nullptr) return;
  switch (record.operation) {
    case wire::DeviceOperation::kAllocate:
    case wire::DeviceOperation::kAllocateFromPool:
    case wire::DeviceOperation::kCreateHandle:
    case wire::DeviceOperation::kMap:
    case wire::DeviceOperation::kUnmap:
    case wire::DeviceOperation::kRefuse:
    case wire::DeviceOperation::kCall:
    case wire::DeviceOperation::kAllocateUnseen:
    case wire::DeviceOperation::kEndEstimate:
    case wire::DeviceOperation::kMapRange:
    case wire::DeviceOperation::kProtectRange:
    case wire::DeviceOperation::kBeginInner:
    case wire::DeviceOperation::kResizeInner:
    case wire::DeviceOperation::kRefuseInner:
      write_stacked(context, wire::RecordType::kMalloc, record.address, record.size_bytes, 0, caller_of(hook_frame),
                    &record);
      break;
    case wire::DeviceOperation::kRelease:
    case wire::DeviceOperation::kRetainHandle:
    case wire::DeviceOperation::kReleaseHandle:
    case wire::DeviceOperation::kKeepHandle:
    case wire::DeviceOperation::kEndContext:
    case wire::DeviceOperation::kReleaseUnseen:
    case wire::DeviceOperation::kBeginEstimate:
    case wire::DeviceOperation::kKeep:
    case wire::DeviceOperation::kGraphAddress:
    case wire::DeviceOperation::kHold:
    case wire::DeviceOperation::kKeepMappings:
    case wire::DeviceOperation::kUnmapRange:
    case wire::DeviceOperation::kMoveRange:
    case wire::DeviceOperation::kKeepRange:
    case wire::DeviceOperation::kEndInner:
    case wire::DeviceOperation::kMoveInner:
    case wire::DeviceOperation::kKeepInner:
      write_plain(context, wire::RecordType::kFree, record.address, &record);
      break;
  }
  end_event(context);
}

}  // namespace heapprof::agent
