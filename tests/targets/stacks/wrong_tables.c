// tests/targets/stacks/wrong_tables.c: functions whose unwind tables are wrong call malloc: a CFA far above the stack's
// end, one below it, one in a register that holds anything, a saved rbp where nothing is mapped. The program itself
// never unwinds, so that natively nothing is amiss. Prints "done".
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define WRONG(name, cfi)                                                                                             \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name                                              \
          ":\n.cfi_startproc\npushq %rbp\n"                                                                          \
          "movq $0x7ffff8, %rbp\n" cfi "\nmovl $1235, %edi\ncall malloc\npopq %rbp\nret\n.cfi_endproc\n.size " #name \
          ", .-" #name "\n");                                                                                        \
  void* name(void)

WRONG(far_above, ".cfi_def_cfa %rsp, 60000000");
WRONG(one_page_above, ".cfi_def_cfa %rsp, 9000000");
WRONG(largest, ".cfi_def_cfa %rsp, 67108856");
WRONG(by_data, ".cfi_def_cfa %rbp, 16");
WRONG(bp_elsewhere, ".cfi_def_cfa %rsp, 16\n.cfi_offset %rbp, -1016");
WRONG(by_expression, ".cfi_escape 0x0f, 0x05, 0x77, 0x80, 0x80, 0x80, 0x10");  // cfa = rsp + 32 MiB
WRONG(by_memory, ".cfi_escape 0x0f, 0x05, 0x76, 0x80, 0x80, 0x02, 0x06");      // cfa = *(rbp + 32768)

static void* call_all(void* unused) {
  for (int i = 0; i < 3; ++i) {
    void* (*const functions[])(void) = {far_above,    one_page_above, largest,  by_data,
                                        bp_elsewhere, by_expression,  by_memory};
    for (unsigned j = 0; j < sizeof functions / sizeof *functions; ++j) free(functions[j]());
  }
  return unused;
}

int main(void) {
  call_all(NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, call_all, NULL);
  pthread_join(thread, NULL);
  puts("done");
  return 0;
}
