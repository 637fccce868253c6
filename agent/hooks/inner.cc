// agent/hooks/inner.cc: one hook for all such functions; a register says which one was called.
//
// A function's thunk (inner_patch.cc) pushes rbp, puts the function's number there and jumps to heapprof_inner, which
// makes a frame as every hook has it, and calls the rest in C++, before and after the function.
//
// The ABI says which registers a function may change, and a compiler knows more: by -fipa-ra, which GCC has from -O1
// on, a caller in the same file keeps values in registers that this very function leaves alone, and may call it with a
// stack that is aligned for it alone. So only the function itself changes registers. The agent's code touches no vector
// registers, and keeps them when it calls other code (agent/libc/vector_state.h). Flags are the one exception: for GCC
// and LLVM every call ends what they hold.
//
// A flag "the thread is inside the allocator" would hide what a new_handler allocates, and stay set when that throws.
// So the frame of the outermost call is kept, and a call is nested only if it is deeper than that frame and the
// allocator's own code called its own code. The return address tells where a call comes from, and the instruction
// before it what was called: a handler may end with a tail call of malloc, which then returns to the allocator. That
// instruction is read as the linker wrote it: compilers put a call of another function into the first five bytes
// (aligned_alloc that calls memalign, nothrow new that calls new), and there the memory has the agent's jump.
//
// A frame that was left by an exception or a jump is overwritten by the next call that the program makes.
#include "agent/hooks/inner.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/own_calls.h"
#include "agent/process/arena.h"
#include "agent/record/record_fast.h"

#include <stddef.h>
#include <string.h>

namespace heapprof::agent {
struct InnerCall;
}
extern "C" {
HIDDEN uint8_t heapprof_inner_before(heapprof::agent::InnerCall* call);
HIDDEN uint8_t heapprof_inner_before_kept(heapprof::agent::InnerCall* call, const uint64_t* kept);
HIDDEN void heapprof_inner_after(heapprof::agent::InnerCall* call);
HIDDEN extern const char heapprof_inner_returned[];  // where functions return to
}

// At its entry %ebp has the function's number, and the stack the caller's %rbp above its return address. Offsets are
// InnerCall's. The function gets all registers as its caller left them, and the caller gets them as the function did.
asm(R"(
.text
.macro heapprof_load_registers
  movq 40(%rsp), %rdi
  movq 48(%rsp), %rsi
  movq 56(%rsp), %rdx
  movq 64(%rsp), %rcx
  movq 72(%rsp), %r8
  movq 80(%rsp), %r9
  movq 96(%rsp), %rax
  movq 104(%rsp), %r10
  movq 112(%rsp), %r11
  movq 128(%rsp), %rbp
.endm
.macro heapprof_store_registers
  movq %rdi, 40(%rsp)
  movq %rsi, 48(%rsp)
  movq %rdx, 56(%rsp)
  movq %rcx, 64(%rsp)
  movq %r8, 72(%rsp)
  movq %r9, 80(%rsp)
  movq %rax, 96(%rsp)
  movq %r10, 104(%rsp)
  movq %r11, 112(%rsp)
.endm
.globl heapprof_inner
.hidden heapprof_inner
.type heapprof_inner, @function
heapprof_inner:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  leaq -128(%rsp), %rsp
  .cfi_def_cfa_offset 144
  movq %rbp, 120(%rsp)
  heapprof_store_registers
  leaq 128(%rsp), %rbp
  movq %rsp, %rdi
  call heapprof_inner_before
  cmpb $1, %al
  ja 2f
3:
  heapprof_load_registers
  jb 1f
  call *120(%rsp)
heapprof_inner_returned:
  heapprof_store_registers
  movq %rbp, 128(%rsp)
  leaq 128(%rsp), %rbp
  movq %rsp, %rdi
  call heapprof_inner_after
  heapprof_load_registers
  .cfi_remember_state
  leaq 136(%rsp), %rsp
  .cfi_def_cfa_offset 8
  .cfi_restore %rbp
  ret
1:
  .cfi_restore_state
  leaq 136(%rsp), %rsp
  .cfi_def_cfa_offset 8
  .cfi_restore %rbp
  jmp *-16(%rsp)
2:
  .cfi_def_cfa_offset 144
  .cfi_offset %rbp, -16
  subq $48, %rsp
  .cfi_adjust_cfa_offset 48
  movq %rbx, (%rsp)
  movq %r12, 8(%rsp)
  movq %r13, 16(%rsp)
  movq %r14, 24(%rsp)
  movq %r15, 32(%rsp)
  leaq 48(%rsp), %rdi
  movq %rsp, %rsi
  call heapprof_inner_before_kept
  addq $48, %rsp
  .cfi_adjust_cfa_offset -48
  cmpb $1, %al
  jmp 3b
  .cfi_endproc
.size heapprof_inner, . - heapprof_inner
.globl heapprof_inner_returned
.hidden heapprof_inner_returned
)");

