// cli/serve/serve.h: `heapprof serve`: profiles and numbers of running programs over HTTP.
//
// Guarantees
//  - The collectors never wait for a client: they are asked as `heapprof snapshot` and `heapprof top` ask them.
//  - A snapshot of a process is taken once a second at most, and not again before as much time has passed as it took;
//    all requests within that time get the same one.
//  - If one of several processes is unavailable, the answer says so; if all are, it is an error.
// Context:  one thread, which runs until a signal comes, or all named processes have ended.
#pragma once

#include "cli/base/result.h"
#include "cli/serve/listen_address.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace heapprof::cli {

struct ServeOptions {
  std::vector<pid_t> pids;          // empty: all of `collector`, or of this machine
  std::vector<std::string> follow;  // globs of program names; empty: all
  std::string collector;            // the socket's name of one run; empty: every run that answers
  std::vector<std::string> hosts;   // host names that clients may use, besides addresses and localhost
  std::string token;                // empty: none is needed
  bool is_quiet = false;            // prints errors only
  bool is_of_run = false;           // only SIGTERM ends it: keys are for the program
};

// pre: a token, or a loopback address. Returns 0, or 128 + N if signal N ended it.
Result<int> serve(ServeOptions options, Listener listener);

inline constexpr char kServeTokenVariable[] = "HEAPPROF_SERVE_TOKEN";

// The token in a file, else in the variable of this name; empty if neither is given.
Result<std::string> read_token(const std::string& file, const char* variable);

// The first message of a listening server.
std::string serve_text(const ListenAddress& address);

}  // namespace heapprof::cli
