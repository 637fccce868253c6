// cli/serve/push.h: sends a profile to a server that takes pprof, by running curl.
//
// Guarantees
//  - A token is never in a command line, nor in a file that others can read.
//  - Only http and https are used. Redirections are not followed, so the token is sent to no other server.
// Context:  waits for the server, two minutes at most.
// Trust:    a part of the server's answer is shown; control characters are escaped.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

struct PushTarget {
  std::string url;
  std::string name;   // name of the application; empty: the program's name
  std::string token;  // empty: none
};

struct PushedProfile {
  const Profile* profile = nullptr;
  const Device* device = nullptr;
  std::vector<std::pair<std::string, std::string>> labels;
};

// The URL of the request. If the target's URL has no path, or Pyroscope's /ingest, Pyroscope's parameters are added.
std::string ingest_url(const PushTarget& target, const PushedProfile& pushed);

// The configuration for curl.
std::string curl_config(const std::string& url, const std::string& token, const std::string& body_path);

// Returns the number of bytes sent.
Result<uint64_t> push(const PushTarget& target, const PushedProfile& pushed);

}  // namespace heapprof::cli
