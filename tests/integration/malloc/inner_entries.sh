# Code that comes back to a function's entry, or into its first bytes, is left alone, and runs as it does without us.
# A call of the allocator's own counts once, whatever form it has, also where it was among a function's first bytes.
have gcc || skip "gcc is not installed"
cat >entries.c <<'C'
#include <stdio.h>
static char pool[1 << 20] __attribute__((aligned(16)));
static unsigned long top;
unsigned long frees, rounds;
__attribute__((noipa)) void* malloc(unsigned long n) { void* p = pool + top; top += (n + 31) & ~31ul; return p; }
#ifdef ENTRY  // a loop whose first instruction is the function's
__asm__(".text\n.globl free\n.type free, @function\nfree:\n cmpq $3, rounds(%rip)\n jae 1f\n incq rounds(%rip)\n jmp free\n"
        "1:\n movq $0, rounds(%rip)\n incq frees(%rip)\n ret\n.size free, . - free\n");
#elif defined MIDDLE  // another function enters behind the first instruction
__asm__(".text\n.globl free\n.type free, @function\nfree:\n xorl %eax, %eax\nfree_known:\n incq frees(%rip)\n ret\n.size free, . - free\n"
        ".globl give\n.type give, @function\ngive:\n jmp free_known\n.size give, . - give\n");
#else  // a table leads back
__asm__(".text\n.globl free\n.type free, @function\nfree:\n incq rounds(%rip)\n leaq table(%rip), %rdx\n movq rounds(%rip), %rax\n"
        " andq $3, %rax\n movslq (%rdx,%rax,4), %rax\n addq %rdx, %rax\n jmp *%rax\n1:\n incq frees(%rip)\n ret\n.size free, . - free\n"
        ".section .rodata\n.balign 4\ntable: .long 1b - table, free - table, free - table, free - table\n.text\n");
#endif
void free(void* p);
#ifdef MIDDLE
void give(void* p);
#else
#define give free
#endif
int main(void) {
  for (int i = 0; i < 100; ++i) give(malloc(37));
  char text[64];
  int length = snprintf(text, sizeof text, "%lu %lu\n", frees, rounds);
  fwrite(text, 1, (unsigned long)length, stdout);
  return 7;
}
C
for way in ENTRY MIDDLE TABLE; do
  for kind in "" "-no-pie"; do
    gcc -g -O2 -fno-builtin -w -D$way $kind entries.c -o entries || fail "$way"
    expect_status 7 ./entries
    cp out.txt alone.txt
    expect_status 7 "$HEAPPROF_BIN" run -o profile.json -- ./entries
    diff alone.txt out.txt >&2 || fail "$way: another result"
    expect_in err.txt "[HP310]"
    case $way in
      ENTRY) expect_said err.txt "free has a branch back to its entry" ;;
      MIDDLE) expect_said err.txt "free has a branch into its first bytes" ;;
      TABLE) expect_said err.txt "free jumps to its first bytes by a table" ;;
    esac
  done
done

# ---- Calls of itself ----
cat >calls.c <<'C'
// Functions that call malloc in ways that differ. Each takes a size first.
#include <stddef.h>
#include <string.h>
#define WHOLE __attribute__((noipa))
static _Alignas(16) char pool[8 << 20];
static size_t used;
WHOLE void* malloc(size_t n) { char* p = pool + used + 16; used += (n + 47) & ~15ul; ((size_t*)p)[-1] = n; return p; }
WHOLE void free(void* p) { if (p) ((size_t*)p)[-1] = 0; }
WHOLE void* calloc(size_t m, size_t n) { return memset(malloc(m * n), 0, m * n); }
WHOLE void* realloc(void* p, size_t n) { void* q = malloc(n); if (p) memcpy(q, p, ((size_t*)p)[-1] < n ? ((size_t*)p)[-1] : n); return q; }
#define EACH(X) \
  X(first, valloc, "call malloc\n ret") \
  X(push, pvalloc, "push %rbx\n call malloc\n pop %rbx\n ret") \
  X(sub, __libc_malloc, "sub $8, %rsp\n call malloc\n add $8, %rsp\n ret") \
  X(endbr, __libc_valloc, "endbr64\n sub $8, %rsp\n call malloc\n add $8, %rsp\n ret") \
  X(later, __libc_pvalloc, "sub $24, %rsp\n mov %rdi, (%rsp)\n call malloc\n add $24, %rsp\n ret") \
  X(jump, _Znwm, "jmp malloc") \
  X(condition, _Znam, "test %rdi, %rdi\n jne malloc\n ud2") \
  X(slot, _ZnwmRKSt9nothrow_t, "push %rbx\n mov %rdi, %rbx\n mov %rbx, %rdi\n call *slot(%rip)\n pop %rbx\n ret") \
  X(moved_slot, _ZnamRKSt9nothrow_t, "push %rbx\n call *slot(%rip)\n pop %rbx\n ret") \
  X(register, _ZnwmSt11align_val_t, "push %rbx\n lea malloc(%rip), %rax\n call *%rax\n pop %rbx\n ret") \
  X(kept_register, _ZnamSt11align_val_t, "push %r12\n lea malloc(%rip), %r12\n call *%r12\n pop %r12\n ret") \
  X(stub, _ZnwmSt11align_val_tRKSt9nothrow_t, "push %rbx\n call stub\n pop %rbx\n ret") \
  X(cold, _ZnamSt11align_val_tRKSt9nothrow_t, "test %rdi, %rdi\n jne part.cold\n ud2")
