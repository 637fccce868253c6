// tests/targets/threads/coroutines.cc: coroutines on stacks of their own that allocate in turn, and hand their blocks
// to each other.
//
// usage: coroutines context|handmade COROUTINES ROUNDS      by swapcontext, or by a switch written by hand (as most
// libraries have) Each coroutine's stack has 16 KiB, between pages that may not be touched. Each round of each makes a
// block of 1235 bytes and frees the one that the coroutine before it made; coroutine i allocates i % 7 frames deep.
#include "../keep.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

constexpr size_t kStackBytes = 16 << 10;
constexpr unsigned kMost = 512;

static void* g_block;
static unsigned g_current, g_count;
static ucontext_t g_main_context, g_contexts[kMost];
static void* g_main_sp;
static void* g_sps[kMost];
static bool g_by_hand;

// Pushes what a callee must keep, changes the stack, pops it. rdi: where to leave the old stack pointer; rsi: the new
// one.
extern "C" void switch_stacks(void** old_sp, void* new_sp);
asm(R"(
.text
.type switch_stacks, @function
switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

KEEP_FRAME void* allocate_here(unsigned depth) {
  if (depth > 0) return keep(allocate_here(depth - 1));
  return keep(malloc(1235));
}

static void leave() {
  const unsigned here = g_current;
  if (g_by_hand) {
    switch_stacks(&g_sps[here], g_main_sp);
  } else {
    swapcontext(&g_contexts[here], &g_main_context);
  }
}

KEEP_FRAME void run_coroutine() {
  for (;;) {
    void* block = allocate_here(g_current % 7);
    free(g_block);
    g_block = block;
    leave();
  }
}

KEEP_FRAME static bool make_coroutine(unsigned i) {
  auto* memory = static_cast<char*>(
      mmap(nullptr, kStackBytes + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0));
  if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) != 0) return false;
  if (mprotect(memory + 4096 + kStackBytes, 4096, PROT_NONE) != 0) return false;
  if (g_by_hand) {
    auto* top = reinterpret_cast<void**>(memory + 4096 + kStackBytes);
    *--top = nullptr;  // where run_coroutine would return to
    *--top = reinterpret_cast<void*>(run_coroutine);
    for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
    g_sps[i] = top;
    return true;
  }
  getcontext(&g_contexts[i]);
  g_contexts[i].uc_stack.ss_sp = memory + 4096;
  g_contexts[i].uc_stack.ss_size = kStackBytes;
  makecontext(&g_contexts[i], run_coroutine, 0);
  return true;
}

int main(int argc, char** argv) {
  if (argc != 4) return 98;
  g_by_hand = strcmp(argv[1], "handmade") == 0;
  g_count = static_cast<unsigned>(atoi(argv[2]));
  if (g_count > kMost) return 98;
  for (unsigned i = 0; i < g_count; ++i) {
    if (!make_coroutine(i)) return 97;
  }
  const long rounds = atol(argv[3]);
  for (long round = 0; round < rounds; ++round) {
    for (g_current = 0; g_current < g_count; ++g_current) {
      if (g_by_hand) {
        switch_stacks(&g_main_sp, g_sps[g_current]);
      } else {
        swapcontext(&g_main_context, &g_contexts[g_current]);
      }
    }
  }
  free(g_block);
  return 0;
}
