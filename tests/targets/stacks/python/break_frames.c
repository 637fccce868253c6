// tests/targets/stacks/python/break_frames.c: takes blocks while the calling thread's chain of Python frames is broken.
//
// The chain that the interpreter has stays as it is: the word that leads to it points, for the moment of one malloc, to
// copies of its innermost frames, in which words were replaced by pointers to nothing, to pages that are gone, to
// strangers' objects, to the frames themselves. It is called with the interpreter's lock held (ctypes.PyDLL).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kFrames = 4, kWords = 16, kCodeWords = 32 };

static uint64_t g_state;
static uint64_t next_random(void) {
  g_state ^= g_state << 13;
  g_state ^= g_state >> 7;
  g_state ^= g_state << 17;
  return g_state;
}

// Where the innermost frame is told, and where a frame has the one outside of it and its code; by 3.MINOR.
static uint64_t** top_of(uint64_t thread, int minor) {
  if (minor <= 10) return (uint64_t**)(thread + 24);
  if (minor <= 12) return (uint64_t**)(*(uint64_t*)(thread + 56) + (minor == 11 ? 8 : 0));
  return (uint64_t**)(thread + 72);
}
static int previous_word(int minor) { return minor <= 10 ? 3 : minor == 11 ? 6 : 1; }
static int code_word(int minor) { return minor <= 11 ? 4 : 0; }

static uint64_t g_frames[kFrames + 1][kWords];
static uint64_t g_code[kCodeWords];
static void* g_gone;  // pages that are there by turns
static int g_is_there;

static uint64_t bad_word(void) {
  switch (next_random() % 12) {
    case 0: return 0;
    case 1: return next_random();
    case 2: return next_random() & 0x7fffffffffff;
    case 3: return (uint64_t)g_gone + next_random() % 4096;
    case 4: return ((uint64_t)g_gone + 64) & ~7ull;
    case 5: return (uint64_t)g_frames[next_random() % kFrames];
    case 6: return (uint64_t)g_code;
    case 7: return (uint64_t)&g_state;
    case 8: return ((uint64_t)__builtin_frame_address(0) + next_random() % 65536) & ~7ull;
    case 9: return 1ull << (next_random() % 64);
    case 10: return (uint64_t)(next_random() % 4096);
    default: return (uint64_t)g_frames[next_random() % kFrames] + next_random() % 128;
  }
}

static void bring(void) {
  if (g_is_there) return;
  g_gone = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(g_gone, g_frames[0], sizeof g_frames[0]);
  g_is_there = 1;
}
static void take_away(void) {
  if (g_is_there) munmap(g_gone, 1 << 16);
  g_is_there = 0;
}

// Takes and gives so many blocks of 1237 bytes, each under a chain of its own. Returns how many.
__attribute__((noinline, visibility("default"))) long heapprof_test_break(long count, long seed, int minor) {
  uint64_t (*state)(void) = (uint64_t(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  if (state == NULL) return -1;
  uint64_t** const top = top_of(state(), minor);
  g_state = (uint64_t)seed * 0x9E3779B97F4A7C15ull + 1;
  for (long i = 0; i < count; ++i) {
    uint64_t* const real = *top;
    bring();
    uint64_t* from = real;
    for (int frame = 0; frame < kFrames && from != NULL; ++frame) {
      memcpy(g_frames[frame], from, sizeof g_frames[frame]);
      from = (uint64_t*)from[previous_word(minor)];
      if (from != NULL && frame + 1 < kFrames) g_frames[frame][previous_word(minor)] = (uint64_t)g_frames[frame + 1];
    }
    const int is_code = next_random() % 4 == 0;
    if (is_code) {
      memcpy(g_code, (void*)(g_frames[0][code_word(minor)] & ~7ull), sizeof g_code);
      g_code[next_random() % 18] = bad_word();
      g_frames[next_random() % kFrames][code_word(minor)] = (uint64_t)g_code;
    }
    for (int changes = next_random() % 3 + (is_code ? 0 : 1); changes > 0; --changes) {
      const int words[] = {previous_word(minor), code_word(minor), (int)(next_random() % 14)};
      g_frames[next_random() % kFrames][words[next_random() % 3]] = bad_word();
    }
    if (next_random() % 2 == 0) take_away();
    *top = g_frames[0];
    void* const block = malloc(1237);
    __asm__ volatile("" : : "r"(block) : "memory");
    *top = real;
    free(block);
  }
  return count;
}
