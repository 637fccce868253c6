// tests/unit/serve/served_request_test.cc: who may ask, and what for.
#include "cli/serve/served_request.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

namespace {

HttpHead head_of(const std::string& path, std::vector<std::pair<std::string, std::string>> arguments = {}) {
  HttpHead head;
  head.method = "GET";
  head.path = path;
  head.arguments = std::move(arguments);
  head.host = "127.0.0.1:7171";
  return head;
}

ServedRequest request_of(const HttpHead& head) {
  const auto parsed = parse_request(head);
  REQUIRE(std::holds_alternative<ServedRequest>(parsed));
  return std::get<ServedRequest>(parsed);
}

// 0: it is understood.
int status_of(const HttpHead& head) {
  const auto parsed = parse_request(head);
  const auto* refusal = std::get_if<HttpRefusal>(&parsed);
  return refusal == nullptr ? 0 : refusal->status;
}

int access_of(const HttpHead& head, const AccessRules& rules) {
  const auto refusal = refuse_access(head, rules);
  return refusal ? refusal->status : 0;
}

}  // namespace

TEST_CASE("each path is one thing, of all processes or of one") {
  CHECK(request_of(head_of("/")).thing == ServedThing::kIndex);
  CHECK(request_of(head_of("/debug/pprof/")).thing == ServedThing::kIndex);
  CHECK(request_of(head_of("/debug/pprof/heap")).thing == ServedThing::kHeap);
  CHECK(request_of(head_of("/debug/pprof/allocs")).thing == ServedThing::kAllocs);
  CHECK(request_of(head_of("/debug/pprof/cmdline")).thing == ServedThing::kCommandLine);
  CHECK(request_of(head_of("/metrics")).thing == ServedThing::kMetrics);
  CHECK(request_of(head_of("/profile.json")).thing == ServedThing::kProfile);
  CHECK_FALSE(request_of(head_of("/metrics")).pid);
  CHECK(request_of(head_of("/pid/4711/debug/pprof/heap")).pid == 4711);
  CHECK(request_of(head_of("/pid/4711")).thing == ServedThing::kIndex);
  CHECK(request_of(head_of("/debug/pprof/heap", {{"pid", "4711"}})).pid == 4711);
  for (const char* path : {"", "//", "/metrics/", "/debug/pprof/profile", "/debug/pprof/heap/", "/debug/../metrics",
                           "/pid/", "/pid/0/metrics", "/pid/-1/metrics", "/pid/99999999/metrics", "/pid/1x/metrics",
                           "/pid/18446744073709551617/metrics", "/METRICS"}) {
    CAPTURE(path);
    CHECK(status_of(head_of(path)) == 404);
  }
}

TEST_CASE("parameters are those of the page, and nothing else") {
  const ServedRequest plain = request_of(head_of("/debug/pprof/heap"));
  CHECK(plain.device == "host");
  CHECK(plain.seconds == 0);
  CHECK_FALSE(plain.is_text);
  CHECK(request_of(head_of("/debug/pprof/heap", {{"seconds", "300"}})).seconds == 300);
  CHECK(request_of(head_of("/debug/pprof/heap", {{"debug", "1"}})).is_text);
  CHECK_FALSE(request_of(head_of("/debug/pprof/heap", {{"debug", "0"}, {"gc", "1"}})).is_text);
  CHECK(request_of(head_of("/debug/pprof/allocs", {{"device", "cuda:0"}})).device == "cuda:0");
  const std::vector<std::pair<std::string, std::string>> kWrong[] = {{{"seconds", "0"}},
                                                                     {{"seconds", "301"}},
                                                                     {{"seconds", ""}},
                                                                     {{"seconds", "-1"}},
                                                                     {{"seconds", "1.5"}},
                                                                     {{"seconds", "99999999999999999999"}},
                                                                     {{"debug", "3"}},
                                                                     {{"debug", ""}},
                                                                     {{"pid", "0"}},
                                                                     {{"pid", "me"}},
                                                                     {{"device", ""}},
                                                                     {{"device", std::string(65, 'x')}},
                                                                     {{"device", {"a\0b", 3}}},
                                                                     {{"sekonds", "1"}},
                                                                     {{"pid", "1"}, {"pid", "2"}},
                                                                     {{"debug", "1"}, {"seconds", "1"}}};
  for (const auto& arguments : kWrong) {
    CAPTURE(arguments.front().first, arguments.front().second);
    CHECK(status_of(head_of("/debug/pprof/heap", arguments)) == 400);
  }
  CHECK(status_of(head_of("/metrics", {{"seconds", "1"}})) == 400);
  CHECK(status_of(head_of("/debug/pprof/heap", {{"pid", "7"}, {"pid", "7"}})) == 0);
}

