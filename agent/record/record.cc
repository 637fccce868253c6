// agent/record/record.cc: writes every record that the fast path (record_fast.h) does not.
//
// A record and its prefixes are published by one store of head, so their space is reserved together, and before the
// stamp is taken: a thread that waits for space must not hold back the collector's watermark. The stack is captured
// before that, as it may announce a module, which has to stand in the table before the record does.
#include "agent/record/record.h"

#include "agent/process/age.h"
#include "agent/process/link_map.h"
#include "agent/record/record_fast.h"
#include "agent/record/reference.h"
#include "agent/start/start.h"
#include "agent/unwind/unwind_plain.h"

namespace heapprof::agent {

void (*g_at_stack)() = nullptr;
std::atomic<const Waiting*> g_waiting{nullptr};

namespace {

// Does what has to be done before the next record. False: the event is not to be recorded.
[[gnu::noinline]] bool prepare(Context* context) {
  if (context->needs_open && !open_ring(context)) return false;
  const uint32_t age = current_age();
  if (context->age != age) {
    if (!reserve(context, kRecordBytes)) return false;
    context->age = age;
    put(context, wire::pack_control(wire::ControlKind::kAge, age));
  }
  set_age(context->unwind, age);
  const bool is_python_new =
      g_control->python != 0 && context->python == nullptr && g_python.load(std::memory_order_acquire) != nullptr;
  if (HEAPPROF_UNLIKELY(is_python_new)) start_python(context);
  context->ready_for = g_control->unwinder == wire::UnwinderKind::kHeapprof ? age : kNotReady;
  context->stack_ready_for = context->python == nullptr ? context->ready_for : kNotReady;
  return true;
}

bool is_prepared(Context* context) {
  return context->ready_for == g_fork_page.age.load(std::memory_order_relaxed) || prepare(context);
}

static_assert(kRecordBytes + wire::payload_bytes(wire::kMaxFreshFrames) <= kMostReservedBytes);

uint64_t prefix(wire::RecordType type) { return static_cast<uint64_t>(type) << 60; }

// Puts the prefixes of a device's record. device: nullptr for the heap.
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

// Writes a record with a stack that was captured.
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

// Writes a record with a stack. False: there is none, or it is truncated.
[[gnu::always_inline]] inline bool write_stacked(Context* context, wire::RecordType type, uint64_t address,
                                                 uint64_t size_bytes, const StartFrame& caller,
                                                 const DeviceRecord* device = nullptr) {
  if (HEAPPROF_UNLIKELY(g_at_stack != nullptr)) g_at_stack();
  if (!is_prepared(context)) return false;
  StackDelta delta;
  if (HEAPPROF_LIKELY(context->ready_for != kNotReady)) {
    const bool is_near = context->python != nullptr && capture_as_hooks_do(context->unwind, caller, &delta);
    if (!is_near) capture_stack(context->unwind, caller, context->age, &delta);
  } else if (g_control->unwinder == wire::UnwinderKind::kFramePointers) {
    capture_frame_pointers(context->unwind, caller, context->age, &delta);
  } else {
    capture_with_reference(context, caller, &delta);
  }
  if (HEAPPROF_UNLIKELY(context->python != nullptr)) add_python_frames(context->python, context->unwind, &delta);
  write_captured(context, type, address, size_bytes, delta, device);
  return delta.truncation == 0;
}

// The same where there is little room in the chunk, or much to write.
[[gnu::noinline]] void write_changed_slowly(Context* context, uint64_t w0, const StackDelta& delta) {
  write_captured(context, wire::record_type(w0), wire::record_address(w0), wire::record_size(w0), delta, nullptr);
}

// Begins an event that ends a block. The loader frees memory while it unloads an object, so this is where every unload
// is noticed: a hook of dlclose would not see what libc unloads by itself (gconv modules).
Context* begin_ending_event(uint64_t sp) {
  if (HEAPPROF_UNLIKELY(is_loader(*reinterpret_cast<const uint64_t*>(sp - 8))) && is_unloading()) note_unloading();
  return begin_event(sp);
}

uint64_t address_of(const void* block) { return reinterpret_cast<uint64_t>(block); }

}  // namespace

namespace {

bool is_time_for(const Waiting& waiting, UnwindContext* unwind) {
  uint32_t count = 0;
  const uint64_t* const pcs_avma = current_stack(unwind, &count);
  return waiting.is_time(pcs_avma, count);
}

// The loader may be adding an object.
void look_for_loads(const uint64_t* hook_frame) {
  if (HEAPPROF_UNLIKELY(is_loader(hook_frame[1]))) note_loading();
}

}  // namespace

void record_begun(wire::RecordType type, Context* context, const void* block, size_t size_bytes,
                  const uint64_t* hook_frame) {
  look_for_loads(hook_frame);
  if (HEAPPROF_UNLIKELY(!is_usable(context))) {
    end_event(context);
    context = begin_event_slow(cfa_of(hook_frame));
    if (context == nullptr) return;
  }
  const bool is_whole = write_stacked(context, type, address_of(block), size_bytes, caller_of(hook_frame));
  const Waiting* const waiting = g_waiting.load(std::memory_order_acquire);
  const bool is_time = HEAPPROF_UNLIKELY(waiting != nullptr) && is_whole && is_time_for(*waiting, context->unwind);
  end_event(context);
  if (HEAPPROF_UNLIKELY(is_time)) waiting->act();
}

void record_changed(Context* context, uint64_t w0, const uint64_t* hook_frame) {
  look_for_loads(hook_frame);
  StackDelta delta;
  if (HEAPPROF_UNLIKELY(!capture_plain_stack(context->unwind, hook_frame[1], cfa_of(hook_frame), &delta))) {
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

void record_stacked(wire::RecordType type, const void* block, size_t size_bytes, const uint64_t* hook_frame) {
  look_for_loads(hook_frame);
  Context* context = begin_event(cfa_of(hook_frame));
  if (HEAPPROF_LIKELY(context != nullptr)) record_begun(type, context, block, size_bytes, hook_frame);
}

void record_free(const void* block, uint64_t sp) {
  Context* context = begin_ending_event(sp);
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  write_plain(context, wire::RecordType::kFree, address_of(block));
  end_event(context);
}

void record_realloc_begin(const void* block, const uint64_t* hook_frame) {
  Context* context = begin_ending_event(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  write_plain(context, wire::RecordType::kReallocBegin, address_of(block));
  end_event(context);
}

void record_realloc_failed(size_t size_bytes, const uint64_t* hook_frame) {
  Context* context = begin_event(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  write_plain(context, size_bytes == 0 ? wire::RecordType::kReallocFree : wire::RecordType::kReallocCancel, 0);
  end_event(context);
}

void record_device(const DeviceRecord& record, const uint64_t* hook_frame) {
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
      write_stacked(context, wire::RecordType::kMalloc, record.address, record.size_bytes, caller_of(hook_frame),
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

namespace {

// Kernels that were launched since the last scope began or ended here are of the one that is innermost until now.
void tell_launches(Context* context) {
  const uint64_t launches = context->header->kernel_launches.load(std::memory_order_relaxed);
  if (HEAPPROF_LIKELY(launches == context->launches_told)) return;
  context->launches_told = launches;
  put(context, wire::pack_control(wire::ControlKind::kLaunches, launches));
}

}  // namespace

void (*g_at_scope_end)(const uint64_t* hook_frame) = nullptr;

Context* own_context(const uint64_t* hook_frame) {
  if (t_context == nullptr || t_context->birth != g_birth) {
    if (Context* const context = begin_event(cfa_of(hook_frame))) end_event(context);
  }
  Context* const context = t_context;
  return context == nullptr || context->is_shared || context->birth != g_birth ? nullptr : context;
}

namespace {

// Behind a launch every change of scopes comes here, and not to record_scope_fast: so that is no slower for what only
// launches need.
// operator_word: 0 of what is none
[[gnu::always_inline]] inline uint64_t write_scope(wire::ScopeOperation operation, uint32_t name, uint64_t id,
                                                   uint32_t operator_word, const uint64_t* hook_frame) {
  Context* context = begin_event(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return 0;
  if (HEAPPROF_UNLIKELY(!is_prepared(context) || !reserve(context, kRecordBytes))) {
    end_event(context);
    return 0;
  }
  if (operation == wire::ScopeOperation::kBegin || operation == wire::ScopeOperation::kBeginApart)
    id = next_scope_id(context);
  ++context->scope_changes;
  const uint32_t delta = stamp_anew(context);
  tell_launches(context);
  if (HEAPPROF_UNLIKELY(!g_use_tsc)) put(context, wire::pack_control(wire::ControlKind::kScopeTime, read_ticks()));
  if (operator_word != 0) put(context, prefix(wire::RecordType::kPrefixSize), operator_word);
  put(context, wire::pack_scope(operation, name, id), wire::pack_w1(delta, 0, 0));
  publish(context);
  end_event(context);
  return id;
}

}  // namespace

uint64_t record_scope(wire::ScopeOperation operation, uint32_t name, uint64_t id, const uint64_t* hook_frame) {
  const bool is_end = operation == wire::ScopeOperation::kEnd || operation == wire::ScopeOperation::kEndOnly;
  if (HEAPPROF_UNLIKELY(is_end && g_at_scope_end != nullptr)) g_at_scope_end(hook_frame);
  return write_scope(operation, name, id, 0, hook_frame);
}

uint64_t record_operator(uint32_t name, uint32_t operator_word, const uint64_t* hook_frame) {
  return write_scope(wire::ScopeOperation::kBegin, name, 0, operator_word, hook_frame);
}

namespace {

// What a program says of the memory at an address.
void record_of_memory(wire::ScopeOperation operation, const void* block, uint32_t name, uint64_t id,
                      const uint64_t* hook_frame) {
  Context* context = begin_event(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  if (HEAPPROF_LIKELY(is_prepared(context) && reserve(context, kRecordBytes))) {
    // The block may be another thread's, from which this one has just got it: not stamped before that was seen.
    asm volatile("lfence" ::: "memory");
    const uint32_t delta = stamp_anew(context);
    put(context, prefix(wire::RecordType::kPrefixAddress), address_of(block));
    put(context, wire::pack_scope(operation, name, id), wire::pack_w1(delta, 0, 0));
    publish(context);
  }
  end_event(context);
}

}  // namespace

void record_block_name(const void* block, uint32_t name, const uint64_t* hook_frame) {
  record_of_memory(wire::ScopeOperation::kNameBlock, block, name, 0, hook_frame);
}

void record_tensor(const void* block, wire::TensorRole role, uint32_t name, const uint64_t* hook_frame) {
  record_of_memory(wire::ScopeOperation::kTensor, block, name, static_cast<uint64_t>(role), hook_frame);
}

void record_launch(wire::Record launch, const uint64_t* hook_frame) {
  Context* context = begin_event(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  if (HEAPPROF_LIKELY(is_prepared(context) && reserve(context, kRecordBytes))) {
    put(context, launch);
    publish(context);
  }
  end_event(context);
}

namespace {

constexpr uint64_t kIdMask = (1ull << wire::kScopeIdBits) - 1;

// What a program or the driver says of what is open.
void record_unstamped(wire::ScopeOperation operation, uint64_t id, uint64_t value, const uint64_t* hook_frame) {
  Context* context = begin_event(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  if (HEAPPROF_LIKELY(is_prepared(context) && reserve(context, kRecordBytes))) {
    put(context, wire::pack_scope(operation, 0, id & kIdMask), value);
    publish(context);
  }
  end_event(context);
}

}  // namespace

void record_gpu_interval(wire::ScopeOperation operation, uint64_t id, uint64_t duration_ns,
                         const uint64_t* hook_frame) {
  record_unstamped(operation, id, duration_ns, hook_frame);
}

void record_scope_items(uint64_t id, uint64_t items, const uint64_t* hook_frame) {
  record_unstamped(wire::ScopeOperation::kItems, id, items, hook_frame);
}

}  // namespace heapprof::agent
