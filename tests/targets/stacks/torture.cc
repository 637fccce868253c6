// tests/targets/stacks/torture.cc: allocates from every kind of frame that an unwinder has trouble with.
//
// usage: torture ROUNDS      prints the number of allocations by malloc that it made itself
// Built at several levels of optimization by two compilers (torture.cmake); heapprof run --verify-stacks compares every
// stack with libunwind's.
#include "../keep.h"

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

volatile uint64_t g_made;

KEEP_FRAME void allocate(size_t size_bytes) {
  void* block = keep(malloc(size_bytes));
  __atomic_fetch_add(&g_made, 1, __ATOMIC_RELAXED);
  free(block);
}

// ---- exceptions: thrown through frames with clean-up, caught far out ----

struct AllocatesAtEnd {
  KEEP_FRAME ~AllocatesAtEnd() { allocate(31); }
};

KEEP_FRAME void throw_from(int depth) {
  AllocatesAtEnd guard;
  keep(&guard);
  if (depth == 0) throw std::runtime_error(std::string(100, 'e'));
  throw_from(depth - 1);
  keep(nullptr);
}

KEEP_FRAME void try_exceptions(int round) {
  try {
    throw_from(round % 13);
  } catch (const std::runtime_error& error) {
    allocate(strlen(error.what()));
    try {
      throw;
    } catch (...) {
      allocate(33);
    }
  }
  allocate(35);
}

// ---- longjmp out of nested calls ----

jmp_buf g_back;

KEEP_FRAME void jump_from(int depth) {
  if (depth < 0) return;
  allocate(37);
  if (depth == 0) longjmp(g_back, 1);
  jump_from(depth - 1);
  keep(nullptr);
}

KEEP_FRAME void try_longjmp(int round) {
  if (setjmp(g_back) == 0) jump_from(round % 17);
  allocate(39);
}

// ---- frames of unusual shape ----

KEEP_FRAME void try_alloca(size_t size_bytes) {
  char* space = static_cast<char*>(alloca(size_bytes));
  memset(space, 1, size_bytes);
  keep(space);
  allocate(41);
  if (size_bytes > 64) try_alloca(size_bytes / 2);
  keep(space);
}

KEEP_FRAME void try_aligned(int depth) {
  alignas(256) char wide[512];
  memset(wide, 2, sizeof(wide));
  keep(wide);
  allocate(43);
  if (depth > 0) try_aligned(depth - 1);
  keep(wide);
}

KEEP_FRAME void try_both(int depth, size_t size_bytes) {
  alignas(128) char wide[128];
  char* space = static_cast<char*>(alloca(size_bytes + 1));
  keep(wide), keep(space);
  allocate(45);
  if (depth > 0) try_both(depth - 1, size_bytes * 3 % 999);
  keep(wide), keep(space);
}

// Many arguments on the stack, each call with another number of them.
KEEP_FRAME void take_many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
  allocate(static_cast<size_t>(a + b + c + d + e + f + g + h + i + j) % 900);
  if (a > 0) take_many(a - 1, j, b, c, d, e, f, g, h, i);
  keep(nullptr);
}

KEEP_FRAME long count_down(long n) { return n == 0 ? (allocate(47), 1) : count_down(n - 1) + 1; }

// ---- called back by libc ----

KEEP_FRAME int compare(const void* left, const void* right) {
  allocate(49);
  int a = *static_cast<const int*>(left), b = *static_cast<const int*>(right);
  return (a > b) - (a < b);
}

KEEP_FRAME void try_callbacks(int round) {
  int numbers[40];
  for (int i = 0; i < 40; ++i) numbers[i] = (i * 17 + round) % 41;
  qsort(numbers, 40, sizeof(int), compare);
  int key = 7;
  bsearch(&key, numbers, 40, sizeof(int), compare);
}

// ---- other stacks ----

ucontext_t g_main_context, g_coroutine;

KEEP_FRAME void run_coroutine() {
  for (;;) {
    allocate(51);
    count_down(3);
    swapcontext(&g_coroutine, &g_main_context);
  }
}

KEEP_FRAME void try_coroutine(void* stack, size_t stack_bytes, int round) {
  getcontext(&g_coroutine);
  g_coroutine.uc_stack.ss_sp = stack;
  g_coroutine.uc_stack.ss_size = stack_bytes;
  g_coroutine.uc_link = nullptr;
  makecontext(&g_coroutine, run_coroutine, 0);
  for (int i = 0; i < 3 + round % 3; ++i) {
    swapcontext(&g_main_context, &g_coroutine);
    allocate(53);
  }
}

// ---- signals, raised where no allocator is at work, so that a handler may allocate ----

volatile int g_depth_in_handler;

KEEP_FRAME void handle(int signal) {
  allocate(55);
  count_down(5);
  if (signal == SIGUSR1 && g_depth_in_handler < 3) {
    g_depth_in_handler = g_depth_in_handler + 1;
    raise(SIGUSR2);
    g_depth_in_handler = g_depth_in_handler - 1;
  }
}

sigjmp_buf g_out_of_handler;
KEEP_FRAME void handle_and_jump(int) {
  allocate(57);
  siglongjmp(g_out_of_handler, 1);
}

int* volatile g_nowhere;
KEEP_FRAME void crash_here() { *g_nowhere = 1; }

KEEP_FRAME void try_signals() {
  count_down(2);
  raise(SIGUSR1);
  raise(SIGUSR2);
  if (sigsetjmp(g_out_of_handler, 1) == 0) crash_here();
  if (sigsetjmp(g_out_of_handler, 1) == 0) raise(SIGBUS);
  allocate(59);
}

void install(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

struct Lambdas {
  template <typename Function>
  KEEP_FRAME static void call_twice(const Function& function) {
    function(1);
    function(2);
    keep(nullptr);
  }
};

void run_round(int round, void* stack, size_t stack_bytes) {
  try_exceptions(round);
  try_longjmp(round);
  try_alloca(static_cast<size_t>(round % 7) * 300 + 70);
  try_aligned(round % 9);
  try_both(round % 6, static_cast<size_t>(round) % 700);
  take_many(round % 5, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  count_down(round % 200);
  try_callbacks(round);
  try_coroutine(stack, stack_bytes, round);
  try_signals();
  Lambdas::call_twice(
      [round](int n) { Lambdas::call_twice([=](int m) { allocate(static_cast<size_t>(round % 5 * n * m) + 61); }); });
}

void* run_thread(void* argument) {
  auto rounds = static_cast<int>(reinterpret_cast<intptr_t>(argument));
  for (int round = 0; round < rounds; ++round) {
    try_exceptions(round);
    try_alloca(200);
    try_aligned(round % 4);
    try_both(round % 5, 77);
    count_down(round % 50);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 98;
  int rounds = atoi(argv[1]);
  constexpr size_t kStackBytes = 256 << 10;
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* other = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack_t alternate = {};
  alternate.ss_sp = other;
  alternate.ss_size = kStackBytes;
  sigaltstack(&alternate, nullptr);
  install(SIGUSR1, handle, 0);
  install(SIGUSR2, handle, SA_ONSTACK);
  install(SIGSEGV, handle_and_jump, SA_ONSTACK);
  install(SIGBUS, handle_and_jump, 0);
  pthread_t threads[3];
  for (auto& thread : threads) pthread_create(&thread, nullptr, run_thread, reinterpret_cast<void*>(intptr_t{rounds}));
  for (int round = 0; round < rounds; ++round) run_round(round, stack, kStackBytes);
  for (auto& thread : threads) pthread_join(thread, nullptr);
  printf("%lu\n", static_cast<unsigned long>(g_made));
  return 0;
}
