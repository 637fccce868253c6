// agent/hooks/inner.cc: one hook for all such functions, told by a register which one was called.
//
// A function's thunk (inner_patch.cc) puts the function's number into r11 and jumps to heapprof_inner, which makes a
// frame as every hook has it, and calls the rest in C++.
//
// A flag "the thread is inside of the allocator" would hide what a new_handler allocates, and stay set when that
// throws. So the frame of the outermost call is kept, and a call is nested only where it is deeper than that frame and
// is a direct one of the allocator's own code. One that was left by an exception or a jump is overwritten by the next
// call that the program makes.
#include "agent/hooks/inner.h"

#include "agent/hooks/hook.h"
#include "agent/record/record_fast.h"

#include <string.h>

extern "C" {
HIDDEN size_t heapprof_inner_hook(size_t a, size_t b, size_t c, size_t d, size_t e, size_t f, size_t index,
                                  const uint64_t* frame);
}

asm(R"(
.text
.globl heapprof_inner
.hidden heapprof_inner
.type heapprof_inner, @function
heapprof_inner:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rbp
  pushq %r11
  call heapprof_inner_hook
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
.size heapprof_inner, . - heapprof_inner
)");

namespace heapprof::agent {

InnerSlot g_inner_slots[wire::kMostInnerFunctions];

namespace {

using Kind = wire::AllocatorKind;
using Role = wire::AllocatorRole;
using Slot = InnerSlot;

constexpr size_t kParameters = wire::kAllocatorParameters;

InnerCode g_code;

// The frame of the allocator's function that this thread called last and that has not returned.
constinit thread_local uint64_t t_inner_frame __attribute__((tls_model("initial-exec"))) = 0;

void* pointer(size_t word) { return reinterpret_cast<void*>(word); }
size_t index_of(const wire::AllocatorFunction& what, Role role) { return what.index_of(role); }

// The real call, with its frame kept meanwhile.
[[gnu::always_inline]] inline size_t call_real(const Slot& slot, const size_t* given, const uint64_t* frame) {
  const uint64_t before = t_inner_frame;
  t_inner_frame = reinterpret_cast<uint64_t>(frame);
  const size_t result = slot.real(given[0], given[1], given[2], given[3], given[4], given[5]);
  t_inner_frame = before > reinterpret_cast<uint64_t>(frame) ? before : 0;
  return result;
}

bool is_in_ranges(uint64_t pc_avma) {
  const uint64_t offset = pc_avma - g_code.base_avma;
  uint32_t low = 0;
  uint32_t high = g_code.count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (g_code.ranges[middle].end <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < g_code.count && offset >= g_code.ranges[low].start;
}

// A function that ends with a jump to another one was called by the agent.
bool is_in_agent(uint64_t pc_avma) {
  return pc_avma - g_code.agent_start_avma < g_code.agent_end_avma - g_code.agent_start_avma;
}

// Whether a call that returns there was one of code of the allocator, from such code. What it calls of a library may
// end with a jump to a function of ours (__cxa_end_catch with one to free), and is the library's, as what that
// allocated is.
bool is_direct_call(uint64_t return_avma) {
  constexpr unsigned char kCall = 0xe8;
  constexpr uint64_t kCallBytes = 5;
  if (!is_in_ranges(return_avma - kCallBytes)) return false;
  const auto* const call = reinterpret_cast<const unsigned char*>(return_avma - kCallBytes);
  int32_t distance;
  memcpy(&distance, call + 1, sizeof distance);
  return call[0] == kCall && is_in_ranges(return_avma + static_cast<uint64_t>(static_cast<int64_t>(distance)));
}

bool is_own_call(const uint64_t* frame) {
  const uint64_t outer = t_inner_frame;
  return HEAPPROF_UNLIKELY(outer != 0) && reinterpret_cast<uint64_t>(frame) < outer &&
         (is_in_agent(frame[1]) || is_direct_call(frame[1]));
}

[[gnu::noinline]] size_t reallocate(const Slot& slot, const size_t* given, size_t old, size_t bytes, bool frees_always,
                                    const uint64_t* frame) {
  const bool has_begun = old != 0 && record_realloc_begin_fast(pointer(old), frame);
  const size_t block = call_real(slot, given, frame);
  if (old != 0) {
    record_realloc_end_fast(has_begun ? pointer(old) : nullptr, pointer(block), block == 0 && frees_always ? 0 : bytes,
                            frame);
  } else if (block != 0) {
    record_malloc_fast(pointer(block), bytes, frame);
  }
  return block;
}

[[gnu::noinline]] size_t allocate_into(const Slot& slot, const size_t* given, size_t bytes, const uint64_t* frame) {
  void* const* out = static_cast<void* const*>(pointer(given[index_of(slot.what, Role::Out)]));
  const bool has_old = slot.what.kind == Kind::ReallocateInto && out != nullptr && *out != nullptr;
  void* const old = has_old ? *out : nullptr;
  const bool has_begun = has_old && record_realloc_begin(old, frame);
  const size_t error = call_real(slot, given, frame);
  void* const block = static_cast<int>(error) == 0 && out != nullptr ? *out : nullptr;
  if (has_old) {
    record_realloc_end(has_begun ? old : nullptr, block, bytes, frame);
  } else if (block != nullptr) {
    record_malloc(block, bytes, frame);
  }
  return error;
}

[[gnu::noinline]] size_t copy_text(const Slot& slot, const size_t* given, const uint64_t* frame) {
  const size_t text = call_real(slot, given, frame);
  for (size_t i = 0; i < kParameters; ++i) {
    if (slot.what.roles[i] != Role::None && given[i] == text) return text;  // the caller's own
  }
  if (text != 0) record_malloc(pointer(text), strlen(static_cast<const char*>(pointer(text))) + 1, frame);
  return text;
}

[[gnu::noinline]] size_t resize(const Slot& slot, const size_t* given, size_t bytes, const uint64_t* frame) {
  const size_t extra = given[index_of(slot.what, Role::Extra)];
  void* block = pointer(given[index_of(slot.what, Role::Block)]);
  const void* const begun = record_realloc_begin(block, frame) ? block : nullptr;
  const size_t has_bytes = call_real(slot, given, frame);
  const size_t most = bytes + extra < bytes ? SIZE_MAX : bytes + extra;
  if (has_bytes >= bytes) {
    record_realloc_end(begun, block, has_bytes < most ? has_bytes : most, frame);
  } else {
    record_realloc_end(begun, nullptr, bytes == 0 ? 1 : bytes, frame);  // it could not be made larger
  }
  return has_bytes;
}

}  // namespace

void set_inner_code(const InnerCode& code) { g_code = code; }

bool is_inner_code(uint64_t pc_avma) { return g_code.count != 0 && is_in_ranges(pc_avma); }

}  // namespace heapprof::agent

size_t heapprof_inner_hook(size_t a, size_t b, size_t c, size_t d, size_t e, size_t f, size_t index,
                           const uint64_t* frame) {
  using namespace heapprof::agent;
  const Slot& slot = g_inner_slots[index];
  if (is_own_call(frame)) return slot.real(a, b, c, d, e, f);
  const size_t given[kParameters + 1] = {a, b, c, d, e, f, 1};
  if (HEAPPROF_LIKELY(slot.what.kind == Kind::Release)) {
    const size_t block = given[slot.first];
    if (block != 0 && HEAPPROF_UNLIKELY(!record_free_fast(pointer(block), cfa_of(frame))))
      record_free(pointer(block), cfa_of(frame));
    return call_real(slot, given, frame);
  }
  size_t bytes = 0;
  if (slot.first < kParameters &&
      HEAPPROF_UNLIKELY(__builtin_mul_overflow(given[slot.first], given[slot.count], &bytes)))
    return call_real(slot, given, frame);  // the function refuses, and nothing begins or ends
  if (HEAPPROF_LIKELY(slot.what.kind == Kind::Allocate)) {
    const size_t block = call_real(slot, given, frame);
    if (HEAPPROF_LIKELY(block != 0)) record_malloc_fast(pointer(block), bytes, frame);
    return block;
  }
  switch (slot.what.kind) {
    case Kind::Reallocate:
    case Kind::ReallocateOrFree:
      return reallocate(slot, given, given[index_of(slot.what, Role::Block)], bytes,
                        slot.what.kind == Kind::ReallocateOrFree, frame);
    case Kind::AllocateInto:
    case Kind::ReallocateInto: return allocate_into(slot, given, bytes, frame);
    case Kind::CopyText: return copy_text(slot, given, frame);
    case Kind::Resize: return resize(slot, given, bytes, frame);
    case Kind::EndHeap:
      record_end_of_heap(g_code.heaps, pointer(given[index_of(slot.what, Role::Heap)]), cfa_of(frame));
      return call_real(slot, given, frame);
    default: return call_real(slot, given, frame);
  }
}