namespace heapprof::agent {

InnerSlot g_inner_slots[wire::kMostInnerFunctions];

// One call, on the stack. given to r11 hold what the caller left there, and after the call what the function did.
struct InnerCall {
  uint64_t outer_frame;  // t_allocator_frame before the call
  size_t old;            // the block that ends, or the text that is copied; 0: none
  size_t bytes;
  size_t out;  // what else is looked at after the call
  uint32_t index;
  bool has_begun;    // the old block's end is recorded
  bool is_recorded;  // the call may begin a block
  size_t given[wire::kAllocatorParameters];
  size_t one;  // the factor of a size without one
  size_t result;
  uint64_t r10, r11;
  uint64_t real;      // before: the function's number
  uint64_t frame[2];  // the caller's rbp, and where the call returns to
};
static_assert(offsetof(InnerCall, given) == 40 && offsetof(InnerCall, one) == 88 && offsetof(InnerCall, result) == 96 &&
              offsetof(InnerCall, real) == 120 && offsetof(InnerCall, frame) == 128);

namespace {

using Kind = wire::AllocatorKind;
using Role = wire::AllocatorRole;
using Slot = InnerSlot;

constexpr size_t kParameters = wire::kAllocatorParameters;
constexpr uint32_t kMostGroups = 32;  // that have a bit

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
  static constexpr unsigned char kUnknown[kInnerCallBytes] = {};
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
  const uint64_t start_avma = return_avma - kInnerCallBytes;
  return is_in_segment(start_avma, kInnerCallBytes, PF_R | PF_X) ? reinterpret_cast<const unsigned char*>(start_avma)
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

// A pointer of the executable, as tables of addresses (GOT) have them; 0: that address holds no pointer.
uint64_t slot_value(uint64_t slot_avma) {
  if (!is_in_segment(slot_avma, sizeof(uint64_t), PF_R | PF_W)) return 0;
  return *reinterpret_cast<const uint64_t*>(slot_avma);
}

uint64_t moved_by(uint64_t avma, const unsigned char* distance_at) {
  int32_t distance;
  memcpy(&distance, distance_at, sizeof distance);
  return avma + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

// If that code is only a jump through a slot (PLT), where it leads; else that code.
uint64_t through_stub(uint64_t target_avma) {
  constexpr unsigned char kEndBranch[] = {0xf3, 0x0f, 0x1e, 0xfa};
  constexpr unsigned char kBound = 0xf2;  // a prefix (MPX)
  constexpr unsigned char kJump[] = {0xff, 0x25};
  constexpr uint64_t kMostBytes = sizeof kEndBranch + 1 + sizeof kJump + sizeof(int32_t);
  if (!is_in_segment(target_avma, kMostBytes, PF_R | PF_X)) return target_avma;
  const auto* at = reinterpret_cast<const unsigned char*>(target_avma);
  if (memcmp(at, kEndBranch, sizeof kEndBranch) == 0) at += sizeof kEndBranch;
  if (*at == kBound) ++at;
  if (memcmp(at, kJump, sizeof kJump) != 0) return target_avma;
  at += sizeof kJump;
  return slot_value(moved_by(reinterpret_cast<uint64_t>(at) + sizeof(int32_t), at));
}

constexpr unsigned char kIndirect = 0xff;  // with one of the next
constexpr unsigned char kByRip = 0x15;     // call *distance(%rip)
constexpr unsigned char kByRegister = 0xd0;
constexpr unsigned char kUpperRegister = 0x41;  // before these

// The registers, by their numbers in instructions, one of which holds the address that was called; 0: it is another
// kind of call. Two, if a byte may be a prefix as well as the end of the instruction before.
uint32_t registers_of_call(const unsigned char* code) {
  if (code[4] != kIndirect || (code[5] & 0xf8) != kByRegister) return 0;
  return (code[3] == kUpperRegister ? 0x101u : 1u) << (code[5] & 7u);
}

// What the call's caller had in the register; 0: that is not known.
// kept: rbx, r12 to r15; nullptr: these are not known.
uint64_t value_of_register(uint32_t number, const InnerCall& call, const uint64_t* kept) {
  switch (number) {
    case 0: return call.result;  // rax, before the call
    case 1: return call.given[3];
    case 2: return call.given[2];
    case 3: return kept != nullptr ? kept[0] : 0;
    case 5: return call.frame[0];
    case 6: return call.given[1];
    case 7: return call.given[0];
    case 8: return call.given[4];
    case 9: return call.given[5];
    case 10: return call.r10;
    case 11: return call.r11;
    case 12:
    case 13:
    case 14:
    case 15: return kept != nullptr ? kept[number - 11] : 0;
    default: return 0;
  }
}
constexpr uint32_t kKeptRegisters = 1u << 3 | 0xfu << 12;

// The address that the call with this code called, as far as the code tells; 0: it does not.
uint64_t called_by_code(const unsigned char* code, uint64_t return_avma) {
  constexpr unsigned char kCall = 0xe8;
  const uint64_t target_avma = moved_by(return_avma, code + 2);
  if (code[1] == kCall) return is_in_ranges(target_avma) ? target_avma : through_stub(target_avma);
  return code[0] == kIndirect && code[1] == kByRip ? slot_value(target_avma) : 0;
}

// Functions of the allocator, and the hooks that are exported.
bool is_of_allocator(uint64_t called_avma) {
  return is_in_ranges(called_avma) || (called_avma >= g_code.agent_start_avma && called_avma < g_code.agent_end_avma);
}

enum Judgement : uint8_t {
  kIsOwn = 0,    // the call is the allocator's own, and only passes
  kIsCall = 1,   // it is one of the program
  kAsksKept = 2  // that depends on registers which are not in InnerCall
};

// Whether code of the allocator called code of the allocator, or one of the agent's hooks. A library function that it
// calls may end with a tail call of the agent's function (__cxa_end_catch with one of free): that call is the
// library's, as is what the library allocated. A new_handler is the program's in the same way.
[[gnu::noinline]] Judgement judge_nested(const InnerCall& call, const uint64_t* kept) {
  const uint64_t return_avma = call.frame[1];
  // A function that ends with a tail call of another one was called by heapprof_inner.
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

bool is_within(const uint64_t* frame) {
  const uint64_t outer = t_allocator_frame;
  return HEAPPROF_UNLIKELY(outer != 0) && reinterpret_cast<uint64_t>(frame) < outer;
}

// No block is so large: a larger number that is taken for a size is an address, or a flag.
constexpr size_t kMostPlausibleBytes = size_t{1} << 44;

// Whether the function gave what it was asked for.
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
      record_end_of_heap(g_code.heaps, pointer(call->given[index_of(slot.what, Role::Heap)]), cfa_of(call->frame));
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

// What is done before a call of the program.
[[gnu::always_inline]] inline Judgement begin(InnerCall* call) {
  const Slot& slot = g_inner_slots[call->index];
  call->outer_frame = t_allocator_frame;
  call->has_begun = false;
  call->is_recorded = false;
  if (HEAPPROF_LIKELY(slot.what.kind == Kind::Release)) {
    const size_t block = call->given[slot.first];
    if (block != 0 && HEAPPROF_UNLIKELY(!record_free_fast(pointer(block), cfa_of(call->frame))))
      record_free(pointer(block), cfa_of(call->frame));
  } else {
    call->one = 1;
    call->bytes = 0;
    // Where the product is too large the function refuses, and nothing begins or ends.
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

bool is_call_of_inner(const uint64_t* hook_frame) {
  if (!is_within(hook_frame)) return false;
  if (hook_frame[1] == reinterpret_cast<uint64_t>(heapprof_inner_returned)) return true;
  if (!is_inner_code(hook_frame[1] - 1)) return false;
  return is_of_allocator(called_by_code(code_before(hook_frame[1]), hook_frame[1]));
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
