// tests/unit/agent_unwind/stack_use_test.cc: how much of a stranger's stack a walk takes (threads with 16 KiB exist).
#include "tests/unit/agent_unwind/probe.h"
#include "tests/unit/agent_unwind/shapes/shapes.h"

#include <catch2/catch.hpp>
#include <dlfcn.h>

#include <array>
#include <cstring>

extern "C" void special_cfa_in_rbx(void (*callee)());

namespace heapprof::agent::test {

namespace {

constexpr size_t kPaintedBytes = 16384;
constexpr unsigned char kPaint = 0xa5;

// Fills the stack below the caller's frame; and finds, later, how far down it was changed.
[[gnu::noinline]] void paint() {
  unsigned char below[kPaintedBytes];
  memset(below, kPaint, sizeof below);
  asm volatile("" ::"r"(below) : "memory");
}
[[gnu::noinline]] size_t used_bytes() {
  unsigned char below[kPaintedBytes];  // the same place
  asm volatile("" : "+m"(below));
  size_t untouched = 0;
  while (untouched < sizeof below && below[untouched] == kPaint) ++untouched;
  return sizeof below - untouched;
}

UnwindContext* g_context;
size_t g_used_bytes;

[[gnu::noinline]] void measure() {
  const StartFrame start{reinterpret_cast<uint64_t>(__builtin_return_address(0)),
                         reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()),
                         *static_cast<const uint64_t*>(__builtin_frame_address(0))};
  StackDelta delta;
  paint();
  capture_stack(g_context, start, 1, &delta);
  g_used_bytes = used_bytes();
}

}  // namespace

TEST_CASE("a walk takes little of the stack", "[stack_use]") {
  REQUIRE(init_unwinder());
  OwnContext context;
  g_context = context.get();
  std::array<size_t, 4> used{};
  void (*volatile call)() = measure;
#pragma GCC unroll 0  // one place that calls: the program counters are the same each time
  for (size_t& bytes : used) {
    call();
    bytes = g_used_bytes;
  }
  const size_t cold_bytes = used[0];  // every rule is made, every module announced
  const size_t warm_bytes = used[3];
  special_cfa_in_rbx(measure);
  const size_t full_bytes = g_used_bytes;
  INFO("stack use in bytes: warm " << warm_bytes << ", cold " << cold_bytes << ", with all registers " << full_bytes);
  CHECK(warm_bytes > 0);
  CHECK(warm_bytes <= 1024);
  CHECK(cold_bytes <= 3072);
  CHECK(full_bytes <= 3072);
}

}  // namespace heapprof::agent::test
