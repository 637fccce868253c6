// agent/hooks/jumped.cc: a comparison in assembly, then a jump; only calls that must be inspected reach C++.
//
// dlopen resolves $ORIGIN and the namespace by its return address. If the agent called it, the agent would be its
// caller, and programs would find other libraries than without the agent. So no frame of the agent may be on the stack
// when dlopen runs. The comparison in assembly keeps the common case at one jump through memory, because programs call
// `syscall` in their hot paths, too.
//
// A request for a seccomp filter is the exception: its effect is known only after the call. So the jump goes, with the
// program's arguments, to a function of the agent that calls the real one.
#include "agent/hooks/jumped.h"

#include "agent/hooks/alternate_stack.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/mapping.h"
#include "agent/hooks/own_library.h"
#include "agent/process/arena.h"
#include "agent/process/own_variables.h"
#include "agent/record/context.h"
#include "agent/start/start.h"

#include <dlfcn.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

extern "C" {
HIDDEN extern void* heapprof_jumped[];
// Inspects the first four arguments. Returns the real function, or one of the agent's that calls it. saved: the saved
// registers, which are restored before the jump.
HIDDEN void* heapprof_look(size_t index, size_t first, size_t second, size_t third, size_t fourth, size_t* saved);
}

void* heapprof_jumped[4] = {};  // nullptr: not found yet

