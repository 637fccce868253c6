// cli/serve/served_request.h: decides whether a request is allowed, and parses what it asks for.
//
// Guarantees
//  - Only requests that man/heapprof-serve.1.scd lists are understood. All others are refused with a message.
//  - A web page of another site gets nothing. The first checks refuse requests whose host name is not the server's (DNS
//    rebinding), and requests that a browser makes on behalf of another site's page.
//  - The time of a comparison with the token reveals only the token's length.
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

// The head of an HTTP request, percent-decoded.
struct HttpHead {
  std::string method;
  std::string path;
  std::vector<std::pair<std::string, std::string>> arguments;  // ?name=value, in order
  std::optional<std::string> host;                             // the Host header; likewise the others
  std::optional<std::string> authorization;
  std::optional<std::string> accept;
  std::optional<std::string> fetch_site;  // Sec-Fetch-Site, Sec-Fetch-Mode: sent by browsers
  std::optional<std::string> fetch_mode;
  bool has_body = false;
};

enum class ServedThing { kIndex, kHeap, kAllocs, kCommandLine, kMetrics, kProfile };

struct ServedRequest {
  ServedThing thing = ServedThing::kIndex;
  std::optional<pid_t> pid;         // nullopt: all served processes
  std::string device = "host";      // or "all"
  bool is_text = false;             // debug=1
  uint64_t seconds = 0;             // length of the interval; 0: no interval
  bool takes_open_metrics = false;  // otherwise Prometheus' older text format

  // Equal for requests that have the same answer.
  std::string key() const;
};

struct HttpRefusal {
  int status = 400;
  Problem problem;
};

struct AccessRules {
  std::vector<std::string> hosts;  // this server's names, besides addresses and localhost
  std::string token;               // empty: no token needed
};

// nullopt: the request is allowed.
std::optional<HttpRefusal> refuse_access(const HttpHead& head, const AccessRules& rules);

// pre: refuse_access() refuses nothing
std::variant<ServedRequest, HttpRefusal> parse_request(const HttpHead& head);

// The functions above use those below; they are declared here for tests.

// The host of a Host header, without its port; nullopt if the header is malformed.
std::optional<std::string> host_of(std::string_view header);
// The secret of an Authorization header: the token of Bearer, the password of Basic. nullopt: no secret.
std::optional<std::string> secret_of(std::string_view header);
bool is_same_secret(std::string_view given, std::string_view right);

}  // namespace heapprof::cli
