/* heapprof/heapprof.h: lets a program query the profiler that it runs under, and report to it, at any point.
 *
 * Header only: nothing to link. In a process without the profiler each function returns its default, at the cost of a
 * load and a branch. C11 and later, C++11 and later.
 *
 *   heapprof_stats before, after;
 *   heapprof_get_stats("host", &before);
 *   parse(file);
 *   if (heapprof_get_stats("host", &after) == HEAPPROF_OK)
 *     printf("%lu bytes kept\n", after.live_bytes - before.live_bytes);
 *
 *   HEAPPROF_SCOPE("parse");   // from here to the end of the block; heapprof report --scopes
 *   HEAPPROF_NAME_BLOCK(cache, "KV cache");   // heapprof report says how much that is
 *
 * Guarantees
 *  - Statistics count every event that came before the call: the calling thread's, and those of other threads that
 *    happened before it (the calling thread joined them, or took a lock after them). Events of other threads during the
 *    call may be counted.
 *  - No function allocates, changes errno or throws. A query waits until the profiler has read what the program wrote:
 *    usually for 2 ms at most, some 0.2 ms soon after another call; longer if threads allocate as fast as the profiler
 *    reads, or if more than 24 query at once. After 20 s the query fails.
 * Trust:    a profiler of an older version that lacks some of these functions is not called: queries return
 *           HEAPPROF_INACTIVE.
 *
 * A statically linked program never finds a profiler.
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

/* What queries return. */
enum {
  HEAPPROF_OK = 0,
  HEAPPROF_INACTIVE = -1,       /* no profiler, or it does not record this process */
  HEAPPROF_UNAVAILABLE = -2,    /* the profiler could not answer: the query came from a signal handler that
                                   interrupted an allocation, or after a handler that jumped out of it, or under
                                   a seccomp filter; or the profiler made no progress for 5 s, or is 20 s behind */
  HEAPPROF_UNKNOWN_DEVICE = -3, /* no device has that name */
};

/* Statistics of one device. Bytes and blocks are those that a profile counts. */
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

/* Statistics of the calling thread, on the host. */
typedef struct heapprof_thread_stats {
  uint64_t total_bytes; /* ever allocated by it */
  uint64_t total_blocks;
  uint64_t freed_blocks; /* freed by it, allocated by any thread; without those that realloc resized */
} heapprof_thread_stats;

/* A name of scopes, marks and blocks. Make it once, and keep it as long as these exist: usually static. */
typedef struct heapprof_name {
  const char* category; /* the group that it belongs to, "attention"; NULL: no group */
  const char* text;     /* 120 bytes of category and text are kept */
  uint64_t key;         /* for the profiler; 0 at first */
} heapprof_name;

/* A stretch of work of one thread, which may continue in another (heapprof_scope_leave). */
typedef struct heapprof_scope {
  uint64_t id;    /* for the profiler; 0: there is nothing to end */
  uint64_t items; /* how much work was done, in the program's own measure; may change until the end */
  uint32_t life;  /* for the profiler */
  uint32_t reserved;
} heapprof_scope;
#ifdef __cplusplus
static_assert(sizeof(heapprof_scope) <= 32, "a scope is kept on stacks");
#else
_Static_assert(sizeof(heapprof_scope) <= 32, "a scope is kept on stacks");
#endif

/* What the profiler's agent provides. Functions are only ever appended. */
struct heapprof_functions {
  uint32_t count;
  int (*is_recording)(void);
  const char* (*version)(void);
  int (*get_stats)(const char* device, heapprof_stats* stats);
  int (*begin_phase)(const char* device, heapprof_stats* stats);
  int (*get_thread_stats)(heapprof_thread_stats* stats);
  void (*begin_scope)(heapprof_scope* scope, heapprof_name* name);
  void (*end_scope)(const heapprof_scope* scope);
  void (*leave_scope)(const heapprof_scope* scope);
  void (*enter_scope)(const heapprof_scope* scope);
  void (*mark)(heapprof_name* name);
  int (*begin_measurement)(const char* device, int begins_phase, heapprof_stats* stats, uint64_t* measurement);
  int (*end_measurement)(const char* device, uint64_t measurement, heapprof_stats* stats);
  int (*explain_measurement)(uint64_t measurement, int measure, char* text, uint64_t text_bytes);
  void (*name_block)(const void* address, heapprof_name* name);
  void (*pause_thread)(void);
  void (*resume_thread)(void);
  void (*tell_tensor)(const void* address, uint32_t role, heapprof_name* name); /* for Python's module */
  void (*snapshot)(heapprof_name* name, int with_tensors);
};

