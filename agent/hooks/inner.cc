// agent/hooks/inner.cc: one hook for all functions of an allocator inside the executable.
//
// A function's thunk (inner_patch.cc) begins with an entry that makes a frame like every hook's
// (arch/x86_64/inner_entry.h). It calls the functions at the end of this file before and after the function.
//
// A flag "the thread is inside the allocator" would hide what a new_handler allocates, and would stay set if the
// new_handler throws. So the agent stores the frame of the outermost call. A call is nested only if it is deeper than
// that frame, and the allocator's own code called its own code. The return address says where a call comes from, and
// the instruction before it says what was called. Both are needed: a handler may end with a tail call of malloc, which
// then returns to the allocator. The instruction is read as the linker wrote it. In memory the agent's jump may have
// replaced it, because compilers put a call of another function into the first five bytes (aligned_alloc that calls
// memalign, nothrow new that calls new).
//
// If an exception or longjmp left a call, the next call that the program makes overwrites its stored frame.
#include "agent/hooks/inner.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/own_calls.h"
#include "agent/process/arena.h"
#include "agent/record/record_fast.h"

#include <stddef.h>
#include <string.h>

extern "C" {
HIDDEN uint8_t heapprof_inner_before(heapprof::agent::InnerCall* call);
HIDDEN uint8_t heapprof_inner_before_kept(heapprof::agent::InnerCall* call, const uint64_t* kept);
HIDDEN void heapprof_inner_after(heapprof::agent::InnerCall* call);
}

