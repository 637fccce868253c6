// cli/serve/served_request.h: what a request asks for, and whether it may.
//
// Guarantees
//  - Only what is listed in man/heapprof-serve.1.scd is understood; everything else is refused, with words.
//  - A page of a foreign site gets nothing: a host by name that is not the server's (DNS rebinding), and requests that
//    a browser makes for another site's page, are refused before anything else is looked at.
//  - How long it takes to compare a token says nothing about the right one but its length.
// Trust:    every field is hostile: any bytes of any length.
// Cost:     linear in the request, whose size the server bounds (http_server.h).
#pragma once

#include "cli/base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace heapprof::cli {

inline constexpr uint64_t kMostIntervalSeconds = 300;

// Of an HTTP request, decoded from its percent signs.
struct HttpHead {
  std::string method;
  std::string path;
  std::vector<std::pair<std::string, std::string>> arguments;  // ?name=value, in their order
  std::optional<std::string> host;                             // of the header of this name; likewise the others
  std::optional<std::string> authorization;
  std::optional<std::string> accept;
  std::optional<std::string> fetch_site;  // Sec-Fetch-Site, Sec-Fetch-Mode: what a browser says of itself
  std::optional<std::string> fetch_mode;
  bool has_body = false;
};

enum class ServedThing { kIndex, kHeap, kAllocs, kCommandLine, kMetrics, kProfile };

struct ServedRequest {
  ServedThing thing = ServedThing::kIndex;
  std::optional<pid_t> pid;         // none: all that are served
  std::string device = "host";      // or "all"
  bool is_text = false;             // debug=1
  uint64_t seconds = 0;             // of the interval; 0: none
  bool takes_open_metrics = false;  // else Prometheus' older text

  // The same for requests that have the same answer.
  std::string key() const;
};

struct HttpRefusal {
  int status = 400;
  Problem problem;
};

struct AccessRules {
  std::vector<std::string> hosts;  // names besides addresses and localhost
  std::string token;               // empty: nobody needs one
};

// Nothing: it may ask.
std::optional<HttpRefusal> refuse_access(const HttpHead& head, const AccessRules& rules);

// pre: refuse_access() refuses nothing
std::variant<ServedRequest, HttpRefusal> parse_request(const HttpHead& head);

// The parts below are for the above, and for tests.

// The host of a Host header, without its port; nothing where it is not of that form.
std::optional<std::string> host_of(std::string_view header);
// The secret of an Authorization header: the token of Bearer, the password of Basic. Nothing: there is none.
std::optional<std::string> secret_of(std::string_view header);
bool is_same_secret(std::string_view given, std::string_view right);

}  // namespace heapprof::cli
