// agent/hooks/python_objects.cc: exchanges the table before the interpreter runs; until then, others may overwrite it.
//
// Py_PreInitialize puts an allocator into the table if PYTHONMALLOC or the development mode asks for one. From 3.12 on,
// a second Py_Initialize restores the allocator that was compiled in. Both allocate by malloc afterwards, before there
// is an object. So the agent checks the table in events of the heap, while no interpreter runs and the calling thread
// has no state in one. The interpreter's functions that read and write the table only copy a structure; from 3.12 on
// they take a lock, which no other code takes so early.
//
// A program may have put its own wrapper before the agent's. Then the agent puts another one before that, and its older
// wrapper only forwards: if both recorded, each block would count twice, and a wrapper whose former allocator is itself
// would never return.
//
// Every allocation of an object needs the interpreter's lock, but this lock does not order the records: a block of more
// than 512 bytes comes from malloc, which another interpreter with a lock of its own may call at the same time. So a
// block is recorded like those of the heap: its beginning after the call, its end before the call.
#include "agent/hooks/python_objects.h"

#include "agent/hooks/hook.h"
#include "agent/process/arena.h"
#include "agent/process/generation.h"
#include "agent/process/link_map.h"
#include "agent/process/loaded_object.h"
#include "agent/process/own_memory.h"
#include "agent/record/record_fast.h"

#include <string.h>

