/* heapprof/heapprof.h: what a program may ask of the profiler that it runs under, at any point of its work.
 *
 * Header only: nothing is linked. In a process without the profiler each function gives its plain answer, at the cost
 * of a load and a branch. C11 and later, C++11 and later.
 *
 *   heapprof_stats before, after;
 *   heapprof_get_stats("host", &before);
 *   parse(file);
 *   if (heapprof_get_stats("host", &after) == HEAPPROF_OK)
 *     printf("%lu bytes kept\n", after.live_bytes - before.live_bytes);
 *
 * Guarantees
 *  - Statistics count every event that came before the call: the calling thread's, and those of other threads that it
 *    knows to be over (it joined them, took a lock after them). What other threads do meanwhile may be in them.
 *  - No function allocates, changes errno or throws. A call that asks waits until the profiler has read what the
 *    program wrote: as a rule for 2 ms at most, some 0.2 ms soon after another call; longer where threads allocate as
 *    fast as it reads, or where more than 24 ask at once. After a second it is given up.
 * Trust:    a profiler of another version is asked nothing that it does not know: HEAPPROF_INACTIVE.
 *
 * A program that is linked statically never finds a profiler.
 */
#ifndef HEAPPROF_HEAPPROF_H
#define HEAPPROF_HEAPPROF_H

#include <stdint.h>

#ifdef __cplusplus
#define HEAPPROF_NULL_ nullptr
extern "C" {
#else
#define HEAPPROF_NULL_ ((void*)0)
#endif

/* What the functions return that ask. */
enum {
  HEAPPROF_OK = 0,
  HEAPPROF_INACTIVE = -1,       /* no profiler, or it records nothing of this process */
  HEAPPROF_UNAVAILABLE = -2,    /* it could not answer: it was asked from a signal handler that interrupted an
                                   allocation, or after one that jumped out of it, under a filter of system calls,
                                   or it has not answered within a second */
  HEAPPROF_UNKNOWN_DEVICE = -3, /* there is no device of that name */
};

/* Of one device. Bytes and blocks are those that a profile counts. */
typedef struct heapprof_stats {
  uint64_t live_bytes;
  uint64_t live_blocks;
  uint64_t peak_bytes;       /* the most live bytes since the process began … */
  uint64_t peak_blocks;      /* … and how many blocks they were */
  uint64_t phase_peak_bytes; /* the same since heapprof_begin_phase() was called for that device */
  uint64_t phase_peak_blocks;
  uint64_t total_bytes; /* ever allocated */
  uint64_t total_blocks;
} heapprof_stats;

/* Of the calling thread, on the host. */
typedef struct heapprof_thread_stats {
  uint64_t total_bytes; /* ever allocated by it */
  uint64_t total_blocks;
  uint64_t freed_blocks; /* that it freed, whoever had allocated them; not those that realloc resized */
} heapprof_thread_stats;

/* What the profiler's agent gives out. Functions are only ever appended. */
struct heapprof_functions {
  uint32_t count;
  int (*is_recording)(void);
  const char* (*version)(void);
  int (*get_stats)(const char* device, heapprof_stats* stats);
  int (*begin_phase)(const char* device, heapprof_stats* stats);
  int (*get_thread_stats)(heapprof_thread_stats* stats);
};

#define HEAPPROF_FUNCTIONS_COUNT 5

/* Defined by libheapprof.so where it is preloaded. */
__attribute__((weak)) const struct heapprof_functions* heapprof_agent_functions(void);

#if defined(__PIC__) || !defined(__x86_64__)
static inline const struct heapprof_functions* heapprof_functions_(void) {
  return heapprof_agent_functions != HEAPPROF_NULL_ ? heapprof_agent_functions() : HEAPPROF_NULL_;
}
#else
/* A linker binds weak references of such code to nothing for good, but for those through the global offset table. */
static inline const struct heapprof_functions* heapprof_functions_(void) {
  const struct heapprof_functions* (*give)(void);
  __asm__(".weak heapprof_agent_functions\n\tmovq heapprof_agent_functions@GOTPCREL(%%rip), %0" : "=r"(give));
  return give != HEAPPROF_NULL_ ? give() : HEAPPROF_NULL_;
}
#endif

/* The functions of a profiler that has all of those which this header knows. */
static inline const struct heapprof_functions* heapprof_known_functions_(void) {
  const struct heapprof_functions* const functions = heapprof_functions_();
  return functions != HEAPPROF_NULL_ && functions->count >= HEAPPROF_FUNCTIONS_COUNT ? functions : HEAPPROF_NULL_;
}

/* 1 while allocations of this process are recorded, else 0. Waits only in a forked child that has not allocated yet, as
 * its first allocation would. */
static inline int heapprof_is_active(void) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  return functions != HEAPPROF_NULL_ ? functions->is_recording() : 0;
}

/* The profiler's version, "0.1.0"; NULL without one. */
static inline const char* heapprof_version(void) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  return functions != HEAPPROF_NULL_ ? functions->version() : HEAPPROF_NULL_;
}

/* The statistics of a device: "host" (NULL means the same), "mapped", "cuda:0" … as they stand in a profile. A device
 * that has had no memory yet has none live. Returns HEAPPROF_OK, or why *stats is unchanged. */
static inline int heapprof_get_stats(const char* device, heapprof_stats* stats) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  return functions != HEAPPROF_NULL_ ? functions->get_stats(device, stats) : HEAPPROF_INACTIVE;
}

/* Begins a phase of that device: the next phase peak is the most that is live from now on, what is live now included.
 * *stats, which may be NULL, gets the statistics of this moment, those of the phase that ends with it. The peak of the
 * whole run, and the profile, are as without phases. */
static inline int heapprof_begin_phase(const char* device, heapprof_stats* stats) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  return functions != HEAPPROF_NULL_ ? functions->begin_phase(device, stats) : HEAPPROF_INACTIVE;
}

/* What the calling thread has allocated and freed on the host. */
static inline int heapprof_get_thread_stats(heapprof_thread_stats* stats) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  return functions != HEAPPROF_NULL_ ? functions->get_thread_stats(stats) : HEAPPROF_INACTIVE;
}

#ifdef __cplusplus
}
#endif

#endif
