// cli/arch/aarch64/nvml/start.cc: where the kernel starts heapprof-nvml. It calls run_heapprof_nvml with the stack
// pointer (cli/nvml/main.cc).
asm(R"(
  .globl _start
  .type _start, %function
_start:
  mov x29, #0
  mov x30, #0
  mov x0, sp
  bl run_heapprof_nvml
  brk #1000
)");
