// cli/target/launch.h: starts the program to be profiled.
//
// Guarantees
//  - The program has the terminal, the descriptors, the signals' state and the environment that it would have without
//    us, but for LD_PRELOAD (our agent first) and one short variable (shared/env.h).
//  - A program that cannot be started is told apart from one that ran and failed.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

struct LaunchOptions {
  std::vector<std::string> command;  // argv; [0] as the user typed it
  std::string file;                  // what is executed
  std::vector<std::string> preload;  // our objects, put before what is already in LD_PRELOAD
  std::string socket_variable;       // value of wire::kSocketVariable
  sigset_t signal_mask;              // as it was before we blocked anything
  UniqueFd input;                    // its standard input; closed: ours
  UniqueFd output;                   // its standard output and error; closed: ours
  std::vector<std::pair<int, struct sigaction>> signal_actions;  // of the signals that we ignore, as they were before
};

struct Launched {
  pid_t pid = 0;
  UniqueFd pidfd;
  uint64_t before_ns = 0;  // by monotonic_ns(): it did not exist yet
};

Result<Launched> launch(const LaunchOptions& options);

}  // namespace heapprof::cli