namespace heapprof::agent {

namespace {

enum Index : size_t { kDlopen, kDlmopen, kPrctl, kSyscall };

constexpr char kNames[][16] = {
// no pointers: they are needed before the agent is relocated
#define X(index, name) #name,
#include "agent/hooks/jumped.def"
#undef X
};

bool is_vfork_child() { return g_fork_page.state == AgentState::kOn && !is_filtered() && sys_getpid() != g_pid; }

// Before glibc 2.34, dlopen is in libdl. If libdl is not loaded, a program cannot have meant to call it.
void* nothing_found() { return nullptr; }

void* real_function(size_t index) {
  // nullptr before the start: an allocator that is tried then may call the hook
  void* function = heapprof_jumped[index];
  if (function == nullptr) function = find_behind_agent(kNames[index]).address;
  return function != nullptr ? function : reinterpret_cast<void*>(nothing_found);
}

// What the program asks the kernel to forbid to it.
enum class Request : uint8_t {
  kNothing,
  // a seccomp filter for this thread, or syscall user dispatch, which turns its system calls from elsewhere into
  // signals
  kThreadFilter,
  kProcessFilter,  // a seccomp filter for all threads
  kStrict,         // seccomp's strict mode, which forbids the time stamp counter, too
  kNoClock         // the time stamp counter
};

// Libraries probe with arguments that cannot succeed; those do not count as requests. Strict mode, say, has no
// arguments.
Request request_of_prctl(size_t option, size_t argument, size_t filter) {
  const auto number = static_cast<uint32_t>(option);
  if (number == PR_SET_TSC && argument == PR_TSC_SIGSEGV) return Request::kNoClock;
  if (number == PR_SET_SYSCALL_USER_DISPATCH && argument != PR_SYS_DISPATCH_OFF) return Request::kThreadFilter;
  if (number != PR_SET_SECCOMP) return Request::kNothing;
  if (argument == SECCOMP_MODE_STRICT) return Request::kStrict;
  return argument == SECCOMP_MODE_FILTER && filter != 0 ? Request::kThreadFilter : Request::kNothing;
}

Request request_of_seccomp(size_t operation, size_t flags, size_t filter) {
  if (operation == SECCOMP_SET_MODE_STRICT && flags == 0 && filter == 0) return Request::kStrict;
  if (operation != SECCOMP_SET_MODE_FILTER || filter == 0) return Request::kNothing;
  return (flags & SECCOMP_FILTER_FLAG_TSYNC) != 0 ? Request::kProcessFilter : Request::kThreadFilter;
}

// If TSYNC fails, the result is the id of a thread that could not be synchronised. A listener is a descriptor.
bool is_accepted(long result, size_t seccomp_flags) {
  return result == 0 || (result > 0 && (seccomp_flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0);
}

FilterReach reach_of(Request request) {
  return request == Request::kProcessFilter ? FilterReach::kProcess : FilterReach::kThread;
}

// The same as make_request() for a thread without the agent's variables: none of its events is recorded, so it needs no
// clock.
template <typename Call>
[[gnu::noinline, gnu::cold]] long make_strange_request(Request request, size_t seccomp_flags, Call call) {
  if (request == Request::kNoClock) return call();
  const FilterNotice notice = expect_filter(reach_of(request));
  const long result = call();
  if (!is_accepted(result, seccomp_flags)) withdraw_filter(notice);
  return result;
}

// Makes the program's call, which asks for a filter. The agent stops making system calls before this call; if the
// kernel refuses the filter, everything is as before. While the time stamp counter may be lost, events of this thread's
// signal handlers are lost. errno stays as the real function left it.
template <typename Call>
[[gnu::always_inline]] inline long make_request(Request request, size_t seccomp_flags, Call call) {
  if (HEAPPROF_UNLIKELY(!has_own_variables())) return make_strange_request(request, seccomp_flags, call);
  begin_own_variables();
  const bool ends_clock = request == Request::kStrict || request == Request::kNoClock;
  FilterNotice notice{};
  if (request != Request::kNoClock) notice = expect_filter(reach_of(request));
  Context* const context = t_context;
  if (ends_clock) {
    t_flags |= kThreadWithoutClock;
    t_context = nullptr;  // makes every event check the flag
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  const long result = call();
  const bool accepted = is_accepted(result, seccomp_flags);
  if (ends_clock) {
    if (accepted && g_fork_page.state == AgentState::kOn && g_use_tsc) turn_off(wire::StopReason::kNoClock);
    t_context = context;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_flags &= ~kThreadWithoutClock;
  }
  if (!accepted && request != Request::kNoClock) withdraw_filter(notice);
  return result;
}

// Records that the process asked for this signal at its parent's death. If a child shares its parent's memory, or its
// session has not begun, its request is not this process's. Under a filter, the agent cannot ask which process it is
// in.
void note_death_signal(size_t number) {
  if (g_fork_page.state != AgentState::kOn || is_filtered() || sys_getpid() != g_pid) return;
  g_control->death_signal.store(static_cast<uint32_t>(number) + 1, std::memory_order_relaxed);
}

// Called instead of prctl when the program sets the signal for the parent's death.
int dying_prctl(int option, unsigned long number) {
  auto* real = reinterpret_cast<int (*)(int, ...)>(real_function(kPrctl));
  const int result = real(option, number);
  if (result == 0) note_death_signal(number);
  return result;
}

// Called instead of prctl for requests.
int requesting_prctl(int option, unsigned long second, unsigned long third, unsigned long fourth, unsigned long fifth) {
  auto* real = reinterpret_cast<int (*)(int, ...)>(real_function(kPrctl));
  return static_cast<int>(make_request(request_of_prctl(static_cast<size_t>(option), second, third), 0,
                                       [&] { return long{real(option, second, third, fourth, fifth)}; }));
}

// Called instead of syscall for requests, alternate stacks and the signal for the parent's death.
long requesting_syscall(long number, size_t first, size_t second, size_t third, size_t fourth, size_t fifth) {
  auto* real = reinterpret_cast<long (*)(long, ...)>(real_function(kSyscall));
  const auto call = [&] { return real(number, first, second, third, fourth, fifth); };
  if (number == SYS_sigaltstack) {
    const long result = call();
    if (result == 0) note_alternate_stack(reinterpret_cast<const stack_t*>(first), reinterpret_cast<stack_t*>(second));
    return result;
  }
  if (number == SYS_prctl && first == PR_SET_PDEATHSIG) {
    const long result = call();
    if (result == 0) note_death_signal(second);
    return result;
  }
  if (number == SYS_prctl) return make_request(request_of_prctl(first, second, third), 0, call);
  return make_request(request_of_seccomp(first, second, third), second, call);
}

void note_bypass(const char* object, wire::BypassReason reason) {
  if (object != nullptr) add_note(wire::NoteKind::kBypass, static_cast<uint32_t>(reason), object, false);
}

// With --deepbind=hook the object is loaded as if RTLD_DEEPBIND had not been asked for.
void note_deep_bind(const char* object, size_t* flags) {
  if (g_control != nullptr && g_control->hooks_deep_bind != 0) {
    *flags &= ~static_cast<size_t>(RTLD_DEEPBIND);
  } else {
    note_bypass(object, wire::BypassReason::kDeepBind);
  }
}

}  // namespace

void settle_jumped_hooks() {
  for (size_t index = 0; index < sizeof kNames / sizeof kNames[0]; ++index) {
    __atomic_store_n(&heapprof_jumped[index], find_behind_agent(kNames[index]).address, __ATOMIC_RELEASE);
  }
}

}  // namespace heapprof::agent

void* heapprof_look(size_t index, size_t first, size_t second, size_t third, size_t fourth, size_t* saved) {
  using namespace heapprof;
  using namespace heapprof::agent;
  if (!is_relocated()) return real_function(index);
  if (index == kDlopen && first != 0 && first == reinterpret_cast<size_t>(own_library_path("")))
    return reinterpret_cast<void*>(open_own_library);
  if (index == kDlopen && (second & RTLD_DEEPBIND) != 0)
    note_deep_bind(reinterpret_cast<const char*>(first), &saved[kSavedSecond]);
  if (index == kDlmopen && first != 0) {
    note_bypass(reinterpret_cast<const char*>(second), wire::BypassReason::kNamespace);
  } else if (index == kDlmopen && (third & RTLD_DEEPBIND) != 0) {
    note_deep_bind(reinterpret_cast<const char*>(second), &saved[kSavedThird]);
  }
  // What a vfork child does to itself does not affect its parent.
  if (index == kPrctl && request_of_prctl(first, second, third) != Request::kNothing && !is_vfork_child())
    return reinterpret_cast<void*>(requesting_prctl);
  if (index == kPrctl && static_cast<uint32_t>(first) == PR_SET_PDEATHSIG) return reinterpret_cast<void*>(dying_prctl);
  if (index == kSyscall) {
    if (is_mapping_of_program(first, saved[kSavedCaller])) return reinterpret_cast<void*>(heapprof_mapping_syscall);
    const bool is_dying = first == SYS_prctl && second == PR_SET_PDEATHSIG;
    Request request = Request::kNothing;
    if (first == SYS_prctl) request = request_of_prctl(second, third, fourth);
    if (first == SYS_seccomp) request = request_of_seccomp(second, third, fourth);
    if (first == SYS_sigaltstack || is_dying || (request != Request::kNothing && !is_vfork_child()))
      return reinterpret_cast<void*>(requesting_syscall);
  }
  return real_function(index);
}
