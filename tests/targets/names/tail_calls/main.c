// tests/targets/names/tail_calls/main.c: functions whose last deed is a call, so that they are in no stack at -O2. The
// script compiles it, with far.c, in many ways. Every leaf_NAME is called for NAME alone.
#include "calls.h"

#include <stdlib.h>
#include <string.h>

volatile int choice = 0;
void* (*volatile pointer)(int);
static void* volatile kept[64];
static int count;

void* keep_one(void* block) {
  kept[count++] = block;
  return block;
}

LEAF(one)
LEFT void* left_one(int n) { return leaf_one(n + 1); }  // mark: left_one
CALLER(one) { CALL(left_one(n)); }

LEAF(two)
static LEFT void* left_two_inner(int n) { return leaf_two(n + 1); }
LEFT void* left_two_outer(int n) { return left_two_inner(n * 3); }
CALLER(two) { CALL(left_two_outer(n)); }

// Two ways lead to the leaf.
LEAF(fork)
LEFT void* fork_a(int n) { return leaf_fork(n + 1); }
LEFT void* fork_b(int n) { return leaf_fork(n * 3); }
LEFT void* fork_both(int n) { return choice == 7 ? fork_a(n) : fork_b(n); }
CALLER(fork) { CALL(fork_both(n)); }

// Nobody knows where a pointer leads to: here it is the leaf, below it could be.
LEAF(indirect)
LEFT void* left_indirect(int n) { return pointer(n + 1); }
CALLER(indirect) {
  pointer = leaf_indirect;
  CALL(left_indirect(n));
}

LEAF(beside)
LEFT void* left_beside(int n) { return choice == 7 ? pointer(n) : leaf_beside(n + 1); }
CALLER(beside) { CALL(left_beside(n)); }

// How often it went round is not known.
LEAF(round)
LEFT void* round_odd(int n);
LEFT void* round_even(int n) { return n < 8 ? leaf_round(n + 1) : round_odd(n - 3); }
LEFT void* round_odd(int n) { return round_even(n - choice - 1); }
CALLER(round) { CALL(round_even(n)); }

// A jump to oneself is a loop.
LEAF(itself)
LEFT void* left_itself(int n) { return n > 800 ? left_itself(n - 3 - choice) : leaf_itself(n + 1); }
CALLER(itself) { CALL(left_itself(n)); }

// The call is in an inlined function, the jump in another.
LEAF(inlined)
INLINED void* jump_inlined(int n) { return leaf_inlined(n * 3); }
LEFT void* left_inlined(int n) { return jump_inlined(n + 1); }
INLINED void call_inlined(int n) { CALL(left_inlined(n + 1)); }
CALLER(inlined_all) { call_inlined(n); }

// Several jumps to one function.
LEAF(several)
LEFT void* left_several(int n) {
  if (choice == 7) {
    BARRIER("nop");
    return leaf_several(n + 1);
  }
  BARRIER("nop; nop");
  return leaf_several(n * 3);
}
CALLER(several) { CALL(left_several(n)); }

// What frees leads nowhere.
LEAF(freeing)
LEFT void left_freeing(void* block, int n) {
  if (choice == 7) {
    free(block);
    return;
  }
  leaf_freeing(n + 1);
}
CALLER(freeing) {
  left_freeing(NULL, n);
  BARRIER("");
}

// Of other modules' functions it is not known what they lead to.
LEAF(other)
LEFT void* left_other(int n) { return choice == 7 ? strdup("other") : leaf_other(n + 1); }
CALLER(other) { CALL(left_other(n)); }

// Through another file and back.
LEAF(back)
LEFT void* left_back(int n) { return leaf_back(n + 1); }
CALLER(far) { CALL(left_far(n)); }
CALLER(back) { CALL(far_to_back(n)); }

// The frame that is missing is the innermost.
LEFT void* wrap(int n) { return malloc((size_t)n + 1); }  // mark: wrap
LEFT void* wrap_twice(int n) { return wrap(n * 3); }
CALLER(wrap) { CALL(keep_one(wrap(n))); }
CALLER(wrap_twice) { CALL(keep_one(wrap_twice(n))); }
LEFT void* wrap_any(int n) { return choice == 7 ? calloc((size_t)n, 1) : malloc((size_t)n + 1); }
CALLER(wrap_any) { CALL(keep_one(wrap_any(n))); }
LEFT void* wrap_other(int n) { return choice == 7 ? strdup("other") : malloc((size_t)n + 1); }
CALLER(wrap_other) { CALL(keep_one(wrap_other(n))); }

// A function that is called at the end of its caller, and does not return there.
__attribute__((noreturn)) LEFT void leaf_last(int n) {
  keep_one(malloc((size_t)n));
  exit(count == 0);
}
__attribute__((noreturn)) LEFT void left_last(int n) { leaf_last(n + 1); }

int main(void) {
  call_one(101);
  call_two(201);
  call_fork(301);
  call_indirect(401);
  call_beside(501);
  call_round(601);
  call_itself(901);
  call_inlined_all(1001);
  call_several(1101);
  call_freeing(1201);
  call_other(1301);
  call_far(1401);
  call_back(1501);
  call_wrap(1601);
  call_wrap_twice(1701);
  call_wrap_any(1801);
  call_wrap_other(1901);
  left_last(2001);
}
