// agent/hooks/operator_new.cc: one slot for each operator, and what is put into it.
//
// If an operator calls malloc, malloc's hook records, and the operator's symbol only jumps: no frame of the agent is on
// the stack when the operator throws, or when its new_handler does.
//
// Each exported symbol is one indirect jump through its slot. A slot holds the real function or a recording hook. If
// the program starts without the function, the slot is empty and the symbol is withdrawn: libraries that are loaded
// later may each mean their own operator, and a jump does not show which library called. References that were bound to
// the agent's symbol earlier (a weak reference, a library's constructor) find an empty slot. Then the agent saves the
// argument registers, finds the first function that exists, and jumps there.
#include "agent/hooks/operator_new.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/own_calls.h"
#include "agent/hooks/real.h"
#include "agent/process/loaded_object.h"
#include "agent/record/record_fast.h"
#include "agent/start/start.h"

#include <stddef.h>

extern "C" {
HIDDEN extern void* heapprof_new_slots[];
HIDDEN void* heapprof_find_new(size_t index);
}

namespace heapprof::agent {
namespace {

constexpr char kNames[][48] = {
// no pointers: they are needed before the agent is relocated
#define X(index, name, kind, second, third) #name,
#include "agent/hooks/operator_new.def"
#undef X
};
constexpr size_t kCount = sizeof kNames / sizeof kNames[0];

}  // namespace
}  // namespace heapprof::agent

void* heapprof_new_slots[heapprof::agent::kCount] = {};

