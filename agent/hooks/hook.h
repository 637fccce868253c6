// agent/hooks/hook.h: what a hook is, and what every file of hooks needs.
//
// A hook is a function that has the name and the type of another library's, and that the loader finds first, because
// the agent is preloaded. It calls the function that the program meant (the real one) and records what began or ended.
//
// Every hook keeps to these rules:
//  1. It is exported (HOOK), and agent.map names it. Everything else in the agent is hidden.
//  2. The real function is the next one behind the agent in the loader's list (find_real). It is looked up once, at the
//     start; a hook may be called before, and does then what the program meant, unrecorded.
//  3. It records through agent/record/record.h, and passes its own frame, HEAPPROF_HOOK_FRAME(): there the stack of its
//     caller begins. So it is never inlined, and helpers that are given the frame are: the frame must still be there.
//  4. What begins is recorded after the real call, what ends before it: otherwise another thread could be given the
//     address in between, and record it first. An end that the real function refuses is taken back by a record of its
//     own.
//  5. The record functions check whether the agent records at all, and do nothing if it does not. A hook that has to do
//     more for a record (query a driver, read a clock) checks for AgentState::kOn itself, first.
//  6. errno is as the real function left it. Where libc lacks the function and the kernel is called instead, errno is
//     what libc would have made of the answer (result_as_libc).
//  7. Nothing is allocated, and no lock is taken that a signal handler or a fork could find taken.
//  8. It may be called before the agent itself is relocated (process/early.h): an EARLY_HOOK checks that first. Any
//     other hook finds a pointer that is still empty, and checks on its slow path.
//
// A function to which its caller matters (dlopen, operator new) must not be called from a frame of the agent: its hook
// is a jump (jumped.cc, operator_new.cc), written in assembly, and what that calls is HIDDEN.
#pragma once

#include "agent/libc/raw.h"
#include "agent/process/early.h"
#include "agent/process/link_map.h"
#include "agent/process/state.h"
#include "agent/record/record.h"

#include <errno.h>

#define HOOK extern "C" __attribute__((visibility("default"), noinline))
// What assembly calls or reads by its name; no other library can interpose it.
#define HIDDEN __attribute__((visibility("hidden")))
// EARLY_HOOK(result, name)(parameters) { … }: a HOOK that begins with the question whether the agent is relocated.
#define EARLY_HOOK(result, name)                              \
  HEAPPROF_EARLY_ENTRY(#name, #name, "heapprof_hook_" #name); \
  extern "C" HIDDEN __attribute__((noinline)) result heapprof_hook_##name

namespace heapprof::agent {

// Stores the function of that name behind the agent in *function; nullptr: no library has it.
template <typename Function>
inline void find_real(Function** function, const char* name) {
  *function = reinterpret_cast<Function*>(find_behind_agent(name).address);
}

// What libc returns where the kernel returned `result`: the value itself, or -1 and errno.
inline long result_as_libc(long result) {
  if (!is_error(result)) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace heapprof::agent
