// cli/collect/liveness.cc: the futex is on the thread's robust list, which the kernel walks when the thread ends.
//
// A thread has one robust list, and libc has set it to its own. While the collector holds a word, the thread's list is
// the collector's; when this list is empty, libc's is restored. One store links each entry, after a compiler fence, as
// the kernel may read the list between any two instructions.
//
// The kernel walks 2,048 entries of a thread and ignores the rest. With more processes than that, the agents of the
// oldest ones would not learn that the collector died, and would wait as long as for a stalled collector. So entries
// beyond one list go on the list of another thread, which sleeps until the process ends. This thread alone changes all
// lists.
#include "cli/collect/liveness.h"

#include "shared/wire.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

namespace heapprof::cli {

namespace {

static_assert(wire::kFutexOwnerDied == FUTEX_OWNER_DIED);
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

constexpr size_t kMostSleepers = 100;
constexpr size_t kSleepersStackBytes = 128 << 10;

struct List {
  robust_list_head head{};  // the kernel's, of the thread `owner`
  std::atomic<uint32_t> owner = 0;
  size_t held = 0;

  void make_empty() { head = {{&head.list}, static_cast<long>(kLivenessDistance), nullptr}; }
};

// An entry in the private page: the kernel follows `link`.
struct Entry {
  robust_list link;
  const List* list;
};

// This thread's list. libc's own is restored when it is empty.
thread_local List t_held;
thread_local robust_list_head* t_libc_list = nullptr;
thread_local size_t t_libc_bytes = 0;
// The further lists. Each belongs to a thread that does nothing else.
thread_local List* t_sleepers[kMostSleepers] = {};

Entry* entry_of(std::atomic<uint32_t>* word) {
  return reinterpret_cast<Entry*>(reinterpret_cast<char*>(word) - kLivenessDistance);
}

[[noreturn]] void* sleep_with(void* list_of_thread) {
  auto* list = static_cast<List*>(list_of_thread);
  ::syscall(SYS_set_robust_list, &list->head, sizeof list->head);
  list->owner.store(static_cast<uint32_t>(::syscall(SYS_gettid)), std::memory_order_release);  // (A)
  list->owner.notify_one();
  for (;;) ::pause();  // all signals are blocked
}

// Creates a thread that has a list and ends with the process. nullptr: it cannot be created.
List* make_sleeper() {
  auto* list = new (std::nothrow) List;  // the kernel reads it at the process's end: it is never freed
  if (list == nullptr) return nullptr;
  list->make_empty();
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kSleepersStackBytes);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  pthread_t thread{};
  const bool is_made = pthread_create(&thread, &attributes, sleep_with, list) == 0;
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  pthread_attr_destroy(&attributes);
  if (is_made) {
    list->owner.wait(0, std::memory_order_acquire);  // pairs with (A)
    return list;
  }
  delete list;
  return nullptr;
}

// A list with room; this thread's own if no thread can be created.
List* list_with_room() {
  if (t_held.held < kMostOnList) return &t_held;
  for (List*& sleeper : t_sleepers) {
    if (sleeper == nullptr) sleeper = make_sleeper();
    if (sleeper == nullptr) break;
    if (sleeper->held < kMostOnList) return sleeper;
  }
  return &t_held;
}

// The list, if it is one of this thread's. nullptr: the thread that created it has ended.
List* own_list(const List* list) {
  if (list == &t_held) return &t_held;
  for (List* sleeper : t_sleepers) {
    if (sleeper == nullptr) break;
    if (sleeper == list) return sleeper;
  }
  return nullptr;
}

}  // namespace

void hold_liveness(std::atomic<uint32_t>* word) {
  if (t_held.held == 0) {
    t_held.make_empty();
    ::syscall(SYS_get_robust_list, 0, &t_libc_list, &t_libc_bytes);
    ::syscall(SYS_set_robust_list, &t_held.head, sizeof t_held.head);
    t_held.owner.store(static_cast<uint32_t>(::syscall(SYS_gettid)), std::memory_order_relaxed);
  }
  List* list = list_with_room();
  word->store(list->owner.load(std::memory_order_relaxed),
              std::memory_order_release);  // the agent reads it before each wait
  Entry* entry = entry_of(word);
  entry->list = list;
  entry->link.next = list->head.list.next;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // the kernel may look at any moment
  list->head.list.next = &entry->link;
  ++list->held;
}

void drop_liveness(std::atomic<uint32_t>* word) {
  Entry* entry = entry_of(word);
  List* list = own_list(entry->list);
  if (list == nullptr) return;
  robust_list* end = &list->head.list;
  robust_list* before = end;
  while (before->next != end && before->next != &entry->link) before = before->next;
  if (before->next == end) return;
  before->next = entry->link.next;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (--list->held == 0 && list == &t_held && t_libc_list != nullptr) {
    ::syscall(SYS_set_robust_list, t_libc_list, t_libc_bytes);
  }
}

}  // namespace heapprof::cli
