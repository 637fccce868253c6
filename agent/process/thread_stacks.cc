// agent/process/thread_stacks.cc: where a thread's stacks are, without asking the kernel if that can be avoided.
//
// The main thread's stack begins at __libc_stack_end, and the kernel maps nothing of its own within 128 MiB below
// (MIN_GAP in arch/x86/mm/mmap.c), however small the limit of the stack is. Another thread's descriptor lies at the top
// of its stack and holds the stack's address and size side by side. Their place in the descriptor changes between
// versions of libc, so the agent searches for two words that describe a stack that ends right after the descriptor.
//
// The kernel does not report an alternate stack with SS_AUTODISARM while a handler runs on it. So the agent also
// remembers what the program installs (hooks/alternate_stack.cc). An alternate stack may lie within the thread's own
// stack, so it is checked first.
#include "agent/process/thread_stacks.h"

#include "agent/libc/raw.h"
#include "agent/libc/variables.h"
#include "agent/process/link_map.h"

namespace heapprof::agent {

namespace {

constexpr uint64_t kMainStackBytes = 64u << 20;
constexpr uint64_t kSmallestStackBytes = 4096;
constexpr uint32_t kAutodisarm = 1u << 31;  // SS_AUTODISARM

// What the program installed last. The lowest bit of the size is set if it does not stay installed while handlers run
// on it.
constinit thread_local AlternateStack t_alternate __attribute__((tls_model("initial-exec")));
// Facts about libc's thread descriptor. libc gives them to debuggers in variables that it exports (for libthread_db).
uint64_t g_descriptor_bytes = 0;  // 0: libc does not tell
uint64_t g_thread_id_off = 0;     // 0: libc does not tell

bool is_on(const AlternateStack& stack, uint64_t sp) { return sp - stack.low_avma - 1 < stack.size_bytes; }

uint32_t thread_id_at(uint64_t off) {
  return *reinterpret_cast<const uint32_t*>(descriptor_avma(g_descriptor_bytes) + off);
}

}  // namespace

uint64_t find_stack_start(const uint64_t* words, uint64_t count, uint64_t descriptor_avma, uint64_t id_off) {
  for (uint64_t i = 0; i + 1 < count; ++i) {
    const uint64_t low = words[i];
    const uint64_t size_bytes = words[i + 1];
    const bool is_id = id_off != 0 && (id_off / 8 == i || id_off / 8 == i + 1);
    if (is_id || low >= descriptor_avma || size_bytes < kSmallestStackBytes || size_bytes > low) continue;
    if (low + size_bytes - descriptor_avma - count * 8 <= kMostBehindDescriptor) return low;
  }
  return 0;
}

ThreadStacks::ThreadStacks(bool may_ask) {
  own_end_avma_ = reinterpret_cast<uint64_t>(__libc_stack_end);
  own_low_avma_ = own_end_avma_ - kMainStackBytes;
  const uint64_t descriptor = descriptor_avma(g_descriptor_bytes);
  const auto* words = reinterpret_cast<const uint64_t*>(descriptor);
  const uint64_t start_avma = find_stack_start(words, g_descriptor_bytes / 8, descriptor, g_thread_id_off);
  if (start_avma != 0) {
    own_low_avma_ = start_avma;
    own_end_avma_ = descriptor;
  }
  stays_installed_ = (t_alternate.size_bytes & 1) == 0;
  if (!may_ask) return;
  stack_t stack{};
  if (is_error(raw_syscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&stack)))) return;
  if ((stack.ss_flags & SS_DISABLE) != 0) return;
  asked_ = {reinterpret_cast<uint64_t>(stack.ss_sp), stack.ss_size};
  stays_installed_ = (static_cast<uint32_t>(stack.ss_flags) & kAutodisarm) == 0;
}

StackKind ThreadStacks::kind_of(uint64_t sp) const {
  if (is_on(asked_, sp)) return StackKind::kAsked;
  if (is_on(t_alternate, sp)) return StackKind::kRemembered;
  return sp - own_low_avma_ < own_end_avma_ - own_low_avma_ ? StackKind::kOwn : StackKind::kUnknown;
}

bool ThreadStacks::is_alternate_left(uint64_t old_sp, uint64_t sp) const {
  if (kind_of(sp) != StackKind::kOwn) return false;
  // If the kernel reports a stack, that one counts; otherwise the remembered one.
  const StackKind current = asked_.size_bytes != 0 ? StackKind::kAsked : StackKind::kRemembered;
  return stays_installed_ && kind_of(old_sp) == current;
}

void remember_alternate_stack(const stack_t& stack) {
  const auto flags = static_cast<uint32_t>(stack.ss_flags);
  t_alternate.low_avma = reinterpret_cast<uint64_t>(stack.ss_sp);
  t_alternate.size_bytes = (flags & SS_DISABLE) != 0 ? 0 : (stack.ss_size & ~uint64_t{1}) | (flags & kAutodisarm) >> 31;
}

uint32_t described_thread_id() { return g_thread_id_off != 0 ? thread_id_at(g_thread_id_off) : 0; }

void settle_thread_stacks() {
  const auto* bytes = static_cast<const uint32_t*>(find_in_glibc("_thread_db_sizeof_pthread").address);
  if (bytes == nullptr || *bytes >= 16384) return;
  g_descriptor_bytes = *bytes & ~7u;
  // Bits of a value, how many values, and the offset of the first in bytes.
  const auto* field = static_cast<const uint32_t*>(find_in_glibc("_thread_db_pthread_tid").address);
  if (field == nullptr || field[0] != 32 || field[2] > g_descriptor_bytes - 4) return;
  if (thread_id_at(field[2]) == static_cast<uint32_t>(sys_gettid())) g_thread_id_off = field[2];
}

}  // namespace heapprof::agent
