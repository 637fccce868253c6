// agent/start/attach.cc: see attach.h.
//
// Calls are redirected to the hooks before the session begins, and restored after it has ended. A hook that is called
// outside the session finds the agent off, and forwards. So no thread's frees are recorded while calls of malloc are
// not redirected yet (but see redirect_latecomers).
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
constexpr const char* kRedirected[] = {
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
constexpr size_t kCount = sizeof kRedirected / sizeof kRedirected[0];
constexpr size_t kOfMemory = 20;
static_assert(kRedirected[kOfMemory - 1][0] == 's' && kRedirected[kOfMemory][0] == 'e');  // sbrk, execve
constinit Redirection g_redirections[kCount]{};
SoughtSymbol g_sought[kCount];
bool g_is_redirected = false;
bool g_is_attached = false;
std::atomic<uint32_t> g_busy_process{0};  // pid of the process that is attaching or detaching: a forked child does not
                                          // go on with that

void* original(void* address) {
  for (const Redirection& one : g_redirections) {
    if (one.to == address && one.real != nullptr) return one.real;
  }
  return address;
}

bool are_all_redirected() {
  for (size_t i = 0; i < kOfMemory; ++i) {
    if (g_redirections[i].is_missed) return false;
  }
  return g_redirections[0].real != nullptr;
}

// False: calls of malloc, or of another function that allocates, maps or releases memory, would be missed.
bool redirect_hooks() {
  if (!is_loaded_late() || g_is_redirected) return true;
  for (size_t i = 0; i < kCount; ++i) {
    g_redirections[i] = {kRedirected[i], find_in_agent(kRedirected[i]), nullptr, nullptr};
    g_sought[i] = {kRedirected[i], nullptr};
  }
  translate_definitions(original);
  redirect_functions(g_redirections, g_sought, kCount, OwnCalls::kRedirect);
  g_is_redirected = true;
  return are_all_redirected();
}

// Redirects slots that another thread bound while the definitions were being redirected: it may have found the old
// ones.
void redirect_latecomers() {
  if (g_is_redirected) redirect_bound(g_redirections, kCount);
}

// False: another thread holds the loader's lock. The hooks stay, and forward.
bool restore_hooks() {
  if (!g_is_redirected) return true;
  if (!lock_loader()) return false;
  restore_own_calls();
  restore_functions(g_redirections, g_sought, kCount);
  unlock_loader();
  translate_definitions(nullptr);
  g_is_redirected = false;
  return true;
}

wire::AttachAnswer attach(const char* invitation, const char* agent_file) {
  using wire::AttachAnswer;
  if (g_fork_page.state == AgentState::kOn && !has_collector_left()) return AttachAnswer::kBusy;
  if (agent_object() == nullptr) return AttachAnswer::kNoAllocator;  // the agent is in a namespace of its own (dlmopen)
  if (!take_invitation(invitation, agent_file)) return AttachAnswer::kRefused;
  g_is_attached = false;
  if (g_session != 0) {
    end_session();
    note_unloading();  // unloads were not reported until now
  }
  g_fork_page.state = AgentState::kOff;   // so that no hook begins a session itself
  const bool is_late = is_loaded_late();  // else all objects have found the hooks by name, and nothing is redirected
  if (is_late && !lock_loader()) return AttachAnswer::kNoLock;
  resolve_real_functions();
  const bool has_malloc = malloc_object() != nullptr;
  const bool can_record = has_malloc && redirect_hooks();
  if (can_record) try_allocator_once();
  if (is_late) unlock_loader();
  if (can_record && start_late_session()) {
    if (is_late && lock_loader()) {
      redirect_latecomers();
      unlock_loader();
    }
    g_is_attached = true;
    return AttachAnswer::kAttached;
  }
  restore_hooks();
  if (!has_malloc) return AttachAnswer::kNoAllocator;
  return can_record ? AttachAnswer::kRefused : AttachAnswer::kNotRedirected;
}

wire::DetachAnswer detach() {
  using wire::DetachAnswer;
  if (!g_is_attached) return DetachAnswer::kNotAttached;
  end_session();
  if (!restore_hooks()) return DetachAnswer::kNoLock;
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
wire::AttachThread heapprof_agent_thread{};

HOOK void heapprof_agent_attach(const char* invitation, const char* agent_file, wire::AttachAnswer* answer) {
  agent::alone(answer, wire::AttachAnswer::kStarting, [&] { return agent::attach(invitation, agent_file); });
}
HOOK void heapprof_agent_detach(wire::DetachAnswer* answer) {
  agent::alone(answer, wire::DetachAnswer::kNotAttached, [] { return agent::detach(); });
}
