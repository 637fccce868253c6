// tests/targets/attack/parts/signals.cc: timers at a high rate, whose handlers allocate, fork, and jump, on the stack
// that they interrupted and on others.
//
// A storm is a loop of allocations on one thread, with a timer of that thread. What a handler may do natively: with
// libc's malloc, nothing of malloc where it interrupted a call of it; with async_malloc.cc, everything everywhere.
#include "../../keep.h"
#include "action.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31)
#endif

namespace attack {

namespace {

enum class Does { kAllocate, kJump, kJumpAnywhere, kFork, kForkAndReturn };

struct Storm {
  Does does = Does::kAllocate;
  volatile unsigned signals = 0;  // handlers that did what they are for
  unsigned wanted = 0;
  volatile bool is_child = false, may_jump = false;
  volatile long wrong = 0;
  sigjmp_buf target;
  Random random = {0};
  void* kept[16] = {};
};
thread_local Storm* t_storm = nullptr;

KEEP_FRAME void allocate_in_handler(Storm& storm) {
  void* block = take(kSite_handler_a, any_size(storm.random));
  void*& place = storm.kept[storm.random.below(16)];
  void* before = place;
  place = nullptr;  // this handler may be interrupted by one of another signal, but not by itself
  if (before != nullptr) release(before);
  place = block;
}

void fork_in_handler(Storm& storm) {
  const bool returns = storm.does == Does::kForkAndReturn;
  const uint32_t index = claim_book(returns ? "fork_in_handler_return" : "fork_in_handler");
  const pid_t child = fork();
  if (child == 0) {
    enter_book(index);
    for (int i = 0; i < 5; ++i) release(take(kSite_handler_child, any_size(storm.random)));
    take(kSite_handler_child, 100);
    if (!returns) _exit(7);
    storm.is_child = true;
    return;
  }
  book(index)->pid = child;
  const long status = child < 0 ? -1 : wait_for(child);
  if (status != 7) storm.wrong = status;
}

void on_storm(int) {
  Storm* storm = t_storm;
  if (storm == nullptr || storm->is_child || storm->signals >= storm->wanted) return;
  if ((!g_start.has_own_malloc || storm->does == Does::kJump) && t_notes != nullptr) return;
  const int error = errno;
  storm->signals = storm->signals + 1;
  switch (storm->does) {
    case Does::kAllocate: allocate_in_handler(*storm); break;
    case Does::kFork:
    case Does::kForkAndReturn: fork_in_handler(*storm); break;
    case Does::kJump:
    case Does::kJumpAnywhere:
      release(take(kSite_handler_b, any_size(storm->random)));
      if (!storm->may_jump) break;
      storm->may_jump = false;
      siglongjmp(storm->target, 1);
  }
  errno = error;
}

// What a signal that nobody expects does, in any thread, whatever it is doing.
void on_weather(int) {
  const int error = errno;
  release(take(kSite_handler_b, 777));
  errno = error;
}

int storm_signal() { return SIGRTMIN + 3; }

timer_t start_timer(long every_ns) {
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = storm_signal();
  event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
  int timer = -1;
  if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) return nullptr;
  const itimerspec every = {{0, every_ns}, {0, every_ns}};
  syscall(SYS_timer_settime, timer, 0, &every, nullptr);
  return reinterpret_cast<timer_t>(static_cast<intptr_t>(timer) + 1);
}
void stop_timer(timer_t timer) {
  syscall(SYS_timer_delete, static_cast<int>(reinterpret_cast<intptr_t>(timer) - 1));
  sigset_t ours, before;
  sigemptyset(&ours);
  sigaddset(&ours, storm_signal());
  // One that is on its way is taken here, before the storm is gone.
  pthread_sigmask(SIG_UNBLOCK, &ours, &before);
}

constexpr uint32_t kStormSites[] = {kSite_malloc_a, kSite_malloc_b, kSite_calloc_a, kSite_aligned_a};

long run_storm(Context& context, Does does, unsigned wanted, long every_ns) {
  Storm storm;
  storm.does = does;
  storm.wanted = wanted;
  storm.random.state = context.random.next();
  t_storm = &storm;
  const timer_t timer = start_timer(every_ns);
  if (timer == nullptr) return -1;
  const Random before = context.random;
  while (storm.signals < storm.wanted && !storm.is_child) {
    if (does == Does::kForkAndReturn) {  // no realloc: what a resumed one did to the parent's block is not known
      release(take(kStormSites[context.random.below(4)], any_size(context.random)));
    } else {
      work(context, 10, kStormSites, 4);
    }
  }
  if (storm.is_child) {
    for (int i = 0; i < 30; ++i) release(take(kSite_handler_child, any_size(context.random)));
    _exit(7);
  }
  stop_timer(timer);
  t_storm = nullptr;
  context.random = before;
  for (void* block : storm.kept) release(block);
  return storm.wrong;
}

// On an alternate stack that lies above this thread's or below it.
char* g_high_stacks[8];
constexpr size_t kStackBytes = 64 << 10;
long storm_on_stack(Context& context, unsigned amount, int flags) {
  static std::atomic<unsigned> used[8];
  char* stack = nullptr;
  unsigned place = context.random.below(8);
  const bool is_high = g_high_stacks[place] != nullptr && used[place].exchange(1) == 0;
  if (is_high) {
    stack = g_high_stacks[place];
  } else {
    void* mapped = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return -3;
    stack = static_cast<char*>(mapped);
  }
  stack_t other = {}, before = {};
  other.ss_sp = stack;
  other.ss_size = kStackBytes;
  other.ss_flags = flags;
  if (sigaltstack(&other, &before) != 0) return -4;
  const long result = run_storm(context, Does::kAllocate, amount, 60000);
  before.ss_flags = SS_DISABLE;
  sigaltstack(&before, nullptr);
  if (is_high) {
    used[place] = 0;
  } else {
    munmap(stack, kStackBytes);
  }
  return result;
}

// Everything that a jump interrupts is left to itself: no block is used again that a call had in hand.
// `may_move` is false where realloc itself may be left: whether its old block is gone then, nobody can say, and the
// numbers of whoever has its address next are off by one.
KEEP_FRAME void allocate_and_be_left(Storm& storm, Context& context, bool may_move) {
  void* volatile held[8] = {};
  while (storm.signals < storm.wanted) {
    void* volatile& place = held[context.random.below(8)];
    void* block = place;
    place = nullptr;
    if (block == nullptr) {
      place = take(kSite_jumping, any_size(context.random));
    } else if (may_move && context.random.below(4) == 0) {
      place = via_realloc_b(block, any_size(context.random));
    } else {
      release(block);
    }
  }
}
long run_jumps(Context& context, Does does, unsigned amount) {
  Storm storm;
  storm.does = does;
  storm.wanted = amount;
  storm.random.state = context.random.next();
  t_storm = &storm;
  const Random before = context.random;
  const timer_t timer = start_timer(60000);
  if (timer == nullptr) return -1;
  while (storm.signals < storm.wanted) {
    if (sigsetjmp(storm.target, 1) == 0) {
      storm.may_jump = true;
      allocate_and_be_left(storm, context, does == Does::kJump);
    }
    t_notes = nullptr;
  }
  storm.may_jump = false;
  stop_timer(timer);
  t_storm = nullptr;
  context.random = before;
  return 0;
}

}  // namespace

