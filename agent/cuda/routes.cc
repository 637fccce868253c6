// agent/cuda/routes.cc: what dlsym and cuGetProcAddress return.
//
// For RTLD_NEXT libc searches the objects behind the one that called dlsym. If the agent called the real dlsym for the
// program, a library behind the agent that wraps a function would find its own wrapper, and call itself for ever. So
// the hook is assembly that calls heapprof_pick_cuda or heapprof_pick_nvtx. Unless that returns an answer, the hook
// tail-calls the real dlsym with the arguments unchanged.
#include "agent/cuda/routes.h"

#include "agent/cuda/runtime.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/own_library.h"
#include "agent/nvtx/tables.h"
#include "agent/process/arena.h"
#include "agent/process/loaded_object.h"

#include <dlfcn.h>
#include <string.h>

extern "C" {
HIDDEN void* heapprof_real_dlsym = nullptr;
// Returned in two registers.
struct CudaAnswer {
  void* address;
  size_t is_answer;  // 0: call the real dlsym
};
// What dlsym returns for a name that begins with "cu". caller: dlsym's return address.
HIDDEN CudaAnswer heapprof_pick_cuda(void* handle, const char* name, const void* caller);
// What dlsym returns for a name that begins with "In": NVTX starts a tool by its function InitializeInjectionNvtx or
// InitializeInjectionNvtx2.
HIDDEN CudaAnswer heapprof_pick_nvtx(void* handle, const char* name);
HIDDEN void* heapprof_find_dlsym();
}

namespace heapprof::agent {

namespace {

struct Hooked {
  const char* symbol;
  const char* base;
  int version;
  bool per_thread;
  void* wrapper;
};
const Hooked kHooked[] = {
#define X(symbol, base, version, per_thread, params) \
  {#symbol, #base, version, (per_thread) != 0, reinterpret_cast<void*>(heapprof_##symbol)},
#include "agent/cuda/functions.def"
#undef X
};

using Dlsym = void* (*)(void*, const char*);
using Dlopen = void* (*)(const char*, int);
using Dlclose = int (*)(void*);
Dlopen g_dlopen = nullptr;
Dlclose g_dlclose = nullptr;

// True if the address is in the driver, by its file's name. What cuGetProcAddress returns from another library
// counts as the driver's function only if that cuGetProcAddress is the driver's own: one of a library that wraps the
// driver may return other functions.
bool is_of_driver(const void* address) {
  LoadedObject object;
  if (!find_object(number(address), &object)) return false;
  const char* name = object.path;
  for (const char* c = object.path; *c != 0; ++c) {
    if (*c == '/') name = c + 1;
  }
  return strncmp(name, "libcuda.so", strlen("libcuda.so")) == 0;
}

// If the global scope lacks the name, RTLD_DEFAULT searches the scope of the dlopen that loaded the caller's library.
// Of that scope, only the library itself and its dependencies are known; they are searched here.
void* find_in_scope_of(const void* caller, const char* name, Dlsym real_dlsym) {
  LoadedObject object;
  if (g_dlopen == nullptr || g_dlclose == nullptr || !find_object(number(caller), &object) || *object.path == 0)
    return nullptr;
  const int before = errno;
  void* library = g_dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD);
  void* found = library == nullptr ? nullptr : real_dlsym(library, name);
  if (library != nullptr) g_dlclose(library);
  errno = before;
  return found;
}

const Hooked* find_symbol(const char* name) {
  for (const Hooked& hooked : kHooked) {
    if (strcmp(hooked.symbol, name) == 0) return &hooked;
  }
  return nullptr;
}

// True if the name begins like those of functions that allocate memory.
bool gives_memory(const char* name) {
  for (const char* start :
       {"cuMemAlloc", "cuMemHostAlloc", "cuMemCreate", "cuArrayCreate", "cuArray3DCreate", "cuMipmappedArrayCreate"}) {
    if (strncmp(name, start, strlen(start)) == 0) return true;
  }
  return false;
}

CudaFunction function_of(const Hooked* hooked) { return static_cast<CudaFunction>(hooked - kHooked); }

// The hooked function that cuGetProcAddress finds by this name: the newest ABI that is not newer than the requested
// version.
const Hooked* find_base(const char* name, int version, uint64_t flags) {
  constexpr uint64_t kPerThread = 2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
  const Hooked* best = nullptr;
  for (const Hooked& hooked : kHooked) {
    if (strcmp(hooked.base, name) != 0 || hooked.version > version) continue;
    if (hooked.per_thread && (flags & kPerThread) == 0) continue;
    if (best == nullptr || hooked.version > best->version || hooked.per_thread) best = &hooked;
  }
  return best;
}

}  // namespace

FoundFunction recognize(const char* name, void* found, int version, uint64_t flags, const void* giver) {
  const Hooked* hooked = find_base(name, version, flags);
  using Kind = FoundFunction::Kind;
  if (hooked == nullptr) return {Kind::kUnhooked, nullptr, 0};
  const void* real = real_cuda(function_of(hooked));
  if (!stands_for(function_of(hooked), found) && !(is_of_driver(giver) && is_same_object(real, giver)))
    return {Kind::kForeign, nullptr, 0};
  const bool is_known = version <= kLastKnownVersion || found == real;
  return {is_known ? Kind::kHooked : Kind::kNewer, hooked->wrapper, hooked->version};
}

void note_unknown_function(const char* name, int version) {
  if (gives_memory(name) && version > kLastKnownVersion && g_fork_page.state == AgentState::kOn)
    add_note(wire::NoteKind::kUnknownFunction, static_cast<uint32_t>(version), name, false);
}

void settle_cuda_routes() {
  note_first_objects();
  g_dlopen = reinterpret_cast<Dlopen>(find_behind_agent("dlopen").address);
  g_dlclose = reinterpret_cast<Dlclose>(find_behind_agent("dlclose").address);
  __atomic_store_n(&heapprof_real_dlsym, find_behind_agent("dlsym").address, __ATOMIC_RELEASE);
}

}  // namespace heapprof::agent

