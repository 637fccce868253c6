// tests/targets/stacks/go_calls.cc: functions as Go compiles them (frame pointers, no tables, a stack of their own)
// call C as Go does, by an asmcgocall that keeps where it came from on the thread's stack: as before Go 1.21, and
// since.
#include "../keep.h"

#include <cstdint>
#include <cstdlib>

// GO_FUNCTION(name, instructions)
#define GO_FUNCTION(name, instructions) \
  ".globl " name "\n.type " name ", @function\n" name ":\n" instructions ".size " name ", . - " name "\n"
#define GO_CALLS(name, callee) \
  GO_FUNCTION(name, "push %rbp\n mov %rsp, %rbp\n sub $32, %rsp\n call " callee "\n leave\n ret\n")
// rcx: g; r10: a place on the thread's stack; rdi: the function of C.
#define GO_ASMCGOCALL(name, bytes, g_at, distance_at)                                                           \
  GO_FUNCTION(name, "mov %rsp, %rdx\n mov %r10, %rsp\n sub $" bytes ", %rsp\n and $~15, %rsp\n mov %rcx, " g_at \
                    "(%rsp)\n mov 8(%rcx), %r8\n sub %rdx, %r8\n mov %r8, " distance_at                         \
                    "(%rsp)\n mov %rdi, %rax\n call *%rax\n mov " g_at                                          \
                    "(%rsp), %rdi\n mov 8(%rdi), %rsi\n sub " distance_at "(%rsp), %rsi\n mov %rsi, %rsp\n ret\n")

asm(".text\n" GO_CALLS("go_main", "go_load") GO_CALLS("go_load", "go_cgocall") GO_CALLS("go_cgocall", "go_asmcgocall")
        GO_ASMCGOCALL("go_asmcgocall", "64", "48", "40") GO_CALLS("go_main_now", "go_load_now")
            GO_CALLS("go_load_now", "go_cgocall_now") GO_CALLS("go_cgocall_now", "go_asmcgocall_now")
                GO_ASMCGOCALL("go_asmcgocall_now", "16", "8", "")
    // rdi: the function of C; rsi: g; rdx: Go's function, which begins at the end of g's stack, with no frame pointer.
    GO_FUNCTION("begin_goroutine",
                "push %rbp\n push %rbx\n sub $8, %rsp\n mov %rsp, %r10\n mov %rsi, %rcx\n mov 8(%rsi), %rsp\n"
                " sub $16, %rsp\n mov %r10, (%rsp)\n xor %ebp, %ebp\n call *%rdx\n mov (%rsp), %rsp\n"
                " add $8, %rsp\n pop %rbx\n pop %rbp\n ret\n"));

struct Goroutine {
  uint64_t start_avma;
  uint64_t end_avma;
};

extern "C" {
void begin_goroutine(void (*function)(), Goroutine* g, void (*go_function)());
void go_main();
void go_main_now();

KEEP_FRAME void allocate_first() { keep(malloc(1235)); }
KEEP_FRAME void allocate_second() { keep(malloc(1236)); }
}

int main() {
  constexpr size_t kStackBytes = 64 << 10;
  void* const stack = aligned_alloc(4096, kStackBytes);
  Goroutine g{reinterpret_cast<uint64_t>(stack), reinterpret_cast<uint64_t>(stack) + kStackBytes};
  for (int i = 0; i < 10; ++i) {
    begin_goroutine(allocate_first, &g, go_main);
    begin_goroutine(allocate_second, &g, go_main_now);
  }
  free(stack);
  return 0;
}