#define HEAPPROF_FUNCTIONS_COUNT 18

/* Defined by libheapprof.so if it is preloaded. */
__attribute__((weak)) const struct heapprof_functions* heapprof_agent_functions(void);

#if defined(__PIC__) || !defined(__x86_64__)
static inline const struct heapprof_functions* heapprof_functions_(void) {
  return heapprof_agent_functions != HEAPPROF_NULL_ ? heapprof_agent_functions() : HEAPPROF_NULL_;
}
#else
/* In position-dependent code a linker resolves weak references to null, permanently, except those through the global
 * offset table. */
static inline const struct heapprof_functions* heapprof_functions_(void) {
  const struct heapprof_functions* (*give)(void);
  __asm__(".weak heapprof_agent_functions\n\tmovq heapprof_agent_functions@GOTPCREL(%%rip), %0" : "=r"(give));
  return give != HEAPPROF_NULL_ ? give() : HEAPPROF_NULL_;
}
#endif

/* The functions of a profiler that has all that this header knows; else NULL. */
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

/* The statistics of a device: "host" (NULL means the same), "mapped", "cuda:0" … as a profile names them. A device
 * that has had no memory yet has 0 live bytes. Returns HEAPPROF_OK, or why *stats is unchanged. */
static inline int heapprof_get_stats(const char* device, heapprof_stats* stats) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  return functions != HEAPPROF_NULL_ ? functions->get_stats(device, stats) : HEAPPROF_INACTIVE;
}

/* Begins a phase of that device: the next phase peak is the most that is live from now on, including what is live now.
 * *stats, which may be NULL, gets the statistics of this moment, which are those of the phase that ends here. Phases
 * change neither the peak of the whole run nor the profile. */
static inline int heapprof_begin_phase(const char* device, heapprof_stats* stats) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  return functions != HEAPPROF_NULL_ ? functions->begin_phase(device, stats) : HEAPPROF_INACTIVE;
}

/* What the calling thread has allocated and freed on the host. */
static inline int heapprof_get_thread_stats(heapprof_thread_stats* stats) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  return functions != HEAPPROF_NULL_ ? functions->get_thread_stats(stats) : HEAPPROF_INACTIVE;
}

/* ---- Measurements ----
 *
 * Between the begin and the end of a measurement the profiler keeps the numbers of each site of a device. It can say
 * which sites allocated the memory while the program runs on. It keeps 64 measurements, open or ended; when there are
 * more, it forgets the oldest.
 */

/* What is measured of each site. */
enum {
  HEAPPROF_PEAK = 1,         /* live bytes at the peak, beyond those that were live at the begin */
  HEAPPROF_TOTAL_BYTES = 2,  /* bytes allocated */
  HEAPPROF_TOTAL_BLOCKS = 3, /* allocations */
  HEAPPROF_LIVE = 4,         /* live bytes at the end, beyond those that were live at the begin */
};

/* Begins a measurement and gets statistics as heapprof_get_stats() does, or, with begins_phase, as
 * heapprof_begin_phase() does: HEAPPROF_PEAK needs that. *measurement gets its number; 0: the statistics are valid, but
 * there was no memory for the sites' numbers. Costs some 2 ms more for each 100,000 sites of the program, as does its
 * end. */
static inline int heapprof_begin_measurement(const char* device, int begins_phase, heapprof_stats* stats,
                                             uint64_t* measurement) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  *measurement = 0;
  return functions != HEAPPROF_NULL_ ? functions->begin_measurement(device, begins_phase, stats, measurement)
                                     : HEAPPROF_INACTIVE;
}