using namespace heapprof::agent;

namespace {
void* nothing_found(void*, const char*) { return nullptr; }
}  // namespace

void* heapprof_find_dlsym() {
  void* real = find_behind_agent("dlsym").address;
  return real != nullptr ? real : reinterpret_cast<void*>(nothing_found);
}

CudaAnswer heapprof_pick_cuda(void* handle, const char* name, const void* caller) {
  if (!is_relocated()) return {nullptr, 0};
  const Hooked* hooked = find_symbol(name);
  const bool is_runtime = hooked == nullptr && handle != RTLD_NEXT && is_runtime_function(name);
  if (hooked == nullptr && !is_runtime) return {nullptr, 0};
  auto* real_dlsym =
      reinterpret_cast<Dlsym>(heapprof_real_dlsym != nullptr ? heapprof_real_dlsym : heapprof_find_dlsym());
  if (is_runtime) {
    void* found = real_dlsym(handle, name);
    if (found == nullptr) return {nullptr, 0};  // the real one is called again, and leaves its error
    return {wrap_runtime(name, found), 1};
  }
  if (handle != RTLD_NEXT) {
    void* found = real_dlsym(handle, name);
    if (found == nullptr) return {nullptr, 0};  // the real one is called again, and leaves its error for the caller
    if (!is_own_code(found)) return {stands_for(function_of(hooked), found) ? hooked->wrapper : found, 1};
  }
  // The real dlsym would find the agent's function. If no other object has the name, the program finds nothing and gets
  // dlerror's text, as without the agent.
  if (real_dlsym(RTLD_NEXT, name) == nullptr) {
    void* found = handle == RTLD_DEFAULT ? find_in_scope_of(caller, name, real_dlsym) : nullptr;
    if (found != nullptr) return {stands_for(function_of(hooked), found) ? hooked->wrapper : found, 1};
    real_dlsym(RTLD_NEXT, name);
    return {nullptr, 1};
  }
  return {handle == RTLD_NEXT ? nullptr : hooked->wrapper, handle != RTLD_NEXT};
}

CudaAnswer heapprof_pick_nvtx(void* handle, const char* name) {
  if (!is_relocated() || !nvtx::starts_tool(name) || handle == RTLD_NEXT || handle == RTLD_DEFAULT) return {nullptr, 0};
  if (handle == own_library()) return {nvtx::starter(), 1};
  auto* real_dlsym =
      reinterpret_cast<Dlsym>(heapprof_real_dlsym != nullptr ? heapprof_real_dlsym : heapprof_find_dlsym());
  void* const found = real_dlsym(handle, name);
  if (found == nullptr) return {nullptr, 0};  // the real one is called again, and leaves its error
  void* const ours = is_own_code(found) ? nullptr : nvtx::stand_before(name, found);
  return {ours != nullptr ? ours : found, 1};
}
