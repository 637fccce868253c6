// cli/target/launch.h: starts the program to be profiled.
//
// Guarantees
//  - The program has the terminal, the descriptors, the signals' state and the environment that it would have without
//    heapprof, except for LD_PRELOAD (the agent first) and one short variable (shared/env.h). Variables that name the
//    process that they are meant for (LISTEN_PID, WATCHDOG_PID, SYSTEMD_EXEC_PID) name the program.
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
  pid_t own_pid = 0;                 // this process, as variables name it: the program is named instead
  UniqueFd input;                    // its standard input; closed: ours
  UniqueFd output;                   // its standard output and error; closed: ours
  std::function<void()> in_child;    // called before the exec: puts signals back; system calls only
};

struct Launched {
  pid_t pid = 0;
  UniqueFd pidfd;
  uint64_t before_ns = 0;  // by monotonic_ns(): the program did not exist yet
};

Result<Launched> launch(const LaunchOptions& options);

}  // namespace heapprof::cli
