// tests/unit/serve/listen_address_test.cc: where to listen, as it is typed.
#include "cli/serve/listen_address.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;

TEST_CASE("an address is a port, or a number and a port") {
  const auto text = [](const std::string& typed) {
    const Result<ListenAddress> address = parse_listen_address(typed);
    return address ? address->text() : address.problem().id;
  };
  CHECK(text("7171") == "127.0.0.1:7171");
  CHECK(text("0") == "127.0.0.1:0");
  CHECK(text("localhost:80") == "127.0.0.1:80");
  CHECK(text("0.0.0.0:65535") == "0.0.0.0:65535");
  CHECK(text("[::1]:7171") == "[::1]:7171");
  for (const char* wrong : {"", ":7171", "7171:", "65536", "-1", "+1", "7171 ", "http", "example.org:80", "::1:7171",
                            "[::1]", "[]:80", "1.2.3:80", "1.2.3.4.5:80", "[127.0.0.1:80"}) {
    CAPTURE(wrong);
    CHECK(text(wrong) == "HP260");
  }
}

TEST_CASE("what only this machine reaches is known") {
  const auto is_loopback = [](const std::string& typed) { return parse_listen_address(typed)->is_loopback(); };
  CHECK(is_loopback("7171"));
  CHECK(is_loopback("127.1.2.3:1"));
  CHECK(is_loopback("[::1]:1"));
  CHECK_FALSE(is_loopback("0.0.0.0:1"));
  CHECK_FALSE(is_loopback("[::]:1"));
  CHECK_FALSE(is_loopback("128.0.0.1:1"));
  CHECK_FALSE(is_loopback("[::ffff:10.0.0.1]:1"));
}
