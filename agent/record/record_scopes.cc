// agent/record/record_scopes.cc: the records by which a program annotates its work: scopes, marks, names of memory, and
// launches of kernels, which belong to a scope. These records have no stack.
#include "agent/record/record_fast.h"
#include "agent/record/record_parts.h"

namespace heapprof::agent {

namespace {

uint64_t address_of(const void* block) { return reinterpret_cast<uint64_t>(block); }

}  // namespace

namespace {

// Attributes the kernels that were launched since the last scope began or ended here to the scope that was innermost.
void tell_launches(Context* context) {
  const uint64_t launches = context->header->kernel_launches.load(std::memory_order_relaxed);
  if (HEAPPROF_LIKELY(launches == context->launches_reported)) return;
  context->launches_reported = launches;
  put(context, wire::pack_control(wire::ControlKind::kLaunches, launches));
}

}  // namespace

void (*g_at_scope_end)(HookFrame hook_frame) = nullptr;

Context* own_context(HookFrame hook_frame) {
  if (t_context == nullptr || t_context->session != g_session) {
    if (Context* const context = begin_event(cfa_of(hook_frame))) end_event(context);
  }
  Context* const context = t_context;
  return context == nullptr || context->is_shared || context->session != g_session ? nullptr : context;
}

namespace {

// After a launch, the thread's next change of scopes is recorded here and not by record_scope_fast, so that the fast
// path pays nothing for launches.
// operator_word: 0 if the scope is not an operator
[[gnu::always_inline]] inline uint64_t write_scope(wire::ScopeOperation operation, uint32_t name, uint64_t id,
                                                   uint32_t operator_word, HookFrame hook_frame) {
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

uint64_t record_scope(wire::ScopeOperation operation, uint32_t name, uint64_t id, HookFrame hook_frame) {
  const bool is_end = operation == wire::ScopeOperation::kEnd || operation == wire::ScopeOperation::kEndOnly;
  if (HEAPPROF_UNLIKELY(is_end && g_at_scope_end != nullptr)) g_at_scope_end(hook_frame);
  return write_scope(operation, name, id, 0, hook_frame);
}

uint64_t record_operator(uint32_t name, uint32_t operator_word, HookFrame hook_frame) {
  return write_scope(wire::ScopeOperation::kBegin, name, 0, operator_word, hook_frame);
}

namespace {

// Records an annotation of the memory at an address.
void record_of_memory(wire::ScopeOperation operation, const void* block, uint32_t name, uint64_t id,
                      HookFrame hook_frame) {
  Context* context = begin_event(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  if (HEAPPROF_LIKELY(is_prepared(context) && reserve(context, kRecordBytes))) {
    // Another thread may have just handed this one the block: the fence keeps the stamp from being taken before that
    // was seen.
    order_counter();
    const uint32_t delta = stamp_anew(context);
    put(context, prefix(wire::RecordType::kPrefixAddress), address_of(block));
    put(context, wire::pack_scope(operation, name, id), wire::pack_w1(delta, 0, 0));
    publish(context);
  }
  end_event(context);
}

}  // namespace

void record_block_name(const void* block, uint32_t name, HookFrame hook_frame) {
  record_of_memory(wire::ScopeOperation::kNameBlock, block, name, 0, hook_frame);
}

void record_tensor(const void* block, wire::TensorRole role, uint32_t name, HookFrame hook_frame) {
  record_of_memory(wire::ScopeOperation::kTensor, block, name, static_cast<uint64_t>(role), hook_frame);
}

void record_launch(wire::Record launch, HookFrame hook_frame) {
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

// Records what a program or the driver reports about an open scope or interval.
void record_unstamped(wire::ScopeOperation operation, uint64_t id, uint64_t value, HookFrame hook_frame) {
  Context* context = begin_event(cfa_of(hook_frame));
  if (HEAPPROF_UNLIKELY(context == nullptr)) return;
  if (HEAPPROF_LIKELY(is_prepared(context) && reserve(context, kRecordBytes))) {
    put(context, wire::pack_scope(operation, 0, id & kIdMask), value);
    publish(context);
  }
  end_event(context);
}

}  // namespace

void record_gpu_interval(wire::ScopeOperation operation, uint64_t id, uint64_t duration_ns, HookFrame hook_frame) {
  record_unstamped(operation, id, duration_ns, hook_frame);
}

void record_scope_items(uint64_t id, uint64_t items, HookFrame hook_frame) {
  record_unstamped(wire::ScopeOperation::kItems, id, items, hook_frame);
}

}  // namespace heapprof::agent
