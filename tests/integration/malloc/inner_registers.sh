# An allocator inside the executable may be called by code that knows which registers it leaves alone (-fipa-ra): its
# hooks change none that it does not change itself, vector registers, x87 and MXCSR included, on any stack.
for tool in gcc jq; do have $tool || skip "$tool is not installed"; done
cat >registers.c <<'C'
#include <stdio.h>
#include <string.h>
// Functions that change rax alone.
__asm__(".bss\n.balign 64\npool: .zero 4194304\n.data\ntop: .quad pool\nfrees: .quad 0\n.text\n"
        ".globl malloc\n.type malloc, @function\nmalloc:\n movq top(%rip), %rax\n addq %rdi, top(%rip)\n"
        " addq $31, top(%rip)\n andq $-32, top(%rip)\n ret\n.size malloc, . - malloc\n"
        ".globl free\n.type free, @function\nfree:\n incq frees(%rip)\n ret\n.size free, . - free\n");
enum { kWords = 8, kVectors = 16 };
struct state { unsigned long words[kWords]; unsigned char vectors[kVectors][32]; unsigned int mxcsr; unsigned int top; double x87; void* block; };
// Loads rdi, rsi, rdx, rcx, r8 to r11, vectors, MXCSR and x87, calls malloc, stores them. is_odd: the stack is not aligned.
void probe(const struct state* in, struct state* out, long is_odd, long has_avx);
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define LOAD(n) " movdqu 64+32*" #n "(%rbx), %xmm" #n "\n"
#define STORE(n) " movdqu %xmm" #n ", 64+32*" #n "(%r12)\n"
#define LOAD_WIDE(n) " vmovdqu 64+32*" #n "(%rbx), %ymm" #n "\n"
#define STORE_WIDE(n) " vmovdqu %ymm" #n ", 64+32*" #n "(%r12)\n"
__asm__(".globl probe\n.type probe, @function\nprobe:\n .cfi_startproc\n pushq %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"
        " movq %rsp, %rbp\n .cfi_def_cfa_register %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n"
        " movq %rdi, %rbx\n movq %rsi, %r12\n movq %rcx, %r13\n leaq 0(,%rdx,8), %r14\n subq %r14, %rsp\n"
        " testq %r13, %r13\n jz 1f\n" EACH(LOAD_WIDE) " jmp 2f\n1:\n" EACH(LOAD) "2:\n"
        " ldmxcsr 576(%rbx)\n fldl 584(%rbx)\n"
        " movq (%rbx), %rdi\n movq 8(%rbx), %rsi\n movq 16(%rbx), %rdx\n movq 24(%rbx), %rcx\n movq 32(%rbx), %r8\n"
        " movq 40(%rbx), %r9\n movq 48(%rbx), %r10\n movq 56(%rbx), %r11\n call malloc\n"
        " movq %rdi, (%r12)\n movq %rsi, 8(%r12)\n movq %rdx, 16(%r12)\n movq %rcx, 24(%r12)\n movq %r8, 32(%r12)\n"
        " movq %r9, 40(%r12)\n movq %r10, 48(%r12)\n movq %r11, 56(%r12)\n"
        " stmxcsr 576(%r12)\n fstpl 584(%r12)\n movq %rax, 592(%r12)\n"
        " testq %r13, %r13\n jz 1f\n" EACH(STORE_WIDE) " vzeroupper\n jmp 2f\n1:\n" EACH(STORE) "2:\n"
        " addq %r14, %rsp\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n .cfi_def_cfa %rsp, 8\n ret\n .cfi_endproc\n.size probe, . - probe\n");
static int differ;
__attribute__((noinline)) void try_at(int depth, long is_odd, long has_avx) {
  if (depth > 0) {
    try_at(depth - 1, is_odd, has_avx);
    __asm__ volatile("");
    return;
  }
  struct state in, out;
  memset(&in, 0x5a, sizeof in);
  for (int i = 0; i < kWords; ++i) in.words[i] = 0x1111111111111111ul * (unsigned)(i + 1);
  in.words[0] = 1235;
  for (int i = 0; i < kVectors; ++i) memset(in.vectors[i], i + 1, sizeof in.vectors[i]);
  in.mxcsr = 0x7f80;  // rounds towards zero
  in.x87 = 1.25;
  out = in;
  probe(&in, &out, is_odd, has_avx);
  unsigned usual = 0x1f80;
  __asm__ volatile("ldmxcsr %0" : : "m"(usual));
  out.block = in.block;
  differ += memcmp(&in, &out, sizeof in) != 0;
}
int main(void) {
  long has_avx = __builtin_cpu_supports("avx") != 0;
  for (int depth = 0; depth < 40; ++depth) {
    try_at(depth, depth & 1, 0);
    try_at(depth, depth & 1, has_avx);
  }
  char text[64];
  int length = snprintf(text, sizeof text, "%d calls changed registers\n", differ);
  fwrite(text, 1, (size_t)length, stdout);
  return differ != 0;
}
C
gcc -g -O1 -fno-builtin -no-pie registers.c -o registers
./registers >alone.txt || fail "alone: $(cat alone.txt)"
for way in "" --verify-stacks; do
  "$HEAPPROF_BIN" run -q $way -o profile.json -- ./registers >with.txt || fail "with heapprof ($way): $(cat with.txt)"
  check_profile profile.json
  expect_sum '^probe' "98800 80 98800 80"
done

# The same of code that a compiler made, which kept what it could in registers.
cat >sum.c <<'C'
#include <stdio.h>
static char pool[16 << 20];
static unsigned long top, frees;
__attribute__((noinline)) void* malloc(unsigned long n) { void* p = pool + top; top += (n + 31) & ~31ul; return p; }
__attribute__((noinline)) void free(void* p) { frees += p != 0; }
__attribute__((noinline)) double mix(unsigned long n, unsigned long a, unsigned long b, unsigned long c, double x, double y) {
  for (int i = 0; i < 500; ++i) {
    unsigned char* p = malloc(n);
    p[0] = (unsigned char)(a >> 3);
    a = a * 33 + b, b ^= c + p[0], c += a << 2;
    x = x * 0.75 + y, y += (double)(c & 255);
    free(p);
  }
  return x + y + (double)((a ^ b ^ c) >> 20);
}
int main(int argc, char** argv) {
  char text[64];
  int length = snprintf(text, sizeof text, "%.17g %lu\n", mix(36u + (unsigned)argc, 3, 5, 7, 1.5, 2.5), frees);
  fwrite(text, 1, (unsigned long)length, stdout);
  return 0;
}
C
for flags in -O2 "-O3 -march=native" "-O3 -fno-pie -no-pie"; do
  gcc -g $flags -fno-builtin -w sum.c -o sum
  ./sum >alone.txt
  "$HEAPPROF_BIN" run -q -o profile.json -- ./sum >with.txt || fail "$flags"
  diff alone.txt with.txt >&2 || fail "$flags: another result"
  expect_sum '^mix' "18500 500 0 0"
done
