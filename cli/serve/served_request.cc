// cli/serve/served_request.cc: the paths are those of Go's net/http/pprof, so that a scraper of Go programs works
// unchanged. The pid is given before the path (/pid/4711/…) or as ?pid=4711.
//
// A profile reveals much about a program, and any web page can make a browser on the same machine send a request here.
// Such a page can read the answer only if its own host name is made to resolve to this server (DNS rebinding). Then the
// browser sends that name in the Host header, so unknown names are refused. A numeric address cannot be rebound. Even a
// request whose answer the page cannot read costs time. So requests that the browser marks as another site's are
// refused, too, unless the user follows a link.
#include "cli/serve/served_request.h"

#include "cli/base/problems.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace heapprof::cli {

namespace {

HttpRefusal refusal(int status, const std::string& what) { return {status, bad_http_request(what)}; }

bool is_equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool starts_ignoring_case(std::string_view text, std::string_view start) {
  return is_equal_ignoring_case(text.substr(0, start.size()), start);
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (host.find('\0') != std::string::npos) return false;
  return inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

// The number in a text of digits only; no sign, no blanks.
std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<pid_t> pid_of(std::string_view text) {
  constexpr uint64_t kLargestPid = 1 << 22;  // PID_MAX_LIMIT
  const std::optional<uint64_t> number = number_of(text);
  if (!number || *number == 0 || *number > kLargestPid) return std::nullopt;
  return static_cast<pid_t>(*number);
}

std::string shown(std::string_view text) {
  constexpr size_t kMost = 80;
  return fmt::format("{}{}", text.substr(0, kMost), text.size() <= kMost ? "" : "…");
}

// Decodes standard base64 with padding; nullopt if it is not valid.
std::optional<std::string> decode_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    uint32_t value = 0;
    if (c >= 'A' && c <= 'Z') {
      value = static_cast<uint32_t>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      value = static_cast<uint32_t>(c - 'a') + 26;
    } else if (c >= '0' && c <= '9') {
      value = static_cast<uint32_t>(c - '0') + 52;
    } else if (c == '+' || c == '/') {
      value = c == '+' ? 62 : 63;
    } else {
      return std::nullopt;
    }
    bits = (bits << 6 | value) & 0xffffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
  }
  return bytes;
}

std::optional<ServedThing> thing_at(std::string_view path) {
  struct Path {
    std::string_view path;
    ServedThing thing;
  };
  static constexpr Path kPaths[] = {{"/", ServedThing::kIndex},
                                    {"/debug/pprof", ServedThing::kIndex},
                                    {"/debug/pprof/", ServedThing::kIndex},
                                    {"/debug/pprof/heap", ServedThing::kHeap},
                                    {"/debug/pprof/allocs", ServedThing::kAllocs},
                                    {"/debug/pprof/cmdline", ServedThing::kCommandLine},
                                    {"/metrics", ServedThing::kMetrics},
                                    {"/profile.json", ServedThing::kProfile}};
  for (const Path& known : kPaths) {
    if (path == known.path) return known.thing;
  }
  return std::nullopt;
}

// Takes one ?name=value into *request. nullopt: it was understood.
std::optional<HttpRefusal> take_argument(const std::string& name, const std::string& value, ServedRequest* request) {
  const bool is_heap = request->thing == ServedThing::kHeap || request->thing == ServedThing::kAllocs;
  if (name == "pid") {
    const std::optional<pid_t> pid = pid_of(value);
    if (!pid) return refusal(400, fmt::format("pid={} is not the number of a process", shown(value)));
    if (request->pid && *request->pid != *pid) return refusal(400, "the request names two processes");
    request->pid = pid;
  } else if (name == "device" && is_heap) {
    constexpr size_t kLongestName = 64;
    if (value.empty() || value.size() > kLongestName || value.find('\0') != std::string::npos)
      return refusal(400, fmt::format("device={} is no device: host, mapped, cuda:0, or all", shown(value)));
    request->device = value;
  } else if (name == "seconds" && is_heap) {
    const std::optional<uint64_t> seconds = number_of(value);
    if (!seconds || *seconds == 0 || *seconds > kMostIntervalSeconds)
      return refusal(400, fmt::format("seconds={} is not a number from 1 to {}", shown(value), kMostIntervalSeconds));
    request->seconds = *seconds;
  } else if (name == "debug" && is_heap) {
    const std::optional<uint64_t> level = number_of(value);
    if (!level || *level > 2) return refusal(400, fmt::format("debug={} is not 0, 1 or 2", shown(value)));
    request->is_text = *level > 0;
  } else if (name == "gc" && is_heap) {  // makes Go collect garbage first; there is none here
  } else {
    return refusal(400, fmt::format("there is no parameter {} here", shown(name)));
  }
  return std::nullopt;
}

}  // namespace

