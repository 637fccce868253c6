// tests/targets/torch/torch_locked.cc: allocates below a function of PyTorch's that holds its lock, through a function
// that no unwind table describes: the stack ends there, and the library's frames are not seen. Whoever asks the library
// for its operators then waits for itself.
// Prints "asked outside" if it was asked later, as it may be.
#include "tests/fake_torch/fake_torch.h"

#include <cstdio>
#include <cstdlib>

// Calls the function that it is given.
asm(R"(
  .text
  .globl undescribed
undescribed:
  push %rbx
  sub $64, %rsp
  call *%rdi
  add $64, %rsp
  pop %rbx
  ret
)");
extern "C" void undescribed(void (*function)());

int main() {
  for (int i = 0; i < 3; ++i) at::call_locked([] { undescribed([] { std::free(std::malloc(33)); }); });
  if (at::count_callbacks() != 0) return 1;
  std::free(std::malloc(1));
  std::puts(at::count_callbacks() == 3 ? "asked outside" : "not asked");
}
