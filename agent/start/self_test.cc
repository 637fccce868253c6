// agent/start/self_test.cc: calls each hook by the symbol that the program would call, and counts what begin_event_slow
// sees.
//
// Each call is written by hand: a list cannot say what a function takes, and whether its block may be freed by `free`.
// The test first finds which object defines the functions: for libc's everything is known.
#include "agent/start/self_test.h"

#include "agent/hooks/allocator_names.h"
#include "agent/hooks/operator_new.h"
#include "agent/hooks/own_calls.h"
#include "agent/hooks/real.h"
#include "agent/libc/valgrind.h"
#include "agent/process/copied_process.h"
#include "agent/process/link_map.h"
#include "agent/process/state.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

// C23's, where libc has them; the agent defines them always.
#define EXPORTED __attribute__((visibility("default")))
extern "C" EXPORTED void free_sized(void* block, size_t size);
extern "C" EXPORTED void free_aligned_sized(void* block, size_t alignment, size_t size);
extern "C" EXPORTED void* _Znwm(size_t size);
extern "C" EXPORTED void _ZdlPv(void* block);

namespace heapprof::agent {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSize = 128;
constexpr size_t kLargeSize = 1 << 20;

enum Hook : uint32_t {
#define X(result, name, params, args) kHook_##name,
#include "shared/hooks.def"
#undef X
};

class Tester {
 public:
  // Calls `action`, which is to give `want` events, and notes a failure of bit `bit` if it does not.
  template <typename Action>
  void expect(uint32_t bit, uint32_t want, Action action) {
    const uint32_t before = g_self_test_events;
    action();
    if (g_self_test_events != before + want) failures_ |= 1u << bit;
  }
  uint32_t failures() const { return failures_; }