namespace heapprof::agent {

InnerSlot g_inner_slots[wire::kMostInnerFunctions];

namespace {

using Kind = wire::AllocatorKind;
using Role = wire::AllocatorRole;
using Slot = InnerSlot;

constexpr size_t kParameters = wire::kAllocatorParameters;
static_assert(kParameters == kInnerParameters);
constexpr uint32_t kMostGroups = 32;  // only these have a bit in the masks of groups

InnerCode g_code;

void* pointer(size_t word) { return reinterpret_cast<void*>(word); }
size_t index_of(const wire::AllocatorFunction& what, Role role) { return what.index_of(role); }

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

bool is_in_segment(uint64_t start_avma, uint64_t bytes, uint32_t rights);

// The bytes before the address that a call returns to, as they are in the program's file; zeros: they cannot be read.
const unsigned char* code_before(uint64_t return_avma) {
  static constexpr unsigned char kUnknown[kCallBytes] = {};
  uint32_t low = 0;
  uint32_t high = g_code.moved_call_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    const InnerMovedCall& one = g_code.moved_calls[middle];
    if (one.return_avma == return_avma) return one.code;
    if (one.return_avma < return_avma) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const uint64_t start_avma = return_avma - kCallBytes;
  return is_in_segment(start_avma, kCallBytes, PF_R | PF_X) ? reinterpret_cast<const unsigned char*>(start_avma)
                                                            : kUnknown;
}

// Whether a segment of the executable has these bytes, and these rights.
bool is_in_segment(uint64_t start_avma, uint64_t bytes, uint32_t rights) {
  for (uint32_t i = 0; i < g_code.headers.count; ++i) {
    const ElfW(Phdr)& part = g_code.headers.first[i];
    const uint64_t offset = start_avma - (g_code.bias + part.p_vaddr);
    const bool is_there = offset < part.p_memsz && part.p_memsz - offset >= bytes;
    if (part.p_type == PT_LOAD && is_there && (part.p_flags & rights) == rights) return true;
  }
  return false;
}

// The value of a slot in the executable's tables of addresses (GOT); 0: that address cannot be such a slot.
uint64_t slot_value(uint64_t slot_avma) {
  if (!is_in_segment(slot_avma, sizeof(uint64_t), PF_R | PF_W)) return 0;
  return *reinterpret_cast<const uint64_t*>(slot_avma);
}

// If the code there is only a jump through a slot (PLT), returns the jump's target; else target_avma.
uint64_t through_stub(uint64_t target_avma) {
  if (!is_in_segment(target_avma, kStubBytes, PF_R | PF_X)) return target_avma;
  const uint64_t slot_avma = jumped_slot(target_avma);
  return slot_avma == 0 ? target_avma : slot_value(slot_avma);
}

// The address that this call instruction calls, if its code determines it; 0: it does not.
uint64_t called_by_code(const unsigned char* code, uint64_t return_avma) {
  const uint64_t target_avma = directly_called(code, return_avma);
  if (target_avma != 0) return is_in_ranges(target_avma) ? target_avma : through_stub(target_avma);
  const uint64_t slot_avma = called_slot(code, return_avma);
  return slot_avma == 0 ? 0 : slot_value(slot_avma);
}

// True for functions of the allocator, and for the agent's exported hooks.
bool is_of_allocator(uint64_t called_avma) {
  return is_in_ranges(called_avma) || (called_avma >= g_code.agent_start_avma && called_avma < g_code.agent_end_avma);
}

enum Judgement : uint8_t {
  kIsOwn = 0,    // the allocator called itself: the call is only forwarded
  kIsCall = 1,   // the program made the call
  kAsksKept = 2  // the answer depends on registers that are not in InnerCall
};

// Determines whether code of the allocator called code of the allocator, or one of the agent's hooks. A library
// function that the allocator calls may end with a tail call of the agent's function (__cxa_end_catch tail-calls free).
// That call counts as the library's, as does what the library allocated. In the same way, a call from a new_handler
// counts as the program's.
[[gnu::noinline]] Judgement judge_nested(const InnerCall& call, const uint64_t* kept) {
  const uint64_t return_avma = call.frame[1];
  // If a function ended with a tail call of this one, the return address is that of heapprof_inner's call.
  if (return_avma == reinterpret_cast<uint64_t>(heapprof_inner_returned)) return kIsOwn;
  if (!is_in_ranges(return_avma - 1)) return kIsCall;
  const unsigned char* const code = code_before(return_avma);
  if (is_of_allocator(called_by_code(code, return_avma))) return kIsOwn;
  const uint32_t registers = registers_of_call(code);
  if (kept == nullptr && (registers & kKeptRegisters) != 0) return kAsksKept;
  for (uint32_t number = 0; number < 16; ++number) {
    const bool is_it = (registers >> number & 1) != 0;
    if (is_it && is_of_allocator(value_of_register(number, call, kept))) return kIsOwn;
  }
  return kIsCall;
}

bool is_within(HookFrame frame) {
  const uint64_t outer = t_allocator_frame;
  return HEAPPROF_UNLIKELY(outer != 0) && reinterpret_cast<uint64_t>(frame) < outer;
}

// No block is larger than this: a larger value in the place of a size is an address, or a flag.
constexpr size_t kMostPlausibleBytes = size_t{1} << 44;

// True if the function gave what the caller requested.
bool has_given(const Slot& slot, const InnerCall& call) {
  const bool is_into = slot.what.kind == Kind::AllocateInto || slot.what.kind == Kind::ReallocateInto;
  return is_into ? static_cast<int>(call.result) == 0 && call.out != 0 : call.result != 0;
}

[[gnu::noinline]] void prepare(const Slot& slot, InnerCall* call) {
  switch (slot.what.kind) {
    case Kind::Reallocate:
    case Kind::ReallocateOrFree:
      call->old = call->given[index_of(slot.what, Role::Block)];
      call->has_begun = call->old != 0 && record_realloc_begin_fast(pointer(call->old), call->frame);
      break;
    case Kind::AllocateInto:
    case Kind::ReallocateInto:
      call->out = call->given[index_of(slot.what, Role::Out)];
      call->old = 0;
      if (slot.what.kind == Kind::AllocateInto || call->out == 0) break;
      call->old = *static_cast<const size_t*>(pointer(call->out));
      call->has_begun = call->old != 0 && record_realloc_begin(pointer(call->old), call->frame);
      break;
    case Kind::CopyText:
      call->old = call->given[index_of(slot.what, Role::Text)];
      call->out = slot.what.has(Role::Other) ? call->given[index_of(slot.what, Role::Other)] : 0;
      break;
    case Kind::Resize:
      call->old = call->given[index_of(slot.what, Role::Block)];
      call->out = call->given[index_of(slot.what, Role::Extra)];
      call->has_begun = record_realloc_begin(pointer(call->old), call->frame);
      break;
    case Kind::EndHeap:
      call->is_recorded = false;
      record_end_of_heap(g_code.heaps, pointer(call->given[index_of(slot.what, Role::Heap)]), call->frame);
      break;
    default: break;
  }
}

// Records the result of a realloc.
void end_old(const InnerCall& call, size_t block, size_t bytes) {
  const void* const begun = call.has_begun ? pointer(call.old) : nullptr;
  if (call.old != 0) return record_realloc_end_fast(begun, pointer(block), bytes, call.frame);
  if (block != 0) record_malloc_fast(pointer(block), bytes, call.frame);
}

[[gnu::noinline]] void refuse_implausible(const Slot& slot, const InnerCall& call) {
  if (has_given(slot, call) && slot.group < kMostGroups)
    g_control->inner_doubted.fetch_or(1u << slot.group, std::memory_order_relaxed);
  if (call.has_begun) record_realloc_end(pointer(call.old), nullptr, 1, call.frame);
}

[[gnu::noinline]] void record_others(const Slot& slot, const InnerCall& call) {
  size_t block = call.result;
  switch (slot.what.kind) {
    case Kind::Reallocate: return end_old(call, block, call.bytes);
    case Kind::ReallocateOrFree: return end_old(call, block, block == 0 ? 0 : call.bytes);
    case Kind::AllocateInto:
    case Kind::ReallocateInto:
      block = has_given(slot, call) ? *static_cast<const size_t*>(pointer(call.out)) : 0;
      return end_old(call, block, call.bytes);
    case Kind::CopyText:
      if (block == 0 || block == call.old || block == call.out) return;  // the caller's own
      return record_malloc(pointer(block), strlen(static_cast<const char*>(pointer(block))) + 1, call.frame);
    case Kind::Resize: {
      const size_t most = call.bytes + call.out < call.bytes ? SIZE_MAX : call.bytes + call.out;
      const bool fits = call.result >= call.bytes;  // else it could not be made larger
      return record_realloc_end(call.has_begun ? pointer(call.old) : nullptr, fits ? pointer(call.old) : nullptr,
                                fits ? (call.result < most ? call.result : most) : call.bytes + (call.bytes == 0),
                                call.frame);
    }
    default: return;
  }
}

// What is done before a call of the program is forwarded.
[[gnu::always_inline]] inline Judgement begin(InnerCall* call) {
  const Slot& slot = g_inner_slots[call->index];
  call->outer_frame = t_allocator_frame;
  call->has_begun = false;
  call->is_recorded = false;
  if (HEAPPROF_LIKELY(slot.what.kind == Kind::Release)) {
    const size_t block = call->given[slot.first];
    if (block != 0 && HEAPPROF_UNLIKELY(!record_free_fast(pointer(block), call->frame)))
      record_free(pointer(block), call->frame);
  } else {
    call->one = 1;
    call->bytes = 0;
    // If the product is too large, the function refuses, and nothing begins or ends.
    call->is_recorded =
        slot.first >= kParameters ||
        HEAPPROF_LIKELY(!__builtin_mul_overflow(call->given[slot.first], call->given[slot.count], &call->bytes));
    if (call->is_recorded && HEAPPROF_UNLIKELY(slot.what.kind != Kind::Allocate)) prepare(slot, call);
  }
  t_allocator_frame = reinterpret_cast<uint64_t>(call->frame);
  return kIsCall;
}

}  // namespace

void set_inner_code(const InnerCode& code) { g_code = code; }

bool has_inner_allocator() { return g_code.count != 0; }

bool is_inner_code(uint64_t pc_avma) { return g_code.count != 0 && is_in_ranges(pc_avma); }

bool is_call_of_inner(HookFrame hook_frame) {
  if (!is_within(hook_frame)) return false;
  if (returns_to(hook_frame) == reinterpret_cast<uint64_t>(heapprof_inner_returned)) return true;
  if (!is_inner_code(returns_to(hook_frame) - 1)) return false;
  return is_of_allocator(called_by_code(code_before(returns_to(hook_frame)), returns_to(hook_frame)));
}

}  // namespace heapprof::agent