#define DEFINE(id, name, text) \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n " text "\n.size " #name ", . - " #name "\n.balign 16\n");
EACH(DEFINE)
// As a PLT has it; it has no symbol that names a function.
__asm__(".data\nslot: .quad malloc\n.text\n.balign 64\n nopw (%rax)\n.balign 16\nstub: endbr64\n bnd jmp *slot(%rip)\n.balign 16\n");
__asm__(".section .text.unlikely,\"ax\"\n.type part.cold, @function\npart.cold: push %rbx\n call malloc\n pop %rbx\n ret\n.size part.cold, . - part.cold\n.text\n");
// What a handler allocates is the program's, also where it ends with a jump to malloc.
WHOLE void* handle(void) { return malloc(77); }
void* (*handlers[])(void) = {handle, handle, handle};
__asm__(".globl __libc_calloc\n.type __libc_calloc, @function\n__libc_calloc:\n .cfi_startproc\n push %rbx\n .cfi_adjust_cfa_offset 8\n mov %rdi, %rbx\n imul %rsi, %rbx\n"
        " call *handlers(%rip)\n mov handlers+8(%rip), %rax\n call *%rax\n push %r12\n .cfi_adjust_cfa_offset 8\n mov handlers+16(%rip), %r12\n call *%r12\n"
        " mov %rbx, %rdi\n call malloc\n pop %r12\n .cfi_adjust_cfa_offset -8\n pop %rbx\n .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n.size __libc_calloc, . - __libc_calloc\n");
void* __libc_calloc(size_t count, size_t size);
#define DECLARE(id, name, text) void* name(size_t);
EACH(DECLARE)
#define USE(id, name, text) \
  WHOLE void use_by_##id(void) { for (int i = 0; i < 10; ++i) { void* volatile p = name(1235); if (i % 2) free(p); } }
EACH(USE)
WHOLE void use_handler(void) { for (int i = 0; i < 10; ++i) { void* volatile p = __libc_calloc(1235, 1); if (i % 2) free(p); } }
#define CALL(id, name, text) use_by_##id();
int main(void) { EACH(CALL) use_handler(); return 7; }
C
gcc -g -O2 -fno-builtin -w calls.c -o calls || fail "calls"
profile ./calls
expect_eq "exit status of calls" "$status" 7
expect_complete
for form in first push sub endbr later jump condition slot moved_slot register kept_register stub cold; do
  expect_sum "^use_by_$form\\b" "12350 10 6175 5"
done
expect_sum '^use_handler' "14660 40 8485 35"
expect_eq "allocations of calls" "$(counter allocations_count)" 170

# libstdc++ inside the executable: nothrow new calls the other one. There is no aligned_alloc: libc's is called, through
# the agent's hook, and counts as operator new.
have g++ || skip "g++ is not installed"
cat >least.cc <<'C'
#include <new>
#include <string.h>
#define WHOLE __attribute__((noipa, visibility("default")))
static char pool[8 << 20] __attribute__((aligned(16)));
static size_t used;
extern "C" {
WHOLE void* malloc(size_t n) { char* p = pool + used + 16; used += (n + 47) & ~15ul; ((size_t*)p)[-1] = n; return p; }
WHOLE void free(void* p) { if (p > pool && p < pool + sizeof pool) ((size_t*)p)[-1] = 0; }
WHOLE void* calloc(size_t m, size_t n) { return memset(malloc(m * n), 0, m * n); }
WHOLE void* realloc(void* p, size_t n) { void* q = malloc(n); if (p) memcpy(q, p, ((size_t*)p)[-1] < n ? ((size_t*)p)[-1] : n); return q; }
}
using Alignment = std::align_val_t;
#define USE(name, ...) \
  WHOLE void use_##name() { for (int i = 0; i < 10; ++i) { void* p = __VA_ARGS__; if (i % 2) operator delete(p); } }
USE(new, operator new(1235))
USE(nothrow, operator new(1235, std::nothrow))
USE(array, operator new[](1235, std::nothrow))
USE(aligned, operator new(1235, Alignment(64)))
USE(aligned_nothrow, operator new[](1235, Alignment(64), std::nothrow))
int main() { use_new(); use_nothrow(); use_array(); use_aligned(); use_aligned_nothrow(); return 7; }
C
g++ -std=c++17 -g -O1 -fno-builtin -w least.cc -o least -static-libstdc++ || fail "least"
profile ./least
expect_eq "exit status of least" "$status" 7
expect_complete
for function in new nothrow array aligned aligned_nothrow; do
  expect_sum "^use_$function\\(" "12350 10 6175 5"
done
expect_eq "allocations of least, and libstdc++'s one" "$(counter allocations_count)" 51
