// agent/hooks/allocator_names.cc: one hook for each row of the table, generated from the roles of the row's parameters.
//
// All parameters and results are one register wide, so every function can be called with six: it ignores those that it
// does not take.
#include "agent/hooks/allocator_names.h"

#include "agent/arch/arch.h"
#include "agent/hooks/allocator_evidence.h"
#include "agent/hooks/ended_heap.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/real.h"
#include "agent/process/arena.h"
#include "agent/process/copied_process.h"
#include "agent/process/loaded_object.h"
#include "agent/process/redirect.h"
#include "shared/allocator_functions.h"

#include <string.h>

#include <utility>

namespace heapprof::agent {

namespace {

using Kind = wire::AllocatorKind;
using Role = wire::AllocatorRole;
constexpr size_t kParameters = wire::kAllocatorParameters;

struct Row : wire::AllocatorFunction {
  const char* name;
};
using enum wire::AllocatorRole;
constexpr Row kRows[] = {
#define X(name, kind, ...) {wire::allocator_function(Kind::kind, __VA_ARGS__), #name},
#include "shared/allocator_names.def"
#undef X
};

using Function = size_t (*)(size_t, size_t, size_t, size_t, size_t, size_t);

constinit Redirection g_functions[kAllocatorNames]{};
SoughtSymbol g_sought[kAllocatorNames];  // not on the stack, which may be small
bool g_is_passed[kAllocatorNames];
bool g_is_doubted[kAllocatorNames];
bool g_asks_others[kAllocatorNames];  // the object's functions ask malloc, for some sizes at least

HeapFunctions g_heaps;

void* pointer(size_t word) { return reinterpret_cast<void*>(word); }

// The hook of row kRow.
template <size_t kRow>
__attribute__((noinline)) size_t by_name(size_t a, size_t b, size_t c, size_t d, size_t e, size_t f) {
  constexpr Row row = kRows[kRow];
  const auto real = reinterpret_cast<Function>(g_functions[kRow].real);
  if (g_is_passed[kRow]) return real(a, b, c, d, e, f);
  HookFrame frame = HEAPPROF_HOOK_FRAME();
  const size_t given[kParameters + 1] = {a, b, c, d, e, f, 1};  // the last is the count of a row without Count
  const size_t bytes = row.has(Role::Size) ? given[row.index_of(Role::Size)] * given[row.index_of(Role::Count)] : 0;

  if constexpr (row.kind == Kind::Allocate) {
    const size_t block = real(a, b, c, d, e, f);
    if (block != 0) record_malloc(pointer(block), bytes, frame);
    return block;
  } else if constexpr (row.kind == Kind::AllocateInto) {
    const size_t error = real(a, b, c, d, e, f);
    void* const* out = static_cast<void* const*>(pointer(given[row.index_of(Role::Out)]));
    if (static_cast<int>(error) == 0 && *out != nullptr) record_malloc(*out, bytes, frame);
    return error;
  } else if constexpr (row.kind == Kind::CopyText) {
    const size_t text = real(a, b, c, d, e, f);
    for (size_t i = 0; i < kParameters; ++i) {
      if (row.roles[i] != Role::None && given[i] == text) return text;  // the caller's own
    }
    if (text != 0) record_malloc(pointer(text), strlen(static_cast<const char*>(pointer(text))) + 1, frame);
    return text;
  } else if constexpr (row.kind == Kind::Release) {
    const size_t block = given[row.index_of(Role::Block)];
    if (block != 0) record_free(pointer(block), frame);
    return real(a, b, c, d, e, f);
  } else if constexpr (row.kind == Kind::Reallocate || row.kind == Kind::ReallocateOrFree) {
    const size_t old = given[row.index_of(Role::Block)];
    const bool has_begun = old != 0 && record_realloc_begin(pointer(old), frame);
    const size_t block = real(a, b, c, d, e, f);
    const bool is_freed = block == 0 && row.kind == Kind::ReallocateOrFree;
    if (old != 0) {
      record_realloc_end(has_begun ? pointer(old) : nullptr, pointer(block), is_freed ? 0 : bytes, frame);
    } else if (block != 0) {
      record_malloc(pointer(block), bytes, frame);
    }
    return block;
  } else if constexpr (row.kind == Kind::ReallocateInto) {
    void* const* out = static_cast<void* const*>(pointer(given[row.index_of(Role::Out)]));
    void* old = out == nullptr ? nullptr : *out;
    const bool has_begun = old != nullptr && record_realloc_begin(old, frame);
    const size_t error = real(a, b, c, d, e, f);
    void* block = static_cast<int>(error) == 0 && out != nullptr ? *out : nullptr;
    if (old != nullptr) {
      record_realloc_end(has_begun ? old : nullptr, block, bytes, frame);
    } else if (block != nullptr) {
      record_malloc(block, bytes, frame);
    }
    return error;
  } else if constexpr (row.kind == Kind::Resize) {
    const size_t extra = given[row.index_of(Role::Extra)];
    void* block = pointer(given[row.index_of(Role::Block)]);
    const bool has_begun = record_realloc_begin(block, frame);
    const size_t has_bytes = real(a, b, c, d, e, f);
    const size_t most = bytes + extra < bytes ? SIZE_MAX : bytes + extra;
    if (has_bytes >= bytes) {
      record_realloc_end(has_begun ? block : nullptr, block, has_bytes < most ? has_bytes : most, frame);
    } else {
      // it could not be made larger
      record_realloc_end(has_begun ? block : nullptr, nullptr, bytes == 0 ? 1 : bytes, frame);
    }
    return has_bytes;
  } else {
    record_end_of_heap(g_heaps, pointer(given[row.index_of(Role::Heap)]), frame);
    return real(a, b, c, d, e, f);
  }
}

template <size_t... kIndex>
void fill_functions(std::index_sequence<kIndex...>) {
  ((g_functions[kIndex] = {kRows[kIndex].name, reinterpret_cast<void*>(by_name<kIndex>), nullptr, nullptr}), ...);
}

// ---- Trying ----

constexpr size_t kTrySize = 128;
constexpr size_t kTryAlignment = 64;

// Calls a function with suitable arguments. block: a block that it may free or resize.
size_t call(size_t index, void* block) {
  static char text[] = "heapprof";
  void* out = kRows[index].kind == Kind::ReallocateInto ? block : nullptr;
  size_t given[kParameters];
  for (size_t i = 0; i < kParameters; ++i) {
    given[i] = 0;
    switch (kRows[index].roles[i]) {
      case Role::Size: given[i] = kTrySize; break;
      case Role::Count: given[i] = 1; break;
      case Role::Block: given[i] = reinterpret_cast<size_t>(block); break;
      case Role::Alignment: given[i] = kTryAlignment; break;
      case Role::Out: given[i] = reinterpret_cast<size_t>(&out); break;
      case Role::Heap:
        given[i] = reinterpret_cast<size_t>(g_heaps.backing_heap == nullptr ? nullptr : g_heaps.backing_heap());
        break;
      case Role::Text: given[i] = reinterpret_cast<size_t>(text); break;
      default: break;
    }
  }
  const auto real = reinterpret_cast<Function>(g_functions[index].real);
  return real(given[0], given[1], given[2], given[3], given[4], given[5]);
}

// Allocates a block from the object that has function `index`; nullptr: no function there can do so.
void* block_for(size_t index, const link_map* malloc_object) {
  const link_map* object = g_functions[index].object;
  for (size_t other = 0; other < kAllocatorNames; ++other) {
    const Row& row = kRows[other];
    const bool is_plain = row.kind == Kind::Allocate && !row.has(Role::Alignment) && !row.has(Role::Heap);
    if (is_plain && g_functions[other].real != nullptr && g_functions[other].object == object)
      return pointer(call(other, nullptr));
  }
  return object == malloc_object ? g_real.malloc(kTrySize) : nullptr;
}

// Calls the real functions that the hooks of malloc's family call.
void call_real_functions() {
  void* volatile block = g_real.malloc(kTrySize);
  block = g_real.realloc(block, 2 * kTrySize);
  g_real.free(block);
  g_real.free(g_real.calloc(1, kTrySize));
  const auto is_of_family = [](size_t bit) { return (g_one_family >> bit & 1) != 0; };
  size_t bit = 0;
#define X(result, name, params, args)                                                                             \
  if (strcmp(#name, "memalign") == 0 && is_of_family(bit)) g_real.free(g_real.memalign(kTryAlignment, kTrySize)); \
  if (strcmp(#name, "valloc") == 0 && is_of_family(bit)) g_real.free(g_real.valloc(kTrySize));                    \
  if (strcmp(#name, "pvalloc") == 0 && is_of_family(bit)) g_real.free(g_real.pvalloc(kTrySize));                  \
  if (strcmp(#name, "aligned_alloc") == 0 && is_of_family(bit))                                                   \
    g_real.free(g_real.aligned_alloc(kTryAlignment, kTrySize));                                                   \
  if (void* out = nullptr; strcmp(#name, "posix_memalign") == 0 && is_of_family(bit) &&                           \
                           g_real.posix_memalign(&out, kTryAlignment, kTrySize) == 0)                             \
    g_real.free(out);                                                                                             \
  ++bit;
#include "shared/hooks.def"
#undef X
}

template <typename Action>
uint32_t events_in(Action&& action) {
  const uint32_t before = g_self_test_events;
  action();
  return g_self_test_events - before;
}

// Finds the functions that malloc and its family call, and passes them through, because these blocks count as malloc's.
// While a row is tried, all others are passed through.
void pass_what_malloc_calls() {
  if (events_in(call_real_functions) == 0) return;
  for (bool& is_passed : g_is_passed) is_passed = true;
  bool is_called[kAllocatorNames] = {};
  for (size_t index = 0; index < kAllocatorNames; ++index) {
    if (g_functions[index].real == nullptr) continue;
    g_is_passed[index] = false;
    is_called[index] = events_in(call_real_functions) != 0;
    g_is_passed[index] = true;
  }
  for (size_t index = 0; index < kAllocatorNames; ++index) g_is_passed[index] = is_called[index];
}

bool counts_by_itself(size_t index, const link_map* malloc_object) {
  if (kRows[index].kind == Kind::EndHeap) return false;
  void* block = block_for(index, malloc_object);
  const bool takes = kRows[index].has(Role::Block) || kRows[index].kind == Kind::ReallocateInto;
  if (takes && block == nullptr) return true;
  return events_in([&] { call(index, block); }) != 0;
}

}  // namespace

void redirect_allocator_names() {
  fill_functions(std::make_index_sequence<kAllocatorNames>());
  g_heaps.visit_blocks =
      reinterpret_cast<decltype(g_heaps.visit_blocks)>(find_behind_agent("mi_heap_visit_blocks").address);
  g_heaps.backing_heap =
      reinterpret_cast<decltype(g_heaps.backing_heap)>(find_behind_agent("mi_heap_get_backing").address);
  for (size_t index = 0; index < kAllocatorNames; ++index) {
    // glibc has cfree only for old programs, as a hidden version.
    const bool is_old = strcmp(kRows[index].name, "cfree") == 0;
    g_sought[index] = {kRows[index].name, is_old ? kFirstGlibc : nullptr};
  }
  redirect_functions(g_functions, g_sought, kAllocatorNames);
}

bool has_allocator_names_beside(const link_map* object) {
  for (const Redirection& function : g_functions) {
    if (function.real != nullptr && function.object != object) return true;
  }
  return false;
}

namespace {

TriedFunction g_tried[kAllocatorNames];

struct NamesEvidence {
  uint32_t count;  // in g_tried
  bool asks_others;
  bool is_believed;
};
void try_evidence(void* result) {
  auto* const evidence = static_cast<NamesEvidence*>(result);
  evidence->asks_others = asks_others(g_tried, evidence->count);
  evidence->is_believed = evidence->asks_others || behaves_as_allocator(g_tried, evidence->count);
}

}  // namespace

bool doubt_allocator_names(const link_map* malloc_object) {
  for (size_t first = 0; first < kAllocatorNames; ++first) {
    const link_map* const object = g_functions[first].object;
    if (g_functions[first].real == nullptr || object == malloc_object || g_is_doubted[first]) continue;
    NamesEvidence evidence{0, false, false};
    bool is_tried = false;  // the object was tried in an earlier round, for a smaller `first`
    for (size_t index = 0; index < kAllocatorNames; ++index) {
      if (g_functions[index].real == nullptr || g_functions[index].object != object) continue;
      is_tried = is_tried || index < first;
      constexpr const char* kSmall = "_small";
      const size_t length = strlen(kRows[index].name);
      const bool is_small = length > 6 && strcmp(kRows[index].name + length - 6, kSmall) == 0;
      g_tried[evidence.count++] = {kRows[index], is_small, reinterpret_cast<uint64_t>(g_functions[index].real)};
    }
    if (is_tried) continue;
    const CopyEnd end = run_in_copy(try_evidence, &evidence, sizeof evidence);
    if (end == CopyEnd::kNotMade) return false;
    if (end == CopyEnd::kDone && evidence.is_believed && !evidence.asks_others) continue;
    const bool is_believed = end == CopyEnd::kDone && evidence.is_believed;
    for (size_t index = 0; index < kAllocatorNames; ++index) {
      if (g_functions[index].real == nullptr || g_functions[index].object != object) continue;
      (is_believed ? g_asks_others : g_is_doubted)[index] = true;
    }
  }
  return true;
}

void note_doubted_names() {
  for (size_t index = 0; index < kAllocatorNames; ++index) {
    if (!g_is_doubted[index]) continue;
    const auto reason = static_cast<uint32_t>(wire::BypassReason::kNames);
    add_note(wire::NoteKind::kBypass, reason, g_functions[index].object->l_name, false);
  }
}

void try_allocator_names(NamesTrial* trial) {
  const link_map* malloc_object = find_behind_agent("malloc").object;
  t_flags |= kThreadSelfTest;
  pass_what_malloc_calls();
  for (size_t index = 0; index < kAllocatorNames; ++index) trial->is_passed[index] = g_is_passed[index];
  for (size_t index = 0; index < kAllocatorNames; ++index) {
    if (g_functions[index].real == nullptr || trial->is_passed[index] != 0) continue;
    trial->is_passed[index] = g_is_doubted[index] || g_asks_others[index] || counts_by_itself(index, malloc_object);
  }
  t_flags &= ~kThreadSelfTest;
}

void settle_allocator_names(const NamesTrial& trial) {
  for (size_t index = 0; index < kAllocatorNames; ++index)
    g_is_passed[index] = trial.is_passed[index] != 0 || g_is_doubted[index] || g_asks_others[index];
}

}  // namespace heapprof::agent
