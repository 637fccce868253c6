// cli/serve/push.h: sends a profile to a server that takes pprof, by the program curl.
//
// Guarantees
//  - A token is in no command line and no file that others can read.
//  - Only http and https are spoken; redirections are not followed, so a token goes nowhere else.
// Context:  waits for the server, two minutes at most.
// Trust:    what the server answers is shown in part, without control characters.
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
  std::string name;   // of the application; empty: the program's
  std::string token;  // empty: none
};

struct PushedProfile {
  const Profile* profile = nullptr;
  const Device* device = nullptr;
  std::vector<std::pair<std::string, std::string>> labels;
};

// The URL that is asked: where it names no path, or Pyroscope's /ingest, what that wants to know is added.
std::string ingest_url(const PushTarget& target, const PushedProfile& pushed);

// What curl is told, in its own language.
std::string curl_config(const std::string& url, const std::string& token, const std::string& body_path);

// How many bytes were sent.
Result<uint64_t> push(const PushTarget& target, const PushedProfile& pushed);

}  // namespace heapprof::cli