void prepare_signals() {
  // Before any thread has its stack, so that these lie above.
  for (char*& stack : g_high_stacks) {
    void* mapped = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack = mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
  }
  struct sigaction action = {};
  action.sa_handler = on_storm;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(storm_signal(), &action, nullptr);
  action.sa_handler = on_weather;
  sigaction(SIGALRM, &action, nullptr);
}

long act_storm(Context& context, unsigned amount) { return run_storm(context, Does::kAllocate, amount, 60000); }
long act_storm_on_stack(Context& context, unsigned amount) { return storm_on_stack(context, amount, 0); }
long act_storm_autodisarm(Context& context, unsigned amount) {
  return storm_on_stack(context, amount, static_cast<int>(SS_AUTODISARM));
}
long act_jumps(Context& context, unsigned amount) { return run_jumps(context, Does::kJump, amount); }
long act_jumps_anywhere(Context& context, unsigned amount) { return run_jumps(context, Does::kJumpAnywhere, amount); }
long act_fork_in_handler(Context& context, unsigned amount) { return run_storm(context, Does::kFork, amount, 300000); }
long act_fork_in_handler_return(Context& context, unsigned amount) {
  return run_storm(context, Does::kForkAndReturn, amount, 300000);
}

long act_weather(Context& context, unsigned amount) {
  const itimerval every = {{0, 200}, {0, 200}}, never = {};
  setitimer(ITIMER_REAL, &every, nullptr);
  work_heap(context, amount);
  setitimer(ITIMER_REAL, &never, nullptr);
  return 0;
}

}  // namespace attack
