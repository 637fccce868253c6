// agent/record/reference.cc: asks libheapprof-verify.so for the stack and compares it with the agent's own.
//
// The agent must not depend on libunwind, so it looks up libheapprof-verify.so's one function by name among the loaded
// objects. The agent's own stack is captured as on the fast path, so that a wrong "same as before" is found as well.
#include "agent/record/reference.h"

#include "agent/libc/raw.h"
#include "agent/libc/vector_state.h"
#include "agent/process/arena.h"
#include "agent/process/link_map.h"
#include "agent/process/own_memory.h"
#include "agent/process/state.h"
#include "agent/unwind/unwind_plain.h"

#include <errno.h>

namespace heapprof::agent {

namespace {

// Defined in libheapprof-verify.so; see agent/verify/reference_unwind.h for its contract.
using ReferenceUnwind = uint32_t (*)(uint64_t start_pc, uint64_t start_sp, uint64_t* pcs, uint32_t max);
ReferenceUnwind g_reference = nullptr;
bool g_is_forbidden = false;

uint32_t walk_reference(Context* context, const StartFrame& caller) {
  if (context->reference_pcs == nullptr) {
    context->reference_pcs = static_cast<uint64_t*>(map_private(2 * kMaxFrames * sizeof(uint64_t)));
    if (context->reference_pcs == nullptr) return 0;
  }
  t_flags |= kThreadSuppressed;
  const int error = errno;
  const uint32_t count = call_kept(g_reference, caller.pc_avma, caller.sp, context->reference_pcs, kMaxFrames);
  errno = error;
  t_flags &= ~kThreadSuppressed;
  return count;
}

// True if one of the frame records that lead on from this function has a signed return address: libunwind before 1.8
// crashes there. Code that signs without keeping records is not noticed.
bool has_signed_return() {
  if constexpr (!kSignsReturns) return false;
  auto bp = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  for (uint32_t i = 0; i < kMaxFrames && bp != 0; ++i) {
    uint64_t record[2];
    if (!read_own_memory(record, reinterpret_cast<const void*>(bp), sizeof record)) return false;
    if (without_signature(record[1]) != record[1]) return true;
    if (record[0] == bp) return false;
    bp = record[0];
  }
  return false;
}

bool is_equal(const uint64_t* a, const uint64_t* b, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

}  // namespace

bool find_reference_unwinder() {
  if (g_reference == nullptr) {
    g_reference = reinterpret_cast<ReferenceUnwind>(find_in_process("heapprof_reference_unwind").address);
  }
  return g_reference != nullptr;
}

void forbid_reference_unwinder() { g_is_forbidden = true; }

void capture_with_reference(Context* context, const StartFrame& caller, StackDelta* delta) {
  if (g_is_forbidden || !find_reference_unwinder()) {
    capture_stack(context->unwind, caller, context->generation, delta);
    return;
  }
  if (is_filtered() || has_signed_return()) {
    capture_stack(context->unwind, caller, context->generation, delta);
    g_control->verify_skipped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const uint32_t count = walk_reference(context, caller);
  if (g_control->unwinder == wire::UnwinderKind::kLibunwind && count != 0) {
    replace_stack(context->unwind, context->reference_pcs, count, context->generation, delta);
    return;
  }
  set_generation(context->unwind, context->generation);
  if (!capture_as_hooks_do(context->unwind, caller, delta))
    capture_stack(context->unwind, caller, context->generation, delta);
  if (delta->truncation != 0) return;  // no call frame information (JIT code): both only guess, each in its own way
  uint32_t own_count = 0;
  const uint64_t* own = current_stack(context->unwind, &own_count);
  g_control->verify_checked.fetch_add(1, std::memory_order_relaxed);
  if (own_count != count || !is_equal(own, context->reference_pcs, count)) {
    g_control->verify_mismatched.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace heapprof::agent
