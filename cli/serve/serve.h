// cli/serve/serve.h: `heapprof serve`: profiles and numbers of running programs over HTTP.
//
// Guarantees
//  - The collectors never wait for a client: they are asked as `heapprof snapshot` and `heapprof top` ask them.
//  - A snapshot of a process is taken once a second at most, and no sooner again than it took; all who ask within that
//    time get the same one.
//  - Where a process of several cannot be had, the answer says so; where none can, it is an error.
// Context:  one thread, which stays until a signal, or until all processes that were named have ended.
#pragma once

#include "cli/base/result.h"
#include "cli/serve/listen_address.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace heapprof::cli {

struct ServeOptions {
  std::vector<pid_t> pids;          // none: all of `collector`, or of this machine
  std::vector<std::string> follow;  // globs of program names; none: all
  std::string collector;            // the socket's name of one run; empty: of every one that answers us
  std::vector<std::string> hosts;   // by which clients may call this server, besides addresses and localhost
  std::string token;                // empty: none is needed
  bool is_quiet = false;            // says nothing but errors
  bool is_of_run = false;           // SIGTERM alone ends it: keys are the program's
};

// pre: a token, or an address that is this machine's alone. 0, or 128 + N where signal N ended it.
Result<int> serve(ServeOptions options, Listener listener);

inline constexpr char kServeTokenVariable[] = "HEAPPROF_SERVE_TOKEN";

// The token in a file, else in the variable of this name; empty where none is named.
Result<std::string> read_token(const std::string& file, const char* variable);

// What of a listening server is said first.
std::string serve_text(const ListenAddress& address);

}  // namespace heapprof::cli
