// cli/target/launch.h: starts the program to be profiled.
//
// Guarantees
//  - The program has the terminal, the descriptors, the signal state and the environment that it would have without
//    heapprof, except for LD_PRELOAD (the agent comes first) and one short variable (shared/env.h). If variables in
//    which systemd names a process (LISTEN_PID, WATCHDOG_PID, SYSTEMD_EXEC_PID) name heapprof, they are changed to the
//    program's pid.
//  - A program that cannot be started is distinguished from one that ran and failed.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct LaunchOptions {
  std::vector<std::string> command;  // argv; [0] as the user typed it
  std::string file;                  // what is executed
  std::vector<std::string> preload;  // heapprof's objects, put before what is already in LD_PRELOAD
  std::string socket_variable;       // value of wire::kSocketVariable
  pid_t own_pid = 0;                 // our pid, as systemd's variables may name it
  UniqueFd input;                    // its standard input; if closed, it gets ours
  UniqueFd output;                   // its standard output and error; if closed, it gets ours
  std::function<void()> in_child;    // called before the exec, as to restore signals; system calls only
};

struct Launched {
  pid_t pid = 0;
  UniqueFd pidfd;
  uint64_t before_ns = 0;  // a time by monotonic_ns() just before the program existed
};

Result<Launched> launch(const LaunchOptions& options);

}  // namespace heapprof::cli
