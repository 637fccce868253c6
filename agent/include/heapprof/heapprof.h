/* heapprof/heapprof.h: what a program may ask of the profiler that it runs under.
 *
 * Header only: nothing is linked. In a process without the agent every function gives its plain answer.
 *
 *   if (heapprof_is_recording()) warm_up_twice();
 */
#ifndef HEAPPROF_HEAPPROF_H
#define HEAPPROF_HEAPPROF_H

#ifdef __cplusplus
extern "C" {
#endif

/* Defined by libheapprof.so where it is preloaded; weak, so that its absence is no error. */
__attribute__((weak)) int heapprof_agent_is_recording(void);
__attribute__((weak)) const char* heapprof_agent_version(void);

/* 1 while allocations of this process are recorded, else 0. */
static inline int heapprof_is_recording(void) {
  return heapprof_agent_is_recording != 0 ? heapprof_agent_is_recording() : 0;
}

/* The agent's version, "0.1.0"; NULL without an agent. */
static inline const char* heapprof_version(void) { return heapprof_agent_version != 0 ? heapprof_agent_version() : 0; }

#ifdef __cplusplus
}
#endif

#endif
