// tests/fuzz/http_fuzz.cc: any bytes as a request as libmicrohttpd hands it over: a path, parameters and headers, a
// line each. What is understood is within its bounds, nobody gets in by a host or a token that is not the server's, and
// what is said of a refusal can be printed.
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/serve/listen_address.h"
#include "cli/serve/metrics_text.h"
#include "cli/serve/push.h"
#include "cli/serve/served_request.h"

#include <arpa/inet.h>
#include <strings.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace heapprof::cli;

namespace {

constexpr char kToken[] = "0123456789abcdef";

std::string next_line(std::string_view* rest) {
  const size_t end = std::min(rest->find('\n'), rest->size());
  std::string line(rest->substr(0, end));
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return line;
}

HttpHead head_of(std::string_view bytes) {
  HttpHead head;
  head.method = next_line(&bytes);
  head.path = next_line(&bytes);
  while (!bytes.empty()) {
    std::string line = next_line(&bytes);
    if (line.empty()) continue;
    const std::string value = line.substr(1);
    switch (line[0]) {
      case 'H': head.host = value; break;
      case 'A': head.authorization = value; break;
      case 'T': head.accept = value; break;
      case 'S': head.fetch_site = value; break;
      case 'M': head.fetch_mode = value; break;
      case 'B': head.has_body = true; break;
      default: {
        const size_t equals = std::min(value.find('='), value.size());
        head.arguments.emplace_back(value.substr(0, equals), value.substr(std::min(equals + 1, value.size())));
      }
    }
  }
  return head;
}

void check(bool is_true) {
  if (!is_true) std::abort();
}

void check_words(const HttpRefusal& refusal) {
  check(refusal.status >= 400 && refusal.status < 500);
  const std::string words = format_problem(refusal.problem, {});
  check(words.size() < 4096);
  for (const char c : words) check(c == '\n' || static_cast<unsigned char>(c) >= ' ');
}

void check_access(const HttpHead& head) {
  const AccessRules open{{"render.example"}, ""};
  const AccessRules closed{{"render.example"}, kToken};
  const auto refused = refuse_access(head, open);
  if (refused) {
    check_words(*refused);
    check(refuse_access(head, closed).has_value());
    return;
  }
  // Who may ask names an address, or one of three names.
  const std::string host = *host_of(*head.host);
  unsigned char bytes[16];
  check(inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1 ||
        strcasecmp(host.c_str(), "localhost") == 0 || strcasecmp(host.c_str(), "render.example") == 0);
  if (refuse_access(head, closed)) return;
  const auto secret = secret_of(*head.authorization);
  check(secret && *secret == kToken);
}

void check_request(const HttpHead& head) {
  const auto parsed = parse_request(head);
  if (const auto* refusal = std::get_if<HttpRefusal>(&parsed)) return check_words(*refusal);
  const auto& request = std::get<ServedRequest>(parsed);
  check(head.method == "GET" || head.method == "HEAD");
  check(!head.has_body);
  check(request.seconds <= kMostIntervalSeconds && !(request.is_text && request.seconds != 0));
  check(!request.pid || (*request.pid > 0 && *request.pid <= 1 << 22));
  check(!request.device.empty() && request.device.size() <= 64);
  check(!request.key().empty());
}

// Metrics of a program whose names are these bytes: no line that they could begin is there.
void check_metrics(const std::string& name) {
  ProcessMetrics process;
  process.labels = {{"pid", "1"}, {"command", name}};
  process.sample.emplace();
  process.sample->devices.emplace_back();
  process.sample->devices.back().name = name;
  process.sample->scopes.emplace_back();
  process.sample->scopes.back().path = name;
  for (const bool is_open : {true, false}) {
    std::string_view rest;
    const std::string text = metrics_text({process}, {is_open, 0});
    rest = text;
    while (!rest.empty()) {
      const std::string line = next_line(&rest);
      check(line.starts_with("# ") || line.starts_with("heapprof_"));
    }
  }
}

// One line of curl's settings for each that was meant, whatever is in the address.
void check_push(const std::string& url) {
  if (url.find_first_of("\r\n") != std::string::npos) return;  // push() refuses it
  const std::string config = curl_config(url, kToken, "/dev/fd/3");
  const std::string plain = curl_config("", kToken, "/dev/fd/3");
  check(std::count(config.begin(), config.end(), '\n') == std::count(plain.begin(), plain.end(), '\n'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const HttpHead head = head_of(bytes);
  check_access(head);
  check_request(head);
  check_metrics(head.path);
  check_push(head.path);
  if (const Result<ListenAddress> address = parse_listen_address(head.path)) {
    const Result<ListenAddress> again = parse_listen_address(address->text());
    check(again && again->text() == address->text() && again->is_loopback() == address->is_loopback());
  }
  return 0;
}