namespace heapprof::agent {

namespace {

using wire::DeviceOperation;
using wire::ObjectsState;

struct Allocator {  // PyMemAllocatorEx
  void* context;
  void* (*malloc)(void*, size_t);
  void* (*calloc)(void*, size_t, size_t);
  void* (*realloc)(void*, void*, size_t);
  void (*free)(void*, void*);
};

constexpr int kFirstDomain = 1;  // PYMEM_DOMAIN_MEM, followed by PYMEM_DOMAIN_OBJ; domain 0 is malloc's
constexpr size_t kDomains = 2;
constexpr size_t kMostWrappers = 128;  // for both domains together: each exchange of a table takes one

struct Wrapper {
  Allocator former;
  size_t domain;
};
Wrapper g_wrappers[kMostWrappers];
size_t g_used_wrappers = 0;
const Wrapper* g_latest[kDomains];  // for each domain, the wrapper that records

struct Functions {
  void (*get)(int, Allocator*);
  void (*set)(int, Allocator*);
  int (*is_initialized)();
  uint64_t (*thread_state)();
  uint64_t runtime;
};
constexpr const char* kNames[] = {"PyMem_GetAllocator", "PyMem_SetAllocator", "Py_IsInitialized",
                                  "PyGILState_GetThisThreadState", "_PyRuntime"};
constexpr size_t kNameCount = sizeof kNames / sizeof kNames[0];
Functions g_functions;
ObjectsState g_state = ObjectsState::kNone;
std::atomic<uint32_t> g_is_looking{0};  // 1: a thread is using the table
bool g_is_lasting = false;              // the program started with the interpreter: it is never unloaded
uint32_t g_looked_at_generation = 0;    // the generation in which the agent last looked for an interpreter

const Wrapper* wrapper_of(void* context) { return static_cast<const Wrapper*>(context); }
bool is_latest(const Wrapper* wrapper) { return g_latest[wrapper->domain] == wrapper; }

[[gnu::always_inline]] inline void record_inner(DeviceOperation operation, const void* block, size_t size_bytes,
                                                HookFrame hook_frame) {
  record_device({operation, wire::kPythonDevice, 0, reinterpret_cast<uint64_t>(block), size_bytes}, hook_frame);
}

[[gnu::noinline]] void* object_malloc(void* context, size_t size) {
  const Wrapper* const wrapper = wrapper_of(context);
  void* const block = wrapper->former.malloc(wrapper->former.context, size);
  if (HEAPPROF_LIKELY(block != nullptr && is_latest(wrapper)))
    record_inner(DeviceOperation::kBeginInner, block, size, HEAPPROF_HOOK_FRAME());
  return block;
}

[[gnu::noinline]] void* object_calloc(void* context, size_t count, size_t size) {
  const Wrapper* const wrapper = wrapper_of(context);
  void* const block = wrapper->former.calloc(wrapper->former.context, count, size);
  if (HEAPPROF_LIKELY(block != nullptr && is_latest(wrapper)))
    record_inner(DeviceOperation::kBeginInner, block, count * size, HEAPPROF_HOOK_FRAME());
  return block;
}

[[gnu::noinline]] void* object_realloc(void* context, void* block, size_t size) {
  const Wrapper* const wrapper = wrapper_of(context);
  const bool records = is_latest(wrapper);
  if (records && block != nullptr) record_inner(DeviceOperation::kMoveInner, block, 0, HEAPPROF_HOOK_FRAME());
  void* const fresh = wrapper->former.realloc(wrapper->former.context, block, size);
  if (!records) return fresh;
  if (HEAPPROF_LIKELY(fresh != nullptr)) {
    record_inner(block != nullptr ? DeviceOperation::kResizeInner : DeviceOperation::kBeginInner, fresh, size,
                 HEAPPROF_HOOK_FRAME());
  } else if (block != nullptr) {
    record_inner(DeviceOperation::kKeepInner, block, 0, HEAPPROF_HOOK_FRAME());
  }
  return fresh;
}

[[gnu::noinline]] void object_free(void* context, void* block) {
  const Wrapper* const wrapper = wrapper_of(context);
  if (HEAPPROF_LIKELY(block != nullptr && is_latest(wrapper)) &&
      HEAPPROF_UNLIKELY(!record_object_end_fast(block, cfa_of(HEAPPROF_HOOK_FRAME()))))
    record_inner(DeviceOperation::kEndInner, block, 0, HEAPPROF_HOOK_FRAME());
  wrapper->former.free(wrapper->former.context, block);
}

void say(ObjectsState state) {
  g_state = state;
  g_control->objects_state.store(state, std::memory_order_relaxed);
}

// Puts a new wrapper before the table's functions, unless the agent's latest is there. True: the table was exchanged.
bool stand_before(size_t domain) {
  Allocator now{};
  const int number = kFirstDomain + static_cast<int>(domain);
  g_functions.get(number, &now);
  if (now.malloc == nullptr) return false;
  const bool is_ours = now.malloc == object_malloc && is_latest(wrapper_of(now.context));
  if (is_ours) return false;
  if (g_used_wrappers == kMostWrappers) {
    say(ObjectsState::kTooOften);
    return false;
  }
  Wrapper& wrapper = g_wrappers[g_used_wrappers++];
  wrapper = {now, domain};
  g_latest[domain] = &wrapper;
  Allocator ours = {&wrapper, object_malloc, object_calloc, object_realloc, object_free};
  g_functions.set(number, &ours);
  return true;
}

// True if the interpreter runs without its global lock: the third word of _Py_DebugOffsets says so, from 3.13 on.
bool is_free_threaded(uint64_t runtime) {
  uint64_t words[3];
  if (runtime == 0 || !read_own_memory(words, reinterpret_cast<const void*>(runtime), sizeof words)) return false;
  return memcmp(words, "xdebugpy", sizeof words[0]) == 0 && words[2] != 0;
}

// pre: there is an interpreter whose version is known
void take(const uint64_t (&found)[kNameCount]) {
  if (found[0] == 0 || found[1] == 0 || found[2] == 0 || found[3] == 0) return say(ObjectsState::kNoTable);
  if (is_free_threaded(found[4])) return say(ObjectsState::kFreeThreaded);
  g_functions = {reinterpret_cast<void (*)(int, Allocator*)>(found[0]),
                 reinterpret_cast<void (*)(int, Allocator*)>(found[1]), reinterpret_cast<int (*)()>(found[2]),
                 reinterpret_cast<uint64_t (*)()>(found[3]), found[4]};
  if (g_functions.is_initialized() != 0) return say(ObjectsState::kRunning);
  for (size_t domain = 0; domain < kDomains; ++domain) stand_before(domain);
  say(ObjectsState::kRecorded);
}

// True if the version of an interpreter is known. Only then do the events come with Python's frames, in which the agent
// checks the table again.
bool has_known_python() {
  const uint32_t version = g_control->python_version.load(std::memory_order_relaxed);
  return version != 0 && (version & wire::kPythonUnknown) == 0;
}

void find_late() {
  if (!has_known_python() || g_looked_at_generation == current_generation()) return;
  g_looked_at_generation =
      current_generation();  // the generation changes when an interpreter is found (agent/python/interpreter.h)
  uint64_t found[kNameCount] = {};
  for (size_t i = 0; i < kNameCount; ++i) {
    void* kept = nullptr;
    found[i] = reinterpret_cast<uint64_t>(find_late_behind_agent({kNames[i], nullptr, nullptr, i == 4}, &kept));
  }
  if (found[0] != 0 || found[1] != 0 || found[2] != 0) take(found);
}

// Called in each event with a stack that does not take the fast path.
void look_at_table() {
  const bool is_settled = g_state != ObjectsState::kNone && g_state != ObjectsState::kRecorded;
  if (is_settled) return;
  if (g_functions.get != nullptr && (g_functions.is_initialized() != 0 || g_functions.thread_state() != 0)) return;
  if (g_is_looking.exchange(1, std::memory_order_acquire) != 0) return;
  if (g_functions.get == nullptr) {
    find_late();
  } else {
    bool is_new = false;
    for (size_t domain = 0; domain < kDomains; ++domain) is_new = stand_before(domain) || is_new;
    if (is_new) g_control->objects_found_again.fetch_add(1, std::memory_order_relaxed);
  }
  g_is_looking.store(0, std::memory_order_release);
}

}  // namespace

void forget_unloaded_objects() {
  if (g_functions.get == nullptr || g_is_lasting) return;
  if (is_surely_loaded(reinterpret_cast<const void*>(g_functions.get))) return;
  g_functions = {};
  if (g_state == ObjectsState::kRecorded) g_state = ObjectsState::kNone;
}

void settle_python_objects() {
  if (g_control->python_objects == 0) return;
  if (g_at_stack != nullptr) {  // a forked child; another thread of its parent may have been using the table
    g_is_looking.store(0, std::memory_order_relaxed);
    return say(g_state);
  }
  g_at_stack = look_at_table;
  if (!has_known_python()) return;
  SoughtSymbol sought[kNameCount];
  for (size_t i = 0; i < kNameCount; ++i) sought[i].name = kNames[i];
  find_symbols_in_process(sought, kNameCount);
  uint64_t found[kNameCount] = {};
  for (size_t i = 0; i < kNameCount; ++i) {
    if (sought[i].symbol != nullptr) found[i] = sought[i].object->l_addr + sought[i].symbol->st_value;
  }
  take(found);
  g_is_lasting = g_functions.get != nullptr;
}

}  // namespace heapprof::agent
