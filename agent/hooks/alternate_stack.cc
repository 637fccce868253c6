// agent/hooks/alternate_stack.cc: remembers the alternate stack that a thread gives to its signal handlers.
//
// While a handler runs on an alternate stack with SS_AUTODISARM, the kernel does not report that stack; under a seccomp
// filter the agent must not ask the kernel. So the agent remembers what is installed through libc
// (process/thread_stacks.h). It reads the argument after the call, because before the call it may be an invalid address
// (EFAULT). If the kernel wrote the old setting over the argument, the new one is unknown, unless the kernel may be
// asked.
#include "agent/hooks/alternate_stack.h"

#include "agent/hooks/hook.h"
#include "agent/process/own_variables.h"
#include "agent/process/thread_stacks.h"

#include <signal.h>

namespace heapprof::agent {

namespace {

int (*g_real_sigaltstack)(const stack_t*, stack_t*) = nullptr;  // nullptr before the start

}  // namespace

void settle_alternate_stack_hook() { find_real(&g_real_sigaltstack, "sigaltstack"); }

void note_alternate_stack(const stack_t* installed, const stack_t* old) {
  if (installed == nullptr || !has_own_variables()) return;
  stack_t stack{};
  if (may_ask_kernel()) {
    // A vfork child has its parent's thread-local storage, and not its parent's alternate stack.
    if (g_fork_page.state == AgentState::kOn && sys_getpid() != g_pid) return;
    raw_syscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&stack));
  } else if (installed != old) {
    stack = *installed;
  }
  remember_alternate_stack(stack);
}

}  // namespace heapprof::agent

EARLY_HOOK(int, sigaltstack)(const stack_t* stack, stack_t* old) {
  using namespace heapprof::agent;
  auto* real = g_real_sigaltstack;
  const int result = real != nullptr
                         ? real(stack, old)
                         : static_cast<int>(result_as_libc(raw_syscall(SYS_sigaltstack, reinterpret_cast<long>(stack),
                                                                       reinterpret_cast<long>(old))));
  if (result == 0) note_alternate_stack(stack, old);
  return result;
}
