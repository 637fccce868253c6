// tests/targets/loader/plugins/calls_through.cc: calls what it is given, and once while it is loaded: the loader asks
// an ifunc which function is meant, before anybody can find the library. Compiled by
// integration/loader/replaced_code.sh, with frame pointers.
extern "C" void allocate_early();

extern "C" __attribute__((noinline)) void call_through(void (*callee)()) {
  callee();
  asm volatile("" ::: "memory");  // no tail call
}

static int answer() { return 42; }
extern "C" int (*choose())() {
  call_through(allocate_early);
  return answer;
}
extern "C" int chosen() __attribute__((ifunc("choose")));
int (*use_chosen())() { return chosen; }
