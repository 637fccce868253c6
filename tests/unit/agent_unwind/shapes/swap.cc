// tests/unit/agent_unwind/shapes/swap.cc: built twice, with frames of different sizes: libraries that replace one
// another.
using Probe = void (*)();

extern "C" [[gnu::noinline]] void swap_inner(Probe probe) {
  char frame[SWAP_FRAME_BYTES];
  asm volatile("" ::"r"(frame) : "memory");
  probe();
  asm volatile("" ::"r"(frame) : "memory");
}

extern "C" void swap_call(Probe probe) {
  swap_inner(probe);
  asm volatile("" ::: "memory");
}
