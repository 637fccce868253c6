// agent/hooks/jumped.cc: a comparison in assembly, then a jump; only what is to be looked at calls C++.
//
// dlopen resolves $ORIGIN and the namespace by its return address: were it called from here, the agent would be its
// caller, and programs would find other libraries than without us. So nothing of ours may be on the stack when it runs.
// The comparison keeps the common case at one jump through memory: `syscall` is also what a program calls in its hot
// paths.
#include "agent/hooks/jumped.h"

#include "agent/hooks/hook.h"
#include "agent/process/arena.h"
#include "agent/start/start.h"

#include <dlfcn.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

// X(index, name, looked at if): the condition is assembly that jumps to 1f; it may use r11.
#define HEAPPROF_JUMPED(X)                                                                             \
  X(0, dlopen, "testl $8, %esi\njnz 1f\n")                            /* RTLD_DEEPBIND */              \
  X(1, dlmopen, "testq %rdi, %rdi\njnz 1f\ntestl $8, %edx\njnz 1f\n") /* not LM_ID_BASE */             \
  X(2, prctl, "cmpl $22, %edi\nje 1f\ncmpl $26, %edi\nje 1f\n")       /* PR_SET_SECCOMP, PR_SET_TSC */ \
  X(3, syscall, "cmpq $317, %rdi\nje 1f\ncmpq $157, %rdi\nje 1f\n")   /* SYS_seccomp, SYS_prctl */

static_assert(RTLD_DEEPBIND == 8 && LM_ID_BASE == 0 && PR_SET_SECCOMP == 22 && PR_SET_TSC == 26 && SYS_seccomp == 317 &&
              SYS_prctl == 157);

extern "C" {
HIDDEN extern void* heapprof_jumped[];
// Looks at the first four arguments. Returns the real function. saved: the registers that it gets back.
HIDDEN void* heapprof_look(size_t index, size_t first, size_t second, size_t third, size_t fourth, size_t* saved);
}

void* heapprof_jumped[4] = {};  // nullptr: not found yet

// clang-format off
#define X(index, name, condition)                               \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n"   \
      #name ":\n.cfi_startproc\nendbr64\n"                      \
      condition                                                 \
      "movq heapprof_jumped + 8*" #index "(%rip), %r11\n"       \
      "testq %r11, %r11\njz 1f\njmp *%r11\n"                    \
      "1: pushq $" #index "\n.cfi_adjust_cfa_offset 8\n"        \
      "jmp heapprof_look_and_jump\n"                            \
      ".cfi_endproc\n.size " #name ", . - " #name "\n");
HEAPPROF_JUMPED(X)
#undef X
// clang-format on

// Keeps every register that may hold an argument (rax: the number of vector registers of a variadic call).
asm(R"(
.text
heapprof_look_and_jump:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  pushq %r8
  .cfi_adjust_cfa_offset 8
  pushq %r9
  .cfi_adjust_cfa_offset 8
  pushq %r10
  .cfi_adjust_cfa_offset 8
  pushq %rax
  .cfi_adjust_cfa_offset 8
  movq %rsp, %r9
  movq %rcx, %r8
  movq %rdx, %rcx
  movq %rsi, %rdx
  movq %rdi, %rsi
  movq 64(%rsp), %rdi
  call heapprof_look
  movq %rax, %r11
  popq %rax
  .cfi_adjust_cfa_offset -8
  popq %r10
  .cfi_adjust_cfa_offset -8
  popq %r9
  .cfi_adjust_cfa_offset -8
  popq %r8
  .cfi_adjust_cfa_offset -8
  popq %rcx
  .cfi_adjust_cfa_offset -8
  popq %rdx
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  jmp *%r11
  .cfi_endproc
)");

namespace heapprof::agent {

namespace {

enum Index : size_t { kDlopen, kDlmopen, kPrctl, kSyscall };

// Places of two registers among those that heapprof_look_and_jump saves.
constexpr size_t kSavedRdx = 5;
constexpr size_t kSavedRsi = 6;

constexpr const char* kNames[] = {
#define X(index, name, condition) #name,
    HEAPPROF_JUMPED(X)
#undef X
};

bool is_vfork_child() { return g_fork_page.state == AgentState::kOn && !is_filtered() && sys_getpid() != g_pid; }

void end_clock() {
  if (g_fork_page.state == AgentState::kOn && g_use_tsc) turn_off(wire::StopReason::kNoClock);
}

// The program asks for a filter of system calls, or for the end of the time stamp counter, which the strict mode of
// seccomp brings along. Libraries probe with arguments that cannot succeed; those change nothing. What a vfork child
// does to itself is not its parent's affair.
void note_prctl(size_t option, size_t argument, size_t filter) {
  switch (static_cast<uint32_t>(option)) {
    case PR_SET_TSC:
      if (argument == PR_TSC_SIGSEGV && !is_vfork_child()) end_clock();
      return;
    case PR_SET_SECCOMP:
      if (argument != SECCOMP_MODE_STRICT && (argument != SECCOMP_MODE_FILTER || filter == 0)) return;
      if (is_vfork_child()) return;
      expect_filter();
      if (argument == SECCOMP_MODE_STRICT) end_clock();
      return;
    default: return;
  }
}

void note_seccomp(size_t operation, size_t flags, size_t filter) {
  if (operation == SECCOMP_SET_MODE_STRICT && flags == 0 && filter == 0)
    note_prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0);
  if (operation == SECCOMP_SET_MODE_FILTER) note_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter);
}

// Before glibc 2.34 dlopen is libdl's. Where libdl is not loaded a program cannot have meant to call it.
void* nothing_found() { return nullptr; }

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
  if (index == kDlopen && (second & RTLD_DEEPBIND) != 0)
    note_deep_bind(reinterpret_cast<const char*>(first), &saved[kSavedRsi]);
  if (index == kDlmopen && first != 0) {
    note_bypass(reinterpret_cast<const char*>(second), wire::BypassReason::kNamespace);
  } else if (index == kDlmopen && (third & RTLD_DEEPBIND) != 0) {
    note_deep_bind(reinterpret_cast<const char*>(second), &saved[kSavedRdx]);
  }
  if (index == kPrctl) note_prctl(first, second, third);
  if (index == kSyscall && first == SYS_prctl) note_prctl(second, third, fourth);
  if (index == kSyscall && first == SYS_seccomp) note_seccomp(second, third, fourth);
  void* function = heapprof_jumped[index];  // nullptr before the start: an allocator that is tried then may call us
  if (function == nullptr) function = find_behind_agent(kNames[index]).address;
  return function != nullptr ? function : reinterpret_cast<void*>(nothing_found);
}
