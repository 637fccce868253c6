// cli/serve/listen_address.h: parses the address at which a server listens, and opens the socket.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"

#include <cstdint>
#include <string>

namespace heapprof::cli {

struct ListenAddress {
  std::string address = "127.0.0.1";  // a numeric IPv4 or IPv6 address
  uint16_t port = 0;                  // 0: the system chooses one

  bool is_loopback() const;  // true if only this machine can reach it
  std::string text() const;  // "127.0.0.1:7171", "[::1]:7171"
};

// [ADDRESS:]PORT: 7171, 0.0.0.0:7171, [::1]:7171, localhost:7171. No name but localhost is resolved.
Result<ListenAddress> parse_listen_address(const std::string& text);

struct Listener {
  UniqueFd socket;        // listens; does not block
  ListenAddress address;  // with the port that the system assigned
};
Result<Listener> listen_at(const ListenAddress& address);

}  // namespace heapprof::cli