/* Ends a measurement. The statistics are those of that device at this moment, even if the number is 0 or was
 * forgotten. */
static inline int heapprof_end_measurement(const char* device, uint64_t measurement, heapprof_stats* stats) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  return functions != HEAPPROF_NULL_ ? functions->end_measurement(device, measurement, stats) : HEAPPROF_INACTIVE;
}

/* The sites of a measurement that has ended, the largest first, with their stacks, as lines of text:
 *
 *   80.0 MiB in 1 block
 *     load_image  image.cc:41
 *     main  main.cc:12
 *   1.20 MiB in 7 blocks by 3 other sites
 *
 * text gets at most text_bytes, including a zero byte at the end; 4 KiB hold any answer. The call waits until the names
 * are looked up, usually some tenths of a second, and 20 s at most. It returns HEAPPROF_UNAVAILABLE also if the
 * measurement was forgotten, or has not ended. */
static inline int heapprof_explain_measurement(uint64_t measurement, int measure, char* text, uint64_t text_bytes) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  return functions != HEAPPROF_NULL_ ? functions->explain_measurement(measurement, measure, text, text_bytes)
                                     : HEAPPROF_INACTIVE;
}

/* ---- Scopes ----
 *
 * What the calling thread allocates and frees between the begin and the end of a scope belongs to the innermost open
 * scope. A scope that begins inside another one is a part of it. If an end is missing (longjmp, an ending thread), the
 * next outer end ends that scope too, and it is counted as left open. A forked child begins outside all scopes.
 */

/* Begins a scope with that name. */
static inline void heapprof_scope_begin(heapprof_scope* scope, heapprof_name* name) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  scope->id = 0;
  scope->items = 0;
  if (functions != HEAPPROF_NULL_) functions->begin_scope(scope, name);
}

/* Ends the scope. Does nothing if the scope has ended already, or never began. */
static inline void heapprof_scope_end(heapprof_scope* scope) {
  if (scope->id == 0) return;
  heapprof_functions_()->end_scope(scope);
  scope->id = 0;
}

/* The calling thread goes on outside the scope, and outside the scopes that it began inside it. For a task that is
 * suspended. The time until heapprof_scope_enter() does not count for the scope. */
static inline void heapprof_scope_leave(heapprof_scope* scope) {
  if (scope->id != 0) heapprof_functions_()->leave_scope(scope);
}

/* The calling thread, the same or another one, goes on with a scope that was left, and with those inside it. */
static inline void heapprof_scope_enter(heapprof_scope* scope) {
  if (scope->id != 0) heapprof_functions_()->enter_scope(scope);
}

/* Marks this moment with that name: the profile says how much was live. */
static inline void heapprof_mark(heapprof_name* name) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  if (functions != HEAPPROF_NULL_) functions->mark(name);
}

/* Marks this moment with that name, and saves what is live, by where it was allocated, in the profile
 * (heapprof report --snapshots), whatever `heapprof run --interval` says. */
static inline void heapprof_snapshot(heapprof_name* name) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  if (functions != HEAPPROF_NULL_) functions->snapshot(name, 0);
}

static inline heapprof_scope heapprof_begun_scope_(heapprof_name* name) {
  heapprof_scope scope;
  heapprof_scope_begin(&scope, name);
  return scope;
}

/* HEAPPROF_SCOPE("parse"): a scope from here to the end of the block, however it is left. A line may have several.
 * HEAPPROF_SCOPE_IN("attention", "qkv"): the same, in a category. HEAPPROF_MARK("loaded"): a mark.
 * HEAPPROF_SNAPSHOT("loaded"): a snapshot. */