std::string ServedRequest::key() const {
  return fmt::format("{} {} {} {} {} {}", static_cast<int>(thing), pid.value_or(0), is_text, seconds,
                     takes_open_metrics, device);
}

std::optional<std::string> host_of(std::string_view header) {
  if (header.empty()) return std::nullopt;
  std::string_view host = header;
  std::string_view port;
  if (header.front() == '[') {
    const size_t end = header.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = header.substr(1, end - 1);
    port = header.substr(end + 1);
  } else if (const size_t colon = header.find(':'); colon != std::string_view::npos) {
    host = header.substr(0, colon);
    port = header.substr(colon);
  }
  if (!port.empty() && (port.front() != ':' || (port.size() > 1 && !number_of(port.substr(1))))) return std::nullopt;
  if (host.empty()) return std::nullopt;
  return std::string(host);
}

std::optional<std::string> secret_of(std::string_view header) {
  constexpr std::string_view kBearer = "Bearer ";
  constexpr std::string_view kBasic = "Basic ";
  if (starts_ignoring_case(header, kBearer)) return std::string(header.substr(kBearer.size()));
  if (!starts_ignoring_case(header, kBasic)) return std::nullopt;
  const std::optional<std::string> pair = decode_base64(header.substr(kBasic.size()));
  if (!pair) return std::nullopt;
  const size_t colon = pair->find(':');
  if (colon == std::string::npos) return std::nullopt;
  return pair->substr(colon + 1);
}

bool is_same_secret(std::string_view given, std::string_view right) {
  volatile unsigned char difference = given.size() == right.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char expected = right.empty() ? '\0' : right[i % right.size()];
    difference = static_cast<unsigned char>(difference | (given[i] ^ expected));
  }
  return difference == 0 && !right.empty();
}

std::optional<HttpRefusal> refuse_access(const HttpHead& head, const AccessRules& rules) {
  const std::optional<std::string> host = head.host ? host_of(*head.host) : std::nullopt;
  const auto is_named = [&host](const std::string& name) { return is_equal_ignoring_case(*host, name); };
  const bool is_ours = host && (is_address(*host) || is_named("localhost") ||
                                std::any_of(rules.hosts.begin(), rules.hosts.end(), is_named));
  if (!is_ours) return HttpRefusal{421, host_refused(shown(head.host.value_or("")))};
  const bool is_foreign = head.fetch_site && *head.fetch_site != "same-origin" && *head.fetch_site != "none";
  if (is_foreign && head.fetch_mode.value_or("") != "navigate")
    return refusal(403, "a page of another site has asked for it");
  if (rules.token.empty()) return std::nullopt;
  const std::optional<std::string> secret = head.authorization ? secret_of(*head.authorization) : std::nullopt;
  if (!secret || !is_same_secret(*secret, rules.token)) return HttpRefusal{401, token_refused()};
  return std::nullopt;
}

std::variant<ServedRequest, HttpRefusal> parse_request(const HttpHead& head) {
  if (head.method != "GET" && head.method != "HEAD")
    return refusal(405, fmt::format("{} changes something, and nothing here can be changed", shown(head.method)));
  if (head.has_body) return refusal(413, "the request has a body, and none is looked at");
  ServedRequest request;
  std::string_view path = head.path;
  constexpr std::string_view kOfProcess = "/pid/";
  if (path.starts_with(kOfProcess)) {
    const std::string_view rest = path.substr(kOfProcess.size());
    const size_t end = std::min(rest.find('/'), rest.size());
    request.pid = pid_of(rest.substr(0, end));
    if (!request.pid) return refusal(404, fmt::format("{} names no process", shown(path)));
    path = end == rest.size() ? std::string_view("/") : rest.substr(end);
  }
  const std::optional<ServedThing> thing = thing_at(path);
  if (!thing) return refusal(404, fmt::format("there is no {} here", shown(path)));
  request.thing = *thing;
  for (const auto& [name, value] : head.arguments) {
    if (const std::optional<HttpRefusal> refused = take_argument(name, value, &request)) return *refused;
  }
  if (request.is_text && request.seconds != 0)
    return refusal(400, "debug and seconds do not go together: an interval is no text");
  if (request.thing == ServedThing::kMetrics)
    request.takes_open_metrics = head.accept && head.accept->find("application/openmetrics-text") != std::string::npos;
  return request;
}

}  // namespace heapprof::cli
