// tests/targets/attack/parts/threads.cc: threads that come and go, are cancelled, and stacks of the attacker's own.
#include "../../keep.h"
#include "action.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace attack {

namespace {
constexpr uint32_t kThreadSites[] = {kSite_thread_a, kSite_thread_b};
constexpr uint32_t kStormSites[] = {kSite_storm_a, kSite_storm_b};

pthread_key_t g_key;
pthread_once_t g_key_once = PTHREAD_ONCE_INIT;
// Destructors of a thread's values run after nearly everything of it is gone.
void free_at_thread_end(void* block) {
  release(block);
  release(take(kSite_exiting, 100));
}
void make_key() { pthread_key_create(&g_key, free_at_thread_end); }

void* live_shortly(void* argument) {
  Context context = {};
  context.random.state = reinterpret_cast<uint64_t>(argument);
  work(context, 1 + context.random.below(30), kStormSites, 2);
  pthread_setspecific(g_key, take(kSite_thread_a, 200));
  if (context.random.below(3) == 0) pthread_exit(nullptr);
  work(context, context.random.below(30), kThreadSites, 2);
  return nullptr;
}
}  // namespace

long act_thread_storm(Context& context, unsigned amount) {
  pthread_once(&g_key_once, make_key);
  pthread_t threads[8];
  for (unsigned made = 0; made < amount; made += 8) {
    const unsigned now = amount - made < 8 ? amount - made : 8;
    for (unsigned i = 0; i < now; ++i)
      if (pthread_create(&threads[i], nullptr, live_shortly, reinterpret_cast<void*>(context.random.next())) != 0)
        return -1;
    work_heap(context, 4);
    for (unsigned i = 0; i < now; ++i) pthread_join(threads[i], nullptr);
  }
  return 0;
}

namespace {
void release_at_cancel(void* block) { release(block); }
void* live_until_cancelled(void* argument) {
  Context context = {};
  context.random.state = reinterpret_cast<uint64_t>(argument);
  for (;;) {
    void* block = take(kSite_cancelled, any_size(context.random));
    pthread_cleanup_push(release_at_cancel, block);
    pthread_testcancel();
    pthread_cleanup_pop(1);
  }
}
}  // namespace
long act_cancel(Context& context, unsigned amount) {
  long cancelled = 0;
  for (unsigned i = 0; i < amount; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, live_until_cancelled, reinterpret_cast<void*>(context.random.next())) != 0)
      return -1;
    work_heap(context, 10);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  return cancelled;
}

// ---- coroutines ----

namespace {
constexpr size_t kStackBytes = 96 << 10;
struct Coroutine {
  ucontext_t here, back;
  Context* context;
  void* stack;
  unsigned rounds;
};
constexpr uint32_t kCoroutineSites[] = {kSite_coroutine_a, kSite_coroutine_b};

void run_coroutine(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Coroutine*>(static_cast<uintptr_t>(high) << 32 | low);
  for (unsigned i = 0; i < self->rounds; ++i) {
    work(*self->context, 4, kCoroutineSites, 2);
    swapcontext(&self->here, &self->back);
  }
}
}  // namespace

long act_coroutines(Context& context, unsigned amount) {
  static thread_local Coroutine coroutines[12];
  Random lengths = {context.random.next()};  // not drawn by what the coroutines do, which depends on the pool
  excuse(kExcuseStacks);                     // what makecontext's function returns to is described by nothing
  for (unsigned i = 0; i < amount; ++i) {
    Coroutine& one = coroutines[i];
    one.stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (one.stack == MAP_FAILED) return -1;
    one.context = &context;
    one.rounds = 1 + lengths.below(6);
    getcontext(&one.here);
    one.here.uc_stack.ss_sp = one.stack;
    one.here.uc_stack.ss_size = kStackBytes;
    one.here.uc_link = &one.back;
    const auto self = reinterpret_cast<uintptr_t>(&one);
    makecontext(&one.here, reinterpret_cast<void (*)()>(run_coroutine), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
  }
  long switches = 0;
  for (unsigned round = 0; round < 6; ++round) {
    for (unsigned i = 0; i < amount; ++i) {
      Coroutine& one = coroutines[i];
      if (one.stack == nullptr || round > one.rounds) continue;
      swapcontext(&one.back, &one.here);
      ++switches;
      // Some never come to their end: their stacks go while they wait.
      if (round == one.rounds || lengths.below(8) == 0) {
        munmap(one.stack, kStackBytes);
        one.stack = nullptr;
      }
    }
  }
  for (unsigned i = 0; i < amount; ++i)
    if (coroutines[i].stack != nullptr) munmap(coroutines[i].stack, kStackBytes);
  return switches;
}

// ---- ends ----

namespace {
void* live_on(void* argument) {
  Context context = {};
  context.random.state = reinterpret_cast<uint64_t>(argument);
  for (;;) work(context, 100, kThreadSites, 2);
}
long start_busy(Context& context, unsigned amount) {
  excuse(kExcuseKilled);
  for (unsigned i = 0; i < amount; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, live_on, reinterpret_cast<void*>(context.random.next())) != 0) return -1;
  }
  work_heap(context, 2000);
  return 0;
}
}  // namespace

long act_end_return(Context&, unsigned) { return 0; }
long act_end_exit(Context& context, unsigned) {
  work_heap(context, 5);
  exit(41);
}
long act_end_underscore(Context& context, unsigned) {
  work_heap(context, 5);
  _exit(42);
}
long act_end_killed(Context& context, unsigned) {
  work_heap(context, 5);
  kill(getpid(), SIGKILL);
  return -1;
}
long act_end_abort(Context& context, unsigned) {
  work_heap(context, 5);
  abort();
}
long act_end_killed_busy(Context& context, unsigned amount) {
  if (start_busy(context, amount) != 0) return -1;
  kill(getpid(), SIGKILL);
  return -1;
}
long act_end_exit_busy(Context& context, unsigned amount) {
  if (start_busy(context, amount) != 0) return -1;
  _exit(43);
}

}  // namespace attack