namespace heapprof::agent {

namespace {

static_assert(kCount <= 32);  // a bit each in NewTrial
constexpr size_t kFirstDelete = 8;

bool g_is_lasting[kCount];  // true: found at the start; objects that are loaded then are never unloaded
void* g_real_new[kCount];   // the operators of the object that serves malloc; nullptr: that object does not define it
bool g_is_recorded = false;

// The second and third parameters (size, alignment, nothrow tag) are passed on unchanged: all are one register wide.
template <size_t kIndex>
__attribute__((noinline)) void* NewSize(size_t size) {
  void* block = reinterpret_cast<void* (*)(size_t)>(g_real_new[kIndex])(size);
  if (block != nullptr) record_malloc_fast(block, size, HEAPPROF_HOOK_FRAME());
  return block;
}
template <size_t kIndex>
__attribute__((noinline)) void* NewSizeOther(size_t size, void* other) {
  void* block = reinterpret_cast<void* (*)(size_t, void*)>(g_real_new[kIndex])(size, other);
  if (block != nullptr) record_malloc_fast(block, size, HEAPPROF_HOOK_FRAME());
  return block;
}
template <size_t kIndex>
__attribute__((noinline)) void* NewSizeOtherOther(size_t size, void* other, void* third) {
  void* block = reinterpret_cast<void* (*)(size_t, void*, void*)>(g_real_new[kIndex])(size, other, third);
  if (block != nullptr) record_malloc_fast(block, size, HEAPPROF_HOOK_FRAME());
  return block;
}
// For uncommon cases: records, then calls the real operator. This is the hook's last call, so the hook need not keep
// anything across it.
template <size_t kIndex, typename... Others>
__attribute__((noinline)) void delete_slow(void* block, Others... others, HookFrame hook_frame) {
  record_free(block, hook_frame);
  reinterpret_cast<void (*)(void*, Others...)>(g_real_new[kIndex])(block, others...);
}
template <size_t kIndex>
__attribute__((noinline)) void Delete(void* block) {
  if (block != nullptr && HEAPPROF_UNLIKELY(!record_free_fast(block, HEAPPROF_HOOK_FRAME())))
    return delete_slow<kIndex>(block, HEAPPROF_HOOK_FRAME());
  reinterpret_cast<void (*)(void*)>(g_real_new[kIndex])(block);
}
template <size_t kIndex>
__attribute__((noinline)) void DeleteOther(void* block, void* other) {
  if (block != nullptr && HEAPPROF_UNLIKELY(!record_free_fast(block, HEAPPROF_HOOK_FRAME())))
    return delete_slow<kIndex, void*>(block, other, HEAPPROF_HOOK_FRAME());
  reinterpret_cast<void (*)(void*, void*)>(g_real_new[kIndex])(block, other);
}
template <size_t kIndex>
__attribute__((noinline)) void DeleteOtherOther(void* block, void* other, void* third) {
  if (block != nullptr && HEAPPROF_UNLIKELY(!record_free_fast(block, HEAPPROF_HOOK_FRAME())))
    return delete_slow<kIndex, void*, void*>(block, other, third, HEAPPROF_HOOK_FRAME());
  reinterpret_cast<void (*)(void*, void*, void*)>(g_real_new[kIndex])(block, other, third);
}

void* const kRecording[] = {
#define X(index, name, kind, second, third) reinterpret_cast<void*>(kind<index>),
#include "agent/hooks/operator_new.def"
#undef X
};

// ---- Calls that the allocator makes of its operators (own_calls.h) ----

void* g_library_new[kCount];  // nullptr: they are not redirected
void* g_own_hooks[kCount];    // the agent's symbols

// All are called alike: an operator ignores the registers of parameters that it does not have.
using AnyOperator = void* (*)(size_t, size_t, size_t);
template <size_t kIndex>
void* within_new(size_t first, size_t second, size_t third) {
  const WithinAllocator within(__builtin_frame_address(0));
  return reinterpret_cast<AnyOperator>(g_library_new[kIndex])(first, second, third);
}
template <size_t kIndex>
void* own_new(size_t first, size_t second, size_t third) {
  void* const to = is_within_allocator(__builtin_frame_address(0)) ? g_library_new[kIndex] : g_own_hooks[kIndex];
  return reinterpret_cast<AnyOperator>(to)(first, second, third);
}
constexpr AnyOperator kWithin[] = {
#define X(index, name, kind, second, third) within_new<index>,
#include "agent/hooks/operator_new.def"
#undef X
};
constexpr AnyOperator kOwn[] = {
#define X(index, name, kind, second, third) own_new<index>,
#include "agent/hooks/operator_new.def"
#undef X
};
static_assert(kNewOperators == kCount);

// Without the agent, a program that calls operator new, although no library defines it, would not have started. With
// the agent, it gets the C functions.
void* new_by_malloc(size_t size) { return g_real.malloc(size == 0 ? 1 : size); }
void delete_by_free(void* block) { g_real.free(block); }

// ---- Does a function of the allocator count by itself? ----

enum class Parameter { None, Size, Alignment, Nothrow };
struct Shape {
  Parameter second;
  Parameter third;
};
constexpr Shape kShapes[] = {
#define X(index, name, kind, second, third) {Parameter::second, Parameter::third},
#include "agent/hooks/operator_new.def"
#undef X
};
constexpr size_t kProbeSize = 128;
constexpr size_t kProbeAlignment = 64;

size_t argument(Parameter parameter) {
  static char nothrow_tag;
  switch (parameter) {
    case Parameter::Size: return kProbeSize;
    case Parameter::Alignment: return kProbeAlignment;
    case Parameter::Nothrow: return reinterpret_cast<size_t>(&nothrow_tag);
    case Parameter::None: break;
  }
  return 0;
}

bool is_aligned_kind(size_t index) {
  return kShapes[index].second == Parameter::Alignment || kShapes[index].third == Parameter::Alignment;
}

void* call_real(size_t index, size_t first) {
  using Function = void* (*)(size_t, size_t, size_t);
  return reinterpret_cast<Function>(g_real_new[index])(first, argument(kShapes[index].second),
                                                       argument(kShapes[index].third));
}

// True if the real function calls an interposed one, and so is recorded there (jemalloc's `delete` calls free, its
// sized `delete` does not). A block of `new []` is freed by `delete []`, because an allocator that checks for errors
// would otherwise end the program. pre: all of g_real_new is found.
bool counts_by_itself(size_t index) {
  const size_t of_array = index % 2;
  const size_t new_index = (is_aligned_kind(index) ? 4 : 0) + of_array;
  const size_t delete_index = (is_aligned_kind(index) ? 14 : 8) + of_array;
  if (g_real_new[new_index] == nullptr || g_real_new[delete_index] == nullptr) return false;
  t_flags |= kThreadSelfTest;
  uint32_t events;
  if (index < kFirstDelete) {
    const uint32_t before = g_self_test_events;
    void* block = call_real(index, kProbeSize);
    events = g_self_test_events - before;
    call_real(delete_index, reinterpret_cast<size_t>(block));
  } else {
    void* block = call_real(new_index, kProbeSize);
    const uint32_t before = g_self_test_events;
    call_real(index, reinterpret_cast<size_t>(block));
    events = g_self_test_events - before;
  }
  t_flags &= ~kThreadSelfTest;
  return events != 0;
}

void set_slot(size_t index, void* function) {
  __atomic_store_n(&heapprof_new_slots[index], function, __ATOMIC_RELEASE);
}

}  // namespace

void find_new_functions(const link_map* malloc_object) {
  for (size_t index = 0; index < kCount; ++index) {
    const Definition found = find_behind_agent(kNames[index]);
    if (found.address == nullptr) continue;
    g_is_lasting[index] = !is_loaded_late();
    if (found.object == malloc_object) g_real_new[index] = found.address;
    set_slot(index, found.address);
  }
}

void withdraw_new_functions() {
  SoughtSymbol missing[kCount];
  size_t count = 0;
  for (size_t index = 0; index < kCount; ++index) {
    if (__atomic_load_n(&heapprof_new_slots[index], __ATOMIC_RELAXED) == nullptr) missing[count++].name = kNames[index];
  }
  withdraw_exports(missing, count);
}

size_t list_own_new(Redirection* list, Redirection* back) {
  SoughtSymbol symbols[kCount] = {
#define X(index, name, kind, second, third) {#name, nullptr},
#include "agent/hooks/operator_new.def"
#undef X
  };
  const link_map* const agent = agent_object();
  find_symbols_in_object(agent, symbols, kCount);
  size_t count = 0;
  for (size_t index = 0; index < kCount; ++index) {
    void* const real = g_real_new[index];
    if (real == nullptr || symbols[index].symbol == nullptr || find_in_process(kNames[index]).address != real) continue;
    g_library_new[index] = real;
    g_own_hooks[index] = reinterpret_cast<void*>(agent->l_addr + symbols[index].symbol->st_value);
    list[count] = {kNames[index], reinterpret_cast<void*>(kOwn[index]), g_own_hooks[index], nullptr};
    back[count++] = {kNames[index], real, reinterpret_cast<void*>(kOwn[index]), nullptr};
  }
  return count;
}

void pass_own_new() {
  for (size_t index = 0; index < kCount; ++index) {
    if (g_library_new[index] != nullptr) g_real_new[index] = reinterpret_cast<void*>(kWithin[index]);
  }
}

NewTrial try_new_hooks() {
  NewTrial trial{0};
  for (size_t index = 0; index < kCount; ++index) {
    if (g_real_new[index] != nullptr && !counts_by_itself(index)) trial.records |= 1u << index;
  }
  return trial;
}

void settle_new_hooks(const NewTrial& trial) {
  for (size_t index = 0; index < kCount; ++index) {
    if ((trial.records >> index & 1) == 0) continue;
    set_slot(index, kRecording[index]);
    g_is_recorded = true;
  }
}

bool is_new_recorded() { return g_is_recorded; }

void forget_new_functions() {
  for (size_t index = 0; index < kCount; ++index) {
    const void* known = __atomic_load_n(&heapprof_new_slots[index], __ATOMIC_ACQUIRE);
    if (!g_is_lasting[index] && known != nullptr && !is_surely_loaded(known)) set_slot(index, nullptr);
  }
}

}  // namespace heapprof::agent

void* heapprof_find_new(size_t index) {
  using namespace heapprof::agent;
  if (!is_relocated()) {
    void* const early = find_behind_agent(kNames[index]).address;
    return early != nullptr ? early : find_early(index < kFirstDelete ? "malloc" : "free");
  }
  resolve_real_functions();
  void* function = find_late_behind_agent({kNames[index], nullptr, nullptr}, &heapprof_new_slots[index]);
  if (function == nullptr) {
    return index < kFirstDelete ? reinterpret_cast<void*>(new_by_malloc) : reinterpret_cast<void*>(delete_by_free);
  }
  return function;
}
