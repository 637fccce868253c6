// agent/start/attach.cc: see attach.h.
//
// Hooks are led there before the life begins, and back after it has ended: in between they find the agent off, and hand
// on. So no block can begin unseen while frees are seen already, on any thread, for longer than that.
#include "agent/start/attach.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/operator_new.h"
#include "agent/process/arena.h"
#include "agent/process/environment.h"
#include "agent/process/redirect.h"
#include "agent/process/state.h"
#include "agent/start/start.h"

#include <string.h>

namespace heapprof::agent {

namespace {

// What is led to the hooks of the same names.
constexpr const char* kLed[] = {
    "malloc",        "free",           "calloc", "realloc", "reallocarray", "memalign",
    "aligned_alloc", "posix_memalign", "valloc", "pvalloc", "free_sized",   "free_aligned_sized",
    "mmap",          "mmap64",         "munmap", "mremap",  "mprotect",     "pkey_mprotect",
    "brk",           "sbrk",           "execve", "execv",   "execvp",       "execvpe",
    "execl",         "execlp",         "execle", "fexecve", "execveat",     "fork",
    "_Fork",         "__fork",         "dlopen", "dlmopen", "prctl",        "syscall",
    "sigaltstack",
#define X(index, name, kind, second, third) #name,
#include "agent/hooks/operator_new.def"
#undef X
};
constexpr size_t kCount = sizeof kLed / sizeof kLed[0];
Redirection g_led[kCount];
SoughtSymbol g_sought[kCount];
bool g_is_led = false;
std::atomic<uint32_t> g_is_busy{0};

void* original(void* address) {
  for (const Redirection& one : g_led) {
    if (one.to == address && one.real != nullptr) return one.real;
  }
  return address;
}

// False: malloc could not be led to us.
bool lead_hooks() {
  if (!is_loaded_late() || g_is_led) return true;
  for (size_t i = 0; i < kCount; ++i) {
    g_led[i] = {kLed[i], find_in_agent(kLed[i]), nullptr, nullptr};
    g_sought[i] = {kLed[i], nullptr};
  }
  translate_definitions(original);
  redirect_functions(g_led, g_sought, kCount, OwnCalls::kLead);
  g_is_led = true;
  return g_led[0].real != nullptr;
}

// What another thread was binding while the definitions were led away, to what it had found before.
void lead_latecomers() {
  if (g_is_led) redirect_bound(g_led, kCount);
}

void lead_back() {
  if (!g_is_led) return;
  with_objects_held([] { restore_functions(g_led, g_sought, kCount); });
  translate_definitions(nullptr);
  g_is_led = false;
}

wire::AttachAnswer attach(const char* invitation, const char* agent_file) {
  using wire::AttachAnswer;
  if (g_fork_page.state == AgentState::kOn) {
    if (!is_collector_dead()) return AttachAnswer::kBusy;
  }
  if (agent_object() == nullptr) return AttachAnswer::kNoAllocator;  // the agent is in a namespace of its own (dlmopen)
  if (!take_invitation(invitation, agent_file)) return AttachAnswer::kRefused;
  if (g_birth != 0) {
    end_life();
    note_unloading();  // nobody was told of it meanwhile
  }
  g_fork_page.state = AgentState::kOff;  // no hook begins a life of its own meanwhile
  bool can_record = false;
  with_objects_held([&] {
    resolve_real_functions();
    can_record = malloc_object() != nullptr && lead_hooks();
    if (can_record) try_allocator_once();
  });
  if (can_record && start_late_life()) {
    with_objects_held(lead_latecomers);
    return AttachAnswer::kAttached;
  }
  lead_back();
  return can_record ? AttachAnswer::kRefused : AttachAnswer::kNoAllocator;
}

wire::DetachAnswer detach() {
  using wire::DetachAnswer;
  if (!is_loaded_late() || !g_is_led) return DetachAnswer::kNotAttached;
  end_life();
  lead_back();
  return DetachAnswer::kDetached;
}

// One caller at a time. A forked child may find it taken for ever: nobody attaches to what is being attached to.
template <typename Answer, typename Action>
void alone(Answer* answer, Answer when_busy, Action action) {
  *answer = when_busy;
  if (g_is_busy.exchange(1, std::memory_order_acquire) != 0) return;
  const int error = errno;
  *answer = action();
  errno = error;
  g_is_busy.store(0, std::memory_order_release);
}

}  // namespace

}  // namespace heapprof::agent

using namespace heapprof;

HOOK void heapprof_agent_attach(const char* invitation, const char* agent_file, wire::AttachAnswer* answer) {
  agent::alone(answer, wire::AttachAnswer::kStarting, [&] { return agent::attach(invitation, agent_file); });
}
HOOK void heapprof_agent_detach(wire::DetachAnswer* answer) {
  agent::alone(answer, wire::DetachAnswer::kNotAttached, [] { return agent::detach(); });
}
