// tests/unit/target/top_client_test.cc: the last answer of a heapprof that ends arrives, also where a question was on
// its way.
#include "cli/target/top_client.h"

#include <catch2/catch.hpp>
#include <sys/socket.h>
#include <unistd.h>

namespace heapprof::cli {

TEST_CASE("an answer that was sent before the end is read, whatever was asked since") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  REQUIRE(::send(ends[0], "a question", 10, 0) == 10);  // which is not read
  TopAnswer answer{};
  answer.status = TopStatus::kEnding;
  answer.pid = 77;
  REQUIRE(::send(ends[1], &answer, sizeof answer, 0) == static_cast<ssize_t>(sizeof answer));
  ::close(ends[1]);
  const std::optional<TopReply> reply = take_top_reply(ends[0]);
  REQUIRE(reply.has_value());
  CHECK(reply->pid == 77);
  CHECK_FALSE(take_top_reply(ends[0]).has_value());
  ::close(ends[0]);
}

}  // namespace heapprof::cli