 private:
  uint32_t failures_ = 0;
};

// True if the object's file name, after the last slash, begins with `prefix`: "…/libstdc++.so.6", "libstdc++.so".
bool has_file_name(const link_map* object, const char* prefix) {
  const char* name = object->l_name;
  for (const char* at = name; *at != 0; ++at) {
    if (*at == '/') name = at + 1;
  }
  while (*prefix != 0 && *name == *prefix) ++name, ++prefix;
  return *prefix == 0;
}

// A replacement of operator new is the program's code, and its constructors have not run: never call it.
bool is_new_testable() {
  const Definition found = find_in_process("_Znwm");
  if (found.address == nullptr || find_in_process("_ZdlPv").object != found.object) return false;
  return is_new_recorded() || has_file_name(found.object, "libstdc++.so") || has_file_name(found.object, "libc++.so");
}

// True if the main program has a malloc of its own. Then its calls never reach the agent, and its blocks must not go to
// the next object's free. Or its malloc forwards to the next one, and the calls reach the agent all the same.
bool is_family_elsewhere() {
  for (const char* name : {"malloc", "free", "calloc", "realloc"}) {
    if (find_in_process(name).object != find_behind_agent(name).object) return true;
  }
  return false;
}

constexpr uint32_t kFamilyElsewhere = 1u << kHook_malloc | 1u << kHook_free | 1u << kHook_calloc | 1u << kHook_realloc;

// True if every function of the list that is defined at all is defined by this object.
bool has_all_functions(const link_map* object) {
#define X(result, name, params, args) \
  if (const Definition found = find_in_process(#name); found.object != nullptr && found.object != object) return false;
#include "shared/hooks.def"
#undef X
  return true;
}

// True if `free` takes the blocks that this allocating hook gives.
bool is_testable(Hook hook) { return (g_one_family >> hook & 1) != 0; }

bool g_is_malloc_replaced = false;

// Valgrind's tools replace malloc wherever it is defined, in the agent's library, too.
bool is_replaced_by_valgrind() {
  if (!is_in_valgrind()) return false;
  t_flags |= kThreadSelfTest;
  Tester tester;
  void* volatile block = nullptr;
  tester.expect(kHook_malloc, 1, [&block] { block = malloc(kSize); });
  free(block);
  t_flags &= ~kThreadSelfTest;
  return tester.failures() != 0;
}

// In a copy of the process, large blocks are tried, too: an allocator may have another function of its own for them. In
// the process itself, they would change which blocks glibc maps and which it takes from its heap.
uint32_t test_hooks(bool is_copy) {
  t_flags |= kThreadSelfTest;
  Tester tester;
  // volatile: the compiler may remove a malloc whose block is freed unused
  void* volatile block = nullptr;
  tester.expect(kHook_malloc, 1, [&block] { block = malloc(kSize); });
  tester.expect(kHook_realloc, 2, [&block] { block = realloc(block, 2 * kSize); });
  if (is_copy) tester.expect(kHook_realloc, 2, [&block] { block = realloc(block, kLargeSize); });
  tester.expect(kHook_free, 1, [&block] { free(block); });
  tester.expect(kHook_realloc, 1, [&block] { block = realloc(nullptr, kSize); });
  tester.expect(kHook_free, 1, [&block] { free(block); });
  if (is_copy) {
    tester.expect(kHook_malloc, 1, [&block] { block = malloc(kLargeSize); });
    tester.expect(kHook_free, 1, [&block] { free(block); });
    tester.expect(kHook_calloc, 1, [&block] { block = calloc(2, kLargeSize / 2); });
    tester.expect(kHook_free, 1, [&block] { free(block); });
  }
  tester.expect(kHook_calloc, 1, [&block] { block = calloc(2, kSize); });
  if (is_testable(kHook_free_sized)) {
    tester.expect(kHook_free_sized, 1, [&block] { free_sized(block, 2 * kSize); });
  } else {
    free(block);
  }
  const auto try_aligned = [&tester, &block](Hook hook, auto action) {
    if (!is_testable(hook)) return;
    tester.expect(hook, 1, action);
    free(block);
  };
  try_aligned(kHook_memalign, [&block] { block = memalign(kAlignment, kSize); });
  try_aligned(kHook_aligned_alloc, [&block] { block = aligned_alloc(kAlignment, kSize); });
  try_aligned(kHook_posix_memalign, [&block] {
    void* out = nullptr;
    if (posix_memalign(&out, kAlignment, kSize) == 0) block = out;
  });
  try_aligned(kHook_valloc, [&block] { block = valloc(kSize); });
  try_aligned(kHook_pvalloc, [&block] { block = pvalloc(kSize); });
  if (is_testable(kHook_aligned_alloc) && is_testable(kHook_free_aligned_sized)) {
    block = aligned_alloc(kAlignment, kSize);
    tester.expect(kHook_free_aligned_sized, 1, [&block] { free_aligned_sized(block, kAlignment, kSize); });
  }
  if (is_new_testable()) {
    tester.expect(kSelfTestNew, 1, [&block] { block = _Znwm(kSize); });
    tester.expect(kSelfTestNew, 1, [&block] { _ZdlPv(block); });
  }
  t_flags &= ~kThreadSelfTest;
  return tester.failures();
}

// The function that the program's own code calls by this name: the program's, or else the agent's.
template <typename Function>
Function* as_program_calls(const char* name, Function* ours) {
  const Definition found = find_in_process(name);
  return found.object == first_object() ? reinterpret_cast<Function*>(found.address) : ours;
}

void try_program_functions(void* result) {
  const auto call_malloc = as_program_calls("malloc", malloc);
  const auto call_free = as_program_calls("free", free);
  const auto call_calloc = as_program_calls("calloc", calloc);
  const auto call_realloc = as_program_calls("realloc", realloc);
  t_flags |= kThreadSelfTest;
  Tester tester;
  void* volatile block = nullptr;
  for (const size_t size : {kSize, kLargeSize}) {
    tester.expect(kHook_calloc, 1, [&] { block = call_calloc(2, size); });
    tester.expect(kHook_realloc, 2, [&] { block = call_realloc(block, 3 * size); });
    tester.expect(kHook_free, 1, [&] { call_free(block); });
    tester.expect(kHook_malloc, 1, [&] { block = call_malloc(size); });
    tester.expect(kHook_free, 1, [&] { call_free(block); });
  }
  t_flags &= ~kThreadSelfTest;
  *static_cast<uint32_t*>(result) = tester.failures();
}

// The main program's functions may forward to the next ones, and so to the hooks: only a copy of the process can tell.
uint32_t try_program() {
  uint32_t failures = 0;
  return run_in_copy(try_program_functions, &failures, sizeof failures) == CopyEnd::kDone ? failures : kFamilyElsewhere;
}

// What one trial found.
struct Trial {
  uint32_t failures;
  NewTrial new_trial;
  NamesTrial names_trial;
};
static_assert(sizeof(Trial) <= kMostCopiedBytes);

constexpr uint32_t kNothingTested = ((2u << kHook_free_aligned_sized) - 1) | 1u << kSelfTestNew;

void pass_all_names(Trial* trial) { memset(trial->names_trial.is_passed, 1, sizeof trial->names_trial.is_passed); }

template <bool tries_names>
void run_trial(void* result) {
  auto* trial = static_cast<Trial*>(result);
  if (tries_names) {
    try_allocator_names(&trial->names_trial);
  } else {
    pass_all_names(trial);
  }
  settle_allocator_names(trial->names_trial);
  trial->new_trial = try_new_hooks();
  settle_new_hooks(trial->new_trial);
  trial->failures = test_hooks(true);
}

// If the first copy dies, tries once more without the allocator's own names: an allocator that checks for errors ends a
// program that gives one function what another one gave out (libtcmalloc_debug).
CopyEnd try_in_copy(Trial* trial) {
  const CopyEnd end = run_in_copy(run_trial<true>, trial, sizeof *trial);
  if (end != CopyEnd::kDied) return end;
  return run_in_copy(run_trial<false>, trial, sizeof *trial) == CopyEnd::kDone ? CopyEnd::kDone : end;
}

}  // namespace

bool is_malloc_replaced() { return g_is_malloc_replaced; }

uint32_t try_allocator(const link_map* malloc_object) {
  if (malloc_object == nullptr) return 0;  // no object serves malloc
  redirect_allocator_names();
  if (is_family_elsewhere()) return try_program();
  g_is_malloc_replaced = is_replaced_by_valgrind();
  if (g_is_malloc_replaced) return 0;  // there is nothing to try, and the flag says it all
  const link_map* libc = find_in_glibc("gnu_get_libc_version").object;
  if (malloc_object == libc && has_all_functions(libc) && !has_allocator_names_beside(libc)) return 0;
  redirect_allocator_calls(malloc_object);
  const bool can_copy = doubt_allocator_names(malloc_object);
  Trial trial{};
  switch (can_copy ? try_in_copy(&trial) : CopyEnd::kNotMade) {
    case CopyEnd::kDone: break;
    case CopyEnd::kNotMade:  // what every program calls can be tried here; the rest is left alone
      pass_all_names(&trial);
      trial.new_trial = try_new_hooks();
      settle_new_hooks(trial.new_trial);
      trial.failures = test_hooks(false);
      break;
    case CopyEnd::kDied:  // what killed it must not be called here: all functions are reported as failed
      pass_all_names(&trial);
      trial.failures = kNothingTested;
      break;
  }
  settle_new_hooks(trial.new_trial);
  settle_allocator_names(trial.names_trial);
  return trial.failures;
}

}  // namespace heapprof::agent