TEST_CASE("nothing is changed by a request, and no body is looked at") {
  HttpHead head = head_of("/metrics");
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "", "get"}) {
    head.method = method;
    CHECK(status_of(head) == 405);
  }
  head.method = "HEAD";
  CHECK(status_of(head) == 0);
  head.has_body = true;
  CHECK(status_of(head) == 413);
}

TEST_CASE("requests with the same answer have the same key") {
  CHECK(request_of(head_of("/pid/7/debug/pprof/heap")).key() ==
        request_of(head_of("/debug/pprof/heap", {{"pid", "7"}, {"debug", "0"}})).key());
  CHECK(request_of(head_of("/debug/pprof/heap")).key() != request_of(head_of("/debug/pprof/allocs")).key());
  CHECK(request_of(head_of("/debug/pprof/heap")).key() !=
        request_of(head_of("/debug/pprof/heap", {{"device", "mapped"}})).key());
  HttpHead head = head_of("/metrics");
  const std::string older = request_of(head).key();
  head.accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
  CHECK(request_of(head).takes_open_metrics);
  CHECK(request_of(head).key() != older);
}

TEST_CASE("a host is an address, localhost, or one of the server's names") {
  const AccessRules rules{{"render.example"}, ""};
  HttpHead head = head_of("/metrics");
  for (const char* host : {"127.0.0.1", "127.0.0.1:7171", "10.1.2.3:80", "[::1]", "[::1]:7171", "localhost",
                           "LocalHost:1", "render.example", "RENDER.example:7171", "127.0.0.1:"}) {
    CAPTURE(host);
    head.host = host;
    CHECK(access_of(head, rules) == 0);
  }
  for (const char* host : {"", "evil.example", "evil.example:7171", "localhost.evil.example", "127.0.0.1.evil.example",
                           "render.example.", "127.0.0.1:7171:1", "127.0.0.1:x", "[::1", "::1", "[]", ":7171", "127.1",
                           "0x7f000001", " localhost", "localhost ", "localhost@evil.example"}) {
    CAPTURE(host);
    head.host = host;
    CHECK(access_of(head, rules) == 421);
  }
  head.host.reset();
  CHECK(access_of(head, rules) == 421);
  head.host = std::string("127.0.0.1\0.evil", 15);
  CHECK(access_of(head, rules) == 421);
}

TEST_CASE("what a browser asks for another site's page is refused, a link is not") {
  HttpHead head = head_of("/debug/pprof/heap");
  for (const char* site : {"cross-site", "same-site", "anything"}) {
    head.fetch_site = site;
    head.fetch_mode = "no-cors";
    CHECK(access_of(head, {}) == 403);
    head.fetch_mode = "navigate";
    CHECK(access_of(head, {}) == 0);
  }
  head.fetch_mode = "cors";
  for (const char* site : {"same-origin", "none"}) {
    head.fetch_site = site;
    CHECK(access_of(head, {}) == 0);
  }
}

TEST_CASE("a token comes as Bearer, or as the password of Basic") {
  const AccessRules rules{{}, "0123456789abcdef"};
  HttpHead head = head_of("/metrics");
  CHECK(access_of(head, rules) == 401);
  for (const char* header : {"Bearer 0123456789abcdef", "bearer 0123456789abcdef",
                             "Basic aGVhcHByb2Y6MDEyMzQ1Njc4OWFiY2RlZg==", "Basic OjAxMjM0NTY3ODlhYmNkZWY="}) {
    CAPTURE(header);
    head.authorization = header;
    CHECK(access_of(head, rules) == 0);
  }
  for (const char* header :
       {"", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer 0123456789abcdeF",
        "Bearer 0123456789abcdef0123456789abcdef", "Bearer  0123456789abcdef", "Basic ", "Basic !!!!",
        "0123456789abcdef", "Basic MDEyMzQ1Njc4OWFiY2RlZg==", "Digest 0123456789abcdef"}) {
    CAPTURE(header);
    head.authorization = header;
    CHECK(access_of(head, rules) == 401);
  }
  CHECK(secret_of("Basic dXNlcjpwYTpzcw==") == "pa:ss");
  CHECK(is_same_secret("", "") == false);
  CHECK(is_same_secret("a", "") == false);
}
