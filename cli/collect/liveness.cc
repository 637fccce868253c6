// cli/collect/liveness.cc: the futex is taken by the thread's own list, which the kernel walks at its end.
//
// A thread has one robust list, and libc has set it to its own. While we hold a word, the thread's list is ours; libc's
// comes back when ours is empty. Entries are linked in one store each, with a fence for the compiler in front of it, as
// the kernel may read the list between any two instructions.
#include "cli/collect/liveness.h"

#include "shared/wire.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapprof::cli {

namespace {

static_assert(wire::kFutexOwnerDied == FUTEX_OWNER_DIED);
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

// This thread's list. libc's own is put back when it is empty.
thread_local robust_list_head t_held = {{&t_held.list}, static_cast<long>(kLivenessDistance), nullptr};
thread_local robust_list_head* t_libc_list = nullptr;
thread_local size_t t_libc_bytes = 0;

robust_list* entry_of(std::atomic<uint32_t>* word) {
  return reinterpret_cast<robust_list*>(reinterpret_cast<char*>(word) - kLivenessDistance);
}

}  // namespace

void hold_liveness(std::atomic<uint32_t>* word) {
  if (t_held.list.next == &t_held.list) {
    ::syscall(SYS_get_robust_list, 0, &t_libc_list, &t_libc_bytes);
    ::syscall(SYS_set_robust_list, &t_held, sizeof t_held);
  }
  word->store(static_cast<uint32_t>(::syscall(SYS_gettid)),
              std::memory_order_release);  // the agent reads it before each wait
  robust_list* entry = entry_of(word);
  entry->next = t_held.list.next;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the kernel may look at any moment
  t_held.list.next = entry;
}

void drop_liveness(std::atomic<uint32_t>* word) {
  robust_list* entry = entry_of(word);
  robust_list* before = &t_held.list;
  while (before->next != &t_held.list && before->next != entry) before = before->next;
  if (before->next == entry) before->next = entry->next;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (t_held.list.next == &t_held.list && t_libc_list != nullptr) {
    ::syscall(SYS_set_robust_list, t_libc_list, t_libc_bytes);
  }
}

}  // namespace heapprof::cli
