// tests/targets/stacks/jit_frames.cc: a function that is compiled at run time, without a frame pointer, and described
// to libgcc (__register_frame) as LLVM does. Blocks are allocated below it; an exception is thrown through it; its
// memory is used again, for a function with another frame.
#include "../keep.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

extern "C" void __register_frame(void*);
extern "C" void __deregister_frame(void*);

namespace {

using Compiled = void (*)(void (*)());

constexpr size_t kTableOff = 2048;  // of the page

template <typename T>
uint8_t* put(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

// sub $stack_bytes, %rsp; call *%rdi; add $stack_bytes, %rsp; ret
Compiled compile(uint8_t* page, uint32_t stack_bytes) {
  uint8_t* at = page;
  for (const uint8_t byte : std::initializer_list<uint8_t>{0x48, 0x81, 0xec}) *at++ = byte;
  at = put(at, stack_bytes);
  for (const uint8_t byte : std::initializer_list<uint8_t>{0xff, 0xd7, 0x48, 0x81, 0xc4}) *at++ = byte;
  at = put(at, stack_bytes);
  *at = 0xc3;
  at = page + kTableOff;
  uint8_t* const common = at;
  at = put<uint32_t>(at, 20);
  at = put<uint32_t>(at, 0);
  for (const uint8_t byte :
       std::initializer_list<uint8_t>{1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0})
    *at++ = byte;
  at = put<uint32_t>(at, 24);
  at = put(at, static_cast<uint32_t>(at - common));
  at = put(at, static_cast<int32_t>(page - at));
  at = put<uint32_t>(at, 17);
  const uint32_t cfa = stack_bytes + 8;
  for (const uint8_t byte : std::initializer_list<uint8_t>{0x00, 0x47, 0x0e, static_cast<uint8_t>((cfa & 0x7f) | 0x80),
                                                           static_cast<uint8_t>(cfa >> 7), 0x49, 0x0e, 8})
    *at++ = byte;
  at = put<uint32_t>(at, 0);
  put<uint32_t>(at, 0);
  return reinterpret_cast<Compiled>(page);
}

KEEP_FRAME void raise_error() { throw 7; }

}  // namespace

// With plain names, by which the test asks for them.
extern "C" {
KEEP_FRAME void allocate_first() { keep(std::malloc(1235)); }
KEEP_FRAME void allocate_second() { keep(std::malloc(1236)); }
KEEP_FRAME void allocate_after() { keep(std::malloc(1237)); }
KEEP_FRAME void call_compiled(Compiled compiled, void (*function)(), int times) {
  for (int i = 0; i < times; ++i) compiled(function);
  asm volatile("");
}
}

int main() {
  auto* const page = static_cast<uint8_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (page == MAP_FAILED) return 3;
  int caught = 0;
  call_compiled(compile(page, 0x118), allocate_after, 1);  // not described yet
  __register_frame(page + kTableOff);
  call_compiled(reinterpret_cast<Compiled>(page), allocate_first, 10);
  try {
    call_compiled(reinterpret_cast<Compiled>(page), raise_error, 1);
  } catch (int error) {
    caught += error;
  }
  __deregister_frame(page + kTableOff);
  compile(page, 0x238);
  __register_frame(page + kTableOff);
  call_compiled(reinterpret_cast<Compiled>(page), allocate_second, 10);
  try {
    call_compiled(reinterpret_cast<Compiled>(page), raise_error, 1);
  } catch (int error) {
    caught += error;
  }
  __deregister_frame(page + kTableOff);
  std::printf("%d\n", caught);
  return caught == 14 ? 0 : 1;
}