uint8_t heapprof_inner_before(heapprof::agent::InnerCall* call) {
  using namespace heapprof::agent;
  call->index = static_cast<uint32_t>(call->real);
  call->real = reinterpret_cast<uint64_t>(g_inner_slots[call->index].real);
  if (is_within(call->frame)) {
    const Judgement judgement = judge_nested(*call, nullptr);
    if (judgement != kIsCall) return judgement;
  }
  return begin(call);
}

uint8_t heapprof_inner_before_kept(heapprof::agent::InnerCall* call, const uint64_t* kept) {
  using namespace heapprof::agent;
  return judge_nested(*call, kept) == kIsOwn ? kIsOwn : begin(call);
}

void heapprof_inner_after(heapprof::agent::InnerCall* call) {
  using namespace heapprof::agent;
  const auto frame_avma = reinterpret_cast<uint64_t>(call->frame);
  t_allocator_frame = call->outer_frame > frame_avma ? call->outer_frame : 0;
  if (!call->is_recorded) return;
  const Slot& slot = g_inner_slots[call->index];
  if (HEAPPROF_UNLIKELY(call->bytes > kMostPlausibleBytes)) return refuse_implausible(slot, *call);
  if (HEAPPROF_UNLIKELY(slot.what.kind != Kind::Allocate)) return record_others(slot, *call);
  if (HEAPPROF_LIKELY(call->result != 0)) record_malloc_fast(pointer(call->result), call->bytes, call->frame);
}
