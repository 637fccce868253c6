// cli/arch/x86_64/nvml/start.cc: where the kernel starts heapprof-nvml. It calls run_heapprof_nvml with the stack
// pointer (cli/nvml/main.cc).
asm(R"(
  .globl _start
  .type _start, @function
_start:
  xor %ebp, %ebp
  mov %rsp, %rdi
  and $-16, %rsp
  call run_heapprof_nvml
  hlt
)");
