// cli/serve/serve.h: `heapprof serve`: serves profiles and metrics of running programs over HTTP.
//
// Guarantees
//  - Collectors never wait for an HTTP client. The server sends them the same requests as `heapprof snapshot` and
//    `heapprof top`.
//  - A snapshot of a process is valid for a second, or for as long as it took if that was longer. All requests in that
//    time get the same snapshot.
//  - If one of several processes is unavailable, the answer says so. If all are unavailable, the answer is an error.
// Context:  one thread, which runs until a signal comes or all processes in ServeOptions::pids have ended.
#pragma once

#include "cli/base/result.h"
#include "cli/serve/listen_address.h"

#include <sys/types.h>

#include <string>
#include <vector>

namespace heapprof::cli {

struct ServeOptions {
  std::vector<pid_t> pids;          // empty: all processes of `collector`, or of this machine
  std::vector<std::string> follow;  // globs of program names; empty: all
  std::string collector;            // socket name of one run's collector; empty: all that answer
  std::vector<std::string> hosts;   // host names of this server, besides addresses and localhost
  std::string token;                // empty: clients need no token
  bool is_quiet = false;            // prints errors only
  bool is_of_run = false;           // only SIGTERM ends it, as Ctrl-C is for the program
};

// pre: there is a token, or the address is a loopback address. Returns 0, or 128 + N if signal N ended the server.
Result<int> serve(ServeOptions options, Listener listener);

inline constexpr char kServeTokenVariable[] = "HEAPPROF_SERVE_TOKEN";

// Reads the token from the file, or, without a file, from the environment variable. Empty if neither is given.
Result<std::string> read_token(const std::string& file, const char* variable);

// The message that the server prints when it listens.
std::string serve_text(const ListenAddress& address);

}  // namespace heapprof::cli