#define HEAPPROF_SCOPE(text) HEAPPROF_SCOPE_IN(HEAPPROF_NULL_, text)
#define HEAPPROF_SCOPE_IN(category, text) HEAPPROF_SCOPE_AT_(category, text, __COUNTER__)
#define HEAPPROF_SCOPE_AT_(category, text, number) HEAPPROF_SCOPE_NAMED_(category, text, number)
#define HEAPPROF_SCOPE_NAMED_(category, text, number)                                           \
  static heapprof_name heapprof_name_##number = {category, text, 0};                            \
  __attribute__((cleanup(heapprof_scope_end), unused)) heapprof_scope heapprof_scope_##number = \
      heapprof_begun_scope_(&heapprof_name_##number)
#define HEAPPROF_MARK(text)                                               \
  do {                                                                    \
    static heapprof_name heapprof_mark_name_ = {HEAPPROF_NULL_, text, 0}; \
    heapprof_mark(&heapprof_mark_name_);                                  \
  } while (0)

#define HEAPPROF_SNAPSHOT(text)                                               \
  do {                                                                        \
    static heapprof_name heapprof_snapshot_name_ = {HEAPPROF_NULL_, text, 0}; \
    heapprof_snapshot(&heapprof_snapshot_name_);                              \
  } while (0)

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define HEAPPROF_NOT_READ_ __attribute__((access(none, 1))) /* the memory may be uninitialised */
#else
#define HEAPPROF_NOT_READ_
#endif

/* ---- Names of memory ----
 *
 * For each name a profile says how much was live at the end and at most, and where it was allocated.
 */

/* Gives a name to what is live at that address, until it ends or gets another name: a block of the heap, memory of a
 * device, or pages that the program mapped, in this order. The address is the one where it begins. realloc and mremap
 * keep the name. If nothing is live there, nothing happens, and the profile says how often. NULL is ignored. */
HEAPPROF_NOT_READ_ static inline void heapprof_name_block(const void* address, heapprof_name* name) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  if (functions != HEAPPROF_NULL_) functions->name_block(address, name);
}

/* HEAPPROF_NAME_BLOCK(cache, "KV cache"); HEAPPROF_NAME_BLOCK_IN(cache, "attention", "KV cache"): in a category. */
#define HEAPPROF_NAME_BLOCK(address, text) HEAPPROF_NAME_BLOCK_IN(address, HEAPPROF_NULL_, text)
#define HEAPPROF_NAME_BLOCK_IN(address, category, text)              \
  do {                                                               \
    static heapprof_name heapprof_block_name_ = {category, text, 0}; \
    heapprof_name_block(address, &heapprof_block_name_);             \
  } while (0)

/* ---- Pauses ----
 *
 * What a thread allocates on the heap in a pause is left out of the profile: of every sum, of the peak, of sites,
 * scopes and names, and of the statistics. The profile says how many blocks and bytes that were. Device memory and
 * pages that the thread maps are still recorded. The free of a recorded block counts, in a pause too; the free of a
 * block that was left out never counts. The block that a realloc makes in a pause is left out, even if the old one was
 * recorded.
 */

/* Begins a pause of the calling thread. Pauses nest. A pause ends with its thread at the latest; a forked child begins
 * outside all pauses. */
static inline void heapprof_pause(void) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  if (functions != HEAPPROF_NULL_) functions->pause_thread();
}

/* Ends the innermost pause. Outside all pauses it does nothing. */
static inline void heapprof_resume(void) {
  const struct heapprof_functions* const functions = heapprof_known_functions_();
  if (functions != HEAPPROF_NULL_) functions->resume_thread();
}

static inline int heapprof_begun_pause_(void) {
  heapprof_pause();
  return 0;
}
static inline void heapprof_end_pause_(const int* pause) {
  (void)pause;
  heapprof_resume();
}

/* HEAPPROF_PAUSE(): a pause from here to the end of the block, however it is left. */
#define HEAPPROF_PAUSE() HEAPPROF_PAUSE_AT_(__COUNTER__)
#define HEAPPROF_PAUSE_AT_(number) HEAPPROF_PAUSE_NAMED_(number)
#define HEAPPROF_PAUSE_NAMED_(number) \
  __attribute__((cleanup(heapprof_end_pause_), unused)) const int heapprof_pause_##number = heapprof_begun_pause_()

#ifdef __cplusplus
}
#endif

#endif
