// agent/hooks/hook.h: what a hook is, and what every file of hooks needs.
//
// A hook is a function that has the name and the type of another library's function. The loader finds the hook first,
// because the agent is preloaded. The hook calls the function that the program meant (the real one) and records what
// began or ended.
//
// Every hook keeps to these rules:
//  1. It is exported (HOOK), and agent.map names it. Everything else in the agent is hidden.
//  2. The real function is the next definition after the agent in the loader's list (find_real). It is looked up once,
//     at the start. A hook that is called earlier does what the program meant, and records nothing.
//  3. It records through agent/record/record.h, and passes its own frame, HEAPPROF_HOOK_FRAME(): the recorded stack
//     begins with the caller of that frame. So a hook is never inlined. A helper that takes the frame is always
//     inlined, because the frame must still exist.
//  4. The beginning of a block is recorded after the real call, its end before the real call. Otherwise another thread
//     could get the address in between, and record it first. If the real function refuses the end, another record takes
//     it back.
//  5. The record functions check whether the agent records at all, and do nothing if it does not. A hook that has to do
//     more for a record (query a driver, read a clock) checks for AgentState::kOn itself, first.
//  6. errno is as the real function left it. If libc lacks the function, the hook calls the kernel instead, and sets
//     errno as libc would (result_as_libc).
//  7. Nothing is allocated, and no lock is taken that a signal handler or a fork could find taken.
//  8. A hook may be called before the agent itself is relocated (process/early.h): an EARLY_HOOK checks that first. Any
//     other hook finds that its pointer to the real function is still empty, and then checks on its slow path.
//
// Some functions depend on their caller (dlopen, operator new), so a frame of the agent must not call them. Their hooks
// are jumps, written in assembly (jumped.cc, operator_new.cc). Functions that this assembly calls are HIDDEN.
#pragma once

#include "agent/libc/raw.h"
#include "agent/process/early.h"
#include "agent/process/link_map.h"
#include "agent/process/state.h"
#include "agent/record/record.h"

#include <errno.h>

#define HOOK extern "C" __attribute__((visibility("default"), noinline))
// For symbols that assembly calls or reads by name; no other library can interpose them.
#define HIDDEN __attribute__((visibility("hidden")))
// EARLY_HOOK(result, name)(parameters) { … }: a HOOK that first checks whether the agent is relocated.
#define EARLY_HOOK(result, name)                              \
  HEAPPROF_EARLY_ENTRY(#name, #name, "heapprof_hook_" #name); \
  extern "C" HIDDEN __attribute__((noinline)) result heapprof_hook_##name

namespace heapprof::agent {

// Stores in *function the next definition of that name after the agent; nullptr: no library has it.
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
