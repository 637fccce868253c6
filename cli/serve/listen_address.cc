// cli/serve/listen_address.cc: addresses are numeric. A name may resolve to several addresses, or to another one
// tomorrow, and who can reach the server should not depend on that. [::] means IPv6 only, so that one address never
// means two sockets.
#include "cli/serve/listen_address.h"

#include "cli/base/problems.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace heapprof::cli {

namespace {

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

// Fills *out; returns the size of the structure, or 0 if it is no address.
socklen_t fill(const ListenAddress& address, SocketAddress* out) {
  std::memset(out, 0, sizeof *out);
  if (inet_pton(AF_INET, address.address.c_str(), &out->v4.sin_addr) == 1) {
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons(address.port);
    return sizeof out->v4;
  }
  if (inet_pton(AF_INET6, address.address.c_str(), &out->v6.sin6_addr) == 1) {
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(address.port);
    return sizeof out->v6;
  }
  return 0;
}

}  // namespace

bool ListenAddress::is_loopback() const {
  SocketAddress socket{};
  if (fill(*this, &socket) == 0) return false;
  if (socket.any.sa_family == AF_INET) return ntohl(socket.v4.sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&socket.v6.sin6_addr) != 0;
}

std::string ListenAddress::text() const {
  const bool is_v6 = address.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

Result<ListenAddress> parse_listen_address(const std::string& text) {
  ListenAddress address;
  std::string port = text;
  if (const size_t colon = text.rfind(':'); colon != std::string::npos) {
    port = text.substr(colon + 1);
    std::string host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string::npos) {
      return bad_listen_address(text, "an address of IPv6 stands in brackets, as in [::1]:7171");
    }
    address.address = host == "localhost" ? "127.0.0.1" : host;
  }
  const auto [rest, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || error != std::errc{} || rest != port.data() + port.size())
    return bad_listen_address(text, "the port is a number from 0 to 65,535");
  SocketAddress socket{};
  if (fill(address, &socket) == 0) return bad_listen_address(text, "the address is a number, as 127.0.0.1 is");
  return address;
}

Result<Listener> listen_at(const ListenAddress& address) {
  constexpr int kBacklog = 64;
  SocketAddress socket_address{};
  socklen_t size = fill(address, &socket_address);
  const int family = socket_address.any.sa_family;
  Listener listener{UniqueFd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), address};
  const int on = 1;
  const auto is_set = [&](int level, int option) {
    return setsockopt(listener.socket.get(), level, option, &on, sizeof on) == 0;
  };
  const bool is_open = listener.socket.is_open() && is_set(SOL_SOCKET, SO_REUSEADDR) &&
                       (family != AF_INET6 || is_set(IPPROTO_IPV6, IPV6_V6ONLY)) &&
                       bind(listener.socket.get(), &socket_address.any, size) == 0 &&
                       listen(listener.socket.get(), kBacklog) == 0;
  if (!is_open) return cannot_listen(address.text(), errno_text(errno));
  size = sizeof socket_address;
  if (getsockname(listener.socket.get(), &socket_address.any, &size) == 0)
    listener.address.port = ntohs(family == AF_INET ? socket_address.v4.sin_port : socket_address.v6.sin6_port);
  return listener;
}

}  // namespace heapprof::cli
