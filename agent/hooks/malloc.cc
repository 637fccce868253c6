// agent/hooks/malloc.cc: the interposed C functions.
//
// The real function runs outside any guard: an allocator, a new_handler or a pool that allocates in turn is recorded
// like any other caller. A flag "we are in a hook" was rejected: it would hide a pool's own malloc, and a throwing
// new_handler would leave it set. Instead, the agent determines at the start which functions record, so that a block
// counts once (agent/README.md, "What counts once").
#include "agent/hooks/hook.h"
#include "agent/hooks/inner.h"
#include "agent/hooks/real.h"
#include "agent/record/record_fast.h"
#include "agent/start/start.h"

#include <type_traits>

namespace heapprof::agent {

namespace {

// Called by the first call of a hook. Finds the real functions and starts a session, so that a limit is known before
// the first block exists. False: the agent is not relocated yet.
[[gnu::noinline, gnu::cold]] bool start_before_blocks() {
  if (!is_relocated()) return false;
  resolve_real_functions();
  if (g_fork_page.state == AgentState::kUnknown && (t_flags & kThreadInside) == 0) start_session();
  return true;
}
#define HEAPPROF_CALL_EARLY(name, ...)                                              \
  if (HEAPPROF_UNLIKELY(is_zero_in_memory(&g_real.name)) && !start_before_blocks()) \
  return call_early(g_real.name, #name, __VA_ARGS__)

template <typename Result, typename... Parameters, typename... Arguments>
[[gnu::noinline, gnu::cold]] Result call_early(Result (*)(Parameters...), const char* name, Arguments... arguments) {
  auto* real = reinterpret_cast<Result (*)(Parameters...)>(find_behind_agent(name).address);
  if (real != nullptr) return real(arguments...);
  if constexpr (std::is_same_v<Result, int>) return ENOMEM;
  return Result();
}

// For an allocator without sized frees.
void plain_free_sized(void* block, size_t) { g_real.free(block); }
void plain_free_aligned_sized(void* block, size_t, size_t) { g_real.free(block); }

// For an allocator that lacks an aligned function: a call of it fails, because the allocator has no such blocks.
void* no_memory(size_t) {
  errno = ENOMEM;
  return nullptr;
}
void* no_aligned_memory(size_t, size_t) {
  errno = ENOMEM;
  return nullptr;
}
int no_posix_memory(void**, size_t, size_t) { return ENOMEM; }

// If no object after the agent defines malloc (the agent was loaded by dlopen), no memory is available.
void* no_memory_again(void*, size_t) {
  errno = ENOMEM;
  return nullptr;
}
void no_free(void*) {}

// The main program's functions, if it defines them. libc's functions that the agent emulates instead of hooking would
// call them.
void* (*g_program_realloc)(void*, size_t) = nullptr;
void (*g_program_free)(void*) = nullptr;

template <typename Function>
void find_in_program(Function* function, const char* name) {
  const Definition found = find_in_process(name);
  if (found.object == first_object()) *function = reinterpret_cast<Function>(found.address);
}

// True if an allocator inside the executable gets a block here and returns it to its own caller (it has no
// aligned_alloc, and its operator new calls libc's). Such a block is recorded in the allocator's hooks, which also see
// it freed.
[[gnu::always_inline]] inline bool is_counted_inside(HookFrame hook_frame) {
  return HEAPPROF_UNLIKELY(g_program_free != nullptr) && is_call_of_inner(hook_frame);
}

// The hook calls the functions for uncommon cases last, so it need not keep anything across that call.
[[gnu::noinline]] void free_slow(void* block, HookFrame hook_frame) {
  if (HEAPPROF_LIKELY(is_end_passed(block, hook_frame))) return g_real.free(block);
  record_reported_free(block, hook_frame);
  g_real.free(block);
}
[[gnu::noinline]] void free_sized_slow(void* block, size_t size, HookFrame hook_frame) {
  record_free(block, hook_frame);
  g_real.free_sized(block, size);
}
[[gnu::noinline]] void free_aligned_sized_slow(void* block, size_t alignment, size_t size, HookFrame hook_frame) {
  record_free(block, hook_frame);
  g_real.free_aligned_sized(block, alignment, size);
}

}  // namespace

RealFunctions g_real = {};

uint32_t g_one_family = 0;

bool find_real_functions(const link_map** malloc_object) {
  find_in_program(&g_program_realloc, "realloc");
  find_in_program(&g_program_free, "free");
  RealFunctions found{};
  const link_map* family = find_behind_agent("malloc").object;
  uint32_t bit = 0;
#define X(result, name, params, args)                                                            \
  {                                                                                              \
    const Definition definition = find_behind_agent(#name);                                      \
    found.name = reinterpret_cast<result(*) params>(definition.address);                         \
    if (definition.object == family || definition.address == nullptr) g_one_family |= 1u << bit; \
    ++bit;                                                                                       \
  }
#include "shared/hooks.def"
#undef X
  const bool is_whole =
      found.malloc != nullptr && found.free != nullptr && found.calloc != nullptr && found.realloc != nullptr;
  if (!is_whole) {
    found = {};
    found.malloc = no_memory;
    found.free = no_free;
    found.calloc = no_aligned_memory;
    found.realloc = no_memory_again;
  }
  if (found.memalign == nullptr) found.memalign = no_aligned_memory;
  if (found.aligned_alloc == nullptr) found.aligned_alloc = found.memalign;
  if (found.posix_memalign == nullptr) found.posix_memalign = no_posix_memory;
  if (found.valloc == nullptr) found.valloc = no_memory;
  if (found.pvalloc == nullptr) found.pvalloc = found.valloc;
  if (found.free_sized == nullptr) found.free_sized = plain_free_sized;
  if (found.free_aligned_sized == nullptr) found.free_aligned_sized = plain_free_aligned_sized;
  g_real = found;
  if (is_whole) *malloc_object = family;
  return is_whole;
}

}  // namespace heapprof::agent

using namespace heapprof::agent;

HOOK void* malloc(size_t size) {
  HEAPPROF_CALL_EARLY(malloc, size);
  void* block = g_real.malloc(size);
  if (HEAPPROF_LIKELY(block != nullptr)) record_malloc_fast(block, size, HEAPPROF_HOOK_FRAME());
  return block;
}

HOOK void free(void* block) {
  HEAPPROF_CALL_EARLY(free, block);
  if (HEAPPROF_LIKELY(block != nullptr) && HEAPPROF_UNLIKELY(!record_free_fast(block, HEAPPROF_HOOK_FRAME())))
    return free_slow(block, HEAPPROF_HOOK_FRAME());
  g_real.free(block);
}

HOOK void* calloc(size_t count, size_t size) {
  HEAPPROF_CALL_EARLY(calloc, count, size);
  void* block = g_real.calloc(count, size);
  if (HEAPPROF_LIKELY(block != nullptr)) record_malloc_fast(block, count * size, HEAPPROF_HOOK_FRAME());
  return block;
}

HOOK void* realloc(void* block, size_t size) {
  HEAPPROF_CALL_EARLY(realloc, block, size);
  if (block == nullptr) {
    void* fresh = g_real.realloc(nullptr, size);
    if (HEAPPROF_LIKELY(fresh != nullptr)) record_malloc_fast(fresh, size, HEAPPROF_HOOK_FRAME());
    return fresh;
  }
  const bool has_begun = record_realloc_begin_fast(block, HEAPPROF_HOOK_FRAME());
  void* fresh = g_real.realloc(block, size);
  record_realloc_end_fast(has_begun ? block : nullptr, fresh, size, HEAPPROF_HOOK_FRAME());
  return fresh;
}

// The real reallocarray is not called: glibc's calls the interposed realloc, and those of other libraries make other
// nested calls. An overflow check and the real realloc do the same everywhere, and give the same events.
HOOK void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  HEAPPROF_CALL_EARLY(realloc, block, bytes);
  if (HEAPPROF_UNLIKELY(g_program_realloc != nullptr)) return g_program_realloc(block, bytes);
  if (block == nullptr) {
    void* fresh = g_real.realloc(nullptr, bytes);
    if (HEAPPROF_LIKELY(fresh != nullptr)) record_malloc_fast(fresh, bytes, HEAPPROF_HOOK_FRAME());
    return fresh;
  }
  const bool has_begun = record_realloc_begin_fast(block, HEAPPROF_HOOK_FRAME());
  void* fresh = g_real.realloc(block, bytes);
  record_realloc_end_fast(has_begun ? block : nullptr, fresh, bytes, HEAPPROF_HOOK_FRAME());
  return fresh;
}

HOOK void* memalign(size_t alignment, size_t size) {
  HEAPPROF_CALL_EARLY(memalign, alignment, size);
  void* block = g_real.memalign(alignment, size);
  if (HEAPPROF_LIKELY(block != nullptr) && !is_counted_inside(HEAPPROF_HOOK_FRAME()))
    record_malloc_fast(block, size, HEAPPROF_HOOK_FRAME());
  return block;
}

HOOK void* aligned_alloc(size_t alignment, size_t size) {
  HEAPPROF_CALL_EARLY(aligned_alloc, alignment, size);
  void* block = g_real.aligned_alloc(alignment, size);
  if (HEAPPROF_LIKELY(block != nullptr) && !is_counted_inside(HEAPPROF_HOOK_FRAME()))
    record_malloc_fast(block, size, HEAPPROF_HOOK_FRAME());
  return block;
}

HOOK int posix_memalign(void** out, size_t alignment, size_t size) {
  HEAPPROF_CALL_EARLY(posix_memalign, out, alignment, size);
  const int error = g_real.posix_memalign(out, alignment, size);
  if (HEAPPROF_LIKELY(error == 0 && *out != nullptr) && !is_counted_inside(HEAPPROF_HOOK_FRAME()))
    record_malloc_fast(*out, size, HEAPPROF_HOOK_FRAME());
  return error;
}

HOOK void* valloc(size_t size) {
  HEAPPROF_CALL_EARLY(valloc, size);
  void* block = g_real.valloc(size);
  if (HEAPPROF_LIKELY(block != nullptr) && !is_counted_inside(HEAPPROF_HOOK_FRAME()))
    record_malloc_fast(block, size, HEAPPROF_HOOK_FRAME());
  return block;
}

HOOK void* pvalloc(size_t size) {
  HEAPPROF_CALL_EARLY(pvalloc, size);
  void* block = g_real.pvalloc(size);
  if (HEAPPROF_LIKELY(block != nullptr) && !is_counted_inside(HEAPPROF_HOOK_FRAME()))
    record_malloc_fast(block, size, HEAPPROF_HOOK_FRAME());
  return block;
}

HOOK void free_sized(void* block, size_t size) {
  HEAPPROF_CALL_EARLY(free_sized, block, size);
  if (HEAPPROF_UNLIKELY(g_program_free != nullptr)) return g_program_free(block);
  if (block != nullptr && HEAPPROF_UNLIKELY(!record_free_fast(block, HEAPPROF_HOOK_FRAME())))
    return free_sized_slow(block, size, HEAPPROF_HOOK_FRAME());
  g_real.free_sized(block, size);
}

HOOK void free_aligned_sized(void* block, size_t alignment, size_t size) {
  HEAPPROF_CALL_EARLY(free_aligned_sized, block, alignment, size);
  if (HEAPPROF_UNLIKELY(g_program_free != nullptr)) return g_program_free(block);
  if (block != nullptr && HEAPPROF_UNLIKELY(!record_free_fast(block, HEAPPROF_HOOK_FRAME())))
    return free_aligned_sized_slow(block, alignment, size, HEAPPROF_HOOK_FRAME());
  g_real.free_aligned_sized(block, alignment, size);
}
