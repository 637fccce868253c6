// cli/attach/safe_place.h: whether a stopped thread may be made to call libc.
//
// What is called allocates, and takes the loader's lock: a thread that stands inside of the allocator or the loader
// would wait for itself, or find lists half changed. So its stack is walked. It may be made to call where no function
// of these is on the stack, nor one of libc's that holds a lock of theirs (fork, pthread_create, exit …), and where it
// is on the stack that its thread was made with, with room for what is called: not on a coroutine's.
//
// Guarantees
//  - On any doubt the answer is no: there are other threads, and other moments.
// Context:  the thread that stopped it (ptrace).
// Cost:     once a process the reading of its objects' tables, as far as stacks need them.
#pragma once

#include "cli/attach/stopped_thread.h"

#include <memory>
#include <string>

namespace heapprof::cli {

class SafePlaces {
 public:
  // agent_file: base name of our own library, in which no thread may stand either.
  SafePlaces(pid_t pid, const std::vector<Mapping>& mappings, const std::string& agent_file);
  ~SafePlaces();
  SafePlaces(const SafePlaces&) = delete;
  SafePlaces& operator=(const SafePlaces&) = delete;

  // Why the thread may not be made to call; empty: it may.
  std::string find_obstacle(const StoppedThread& thread);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heapprof::cli
