// agent/start/attach.cc: see attach.h.
//
// Calls are redirected to the hooks before the session begins, and restored after it has ended: in between the hooks
// find the agent off, and forward. So no block can begin unseen while frees are seen already, on any thread, for longer
// than that.
#include "agent/start/attach.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/operator_new.h"
#include "agent/hooks/own_calls.h"
#include "agent/process/arena.h"
#include "agent/process/environment.h"
#include "agent/process/loader_lock.h"
#include "agent/process/redirect.h"
#include "agent/process/state.h"
#include "agent/start/start.h"

#include <string.h>

namespace heapprof::agent {

namespace {

// Redirected to the hooks of the same names: first all that allocate, map and release memory.
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
constexpr size_t kOfMemory = 20;
static_assert(kLed[kOfMemory - 1][0] == 's' && kLed[kOfMemory][0] == 'e');  // sbrk, execve
constinit Redirection g_led[kCount]{};
SoughtSymbol g_sought[kCount];
bool g_is_led = false;
bool g_is_attached = false;
std::atomic<uint32_t> g_busy_process{0};  // its pid: a forked child is not at what its parent was at

void* original(void* address) {
  for (const Redirection& one : g_led) {
    if (one.to == address && one.real != nullptr) return one.real;
  }
  return address;
}

bool are_all_led() {
  for (size_t i = 0; i < kOfMemory; ++i) {
    if (g_led[i].is_missed) return false;
  }
  return g_led[0].real != nullptr;
}

// False: calls of malloc, or of another one by which memory comes or goes, would be missed.
bool lead_hooks() {
  if (!is_loaded_late() || g_is_led) return true;
  for (size_t i = 0; i < kCount; ++i) {
    g_led[i] = {kLed[i], find_in_agent(kLed[i]), nullptr, nullptr};
    g_sought[i] = {kLed[i], nullptr};
  }
  translate_definitions(original);
  redirect_functions(g_led, g_sought, kCount, OwnCalls::kLead);
  g_is_led = true;
  return are_all_led();
}

// Redirects slots that another thread was binding, to what it had found before, while the definitions were redirected.
void lead_latecomers() {
  if (g_is_led) redirect_bound(g_led, kCount);
}

// False: another thread holds the loader's lock. The hooks stay, and forward.
bool lead_back() {
  if (!g_is_led) return true;
  if (!lock_loader()) return false;
  restore_own_calls();
  restore_functions(g_led, g_sought, kCount);
  unlock_loader();
  translate_definitions(nullptr);
  g_is_led = false;
  return true;
}

wire::AttachAnswer attach(const char* invitation, const char* agent_file) {
  using wire::AttachAnswer;
  if (g_fork_page.state == AgentState::kOn && !has_collector_left()) return AttachAnswer::kBusy;
  if (agent_object() == nullptr) return AttachAnswer::kNoAllocator;  // the agent is in a namespace of its own (dlmopen)
  if (!take_invitation(invitation, agent_file)) return AttachAnswer::kRefused;
  g_is_attached = false;
  if (g_birth != 0) {
    end_life();
    note_unloading();  // unloads were not reported until now
  }
  g_fork_page.state = AgentState::kOff;   // so that no hook begins a session itself
  const bool is_late = is_loaded_late();  // else all objects have found the hooks by name, and nothing is redirected
  if (is_late && !lock_loader()) return AttachAnswer::kNoLock;
  resolve_real_functions();
  const bool has_malloc = malloc_object() != nullptr;
  const bool can_record = has_malloc && lead_hooks();
  if (can_record) try_allocator_once();
  if (is_late) unlock_loader();
  if (can_record && start_late_life()) {
    if (is_late && lock_loader()) {
      lead_latecomers();
      unlock_loader();
    }
    g_is_attached = true;
    return AttachAnswer::kAttached;
  }
  lead_back();
  if (!has_malloc) return AttachAnswer::kNoAllocator;
  return can_record ? AttachAnswer::kRefused : AttachAnswer::kNotRedirected;
}

wire::DetachAnswer detach() {
  using wire::DetachAnswer;
  if (!g_is_attached) return DetachAnswer::kNotAttached;
  end_life();
  if (!lead_back()) return DetachAnswer::kNoLock;
  g_is_attached = false;
  return DetachAnswer::kDetached;
}

// One caller at a time.
template <typename Answer, typename Action>
void alone(Answer* answer, Answer when_busy, Action action) {
  *answer = when_busy;
  const auto process = static_cast<uint32_t>(sys_getpid());
  if (g_busy_process.exchange(process, std::memory_order_acquire) == process) return;
  const int error = errno;
  *answer = action();
  errno = error;
  g_busy_process.store(0, std::memory_order_release);
}

}  // namespace

}  // namespace heapprof::agent

using namespace heapprof;

// heapprof alone reads and writes it.
__attribute__((visibility("default"))) wire::AttachThread heapprof_agent_thread{};

HOOK void heapprof_agent_attach(const char* invitation, const char* agent_file, wire::AttachAnswer* answer) {
  agent::alone(answer, wire::AttachAnswer::kStarting, [&] { return agent::attach(invitation, agent_file); });
}
HOOK void heapprof_agent_detach(wire::DetachAnswer* answer) {
  agent::alone(answer, wire::DetachAnswer::kNotAttached, [] { return agent::detach(); });
}
