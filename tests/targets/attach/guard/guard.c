// tests/targets/attach/guard/guard.c: an allocator, preloaded, that looks at heapprof's thread when it loads the agent.
//
// GUARD=state: traps on a thread other than the first if its flags or the control words of its floating-point units are
//              not those of a new program.
// GUARD=fault: traps there in any case, in the middle of dlopen.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* block, size_t bytes);
extern void __libc_free(void* block);

static int g_has_to_fault = 0;
static int g_looks = 0;

__attribute__((constructor)) static void read_wish(void) {
  const char* const wish = getenv("GUARD");
  g_has_to_fault = wish != NULL && strcmp(wish, "fault") == 0;
  g_looks = wish != NULL;
}

static void look(void) {
  if (!g_looks || syscall(SYS_gettid) == getpid()) return;
  const uint64_t unusual_flags = 0x44500;  // alignment checks, nested task, direction, single step
  uint64_t flags = 0;
  uint16_t control = 0;
  __asm__ volatile("pushfq\n popq %0" : "=r"(flags));
  __asm__ volatile("fnstcw %0" : "=m"(control));
  if (g_has_to_fault || (flags & unusual_flags) != 0 || control != 0x37f || (_mm_getcsr() & ~0x3fu) != 0x1f80)
    __builtin_trap();
}

void* malloc(size_t bytes) { return look(), __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return look(), __libc_calloc(count, bytes); }
void* realloc(void* block, size_t bytes) { return look(), __libc_realloc(block, bytes); }
void free(void* block) { __libc_free(block); }
