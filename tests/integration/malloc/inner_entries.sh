# Code that comes back to a function's entry, or into its first bytes, is left alone, and runs as it does without us.
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
