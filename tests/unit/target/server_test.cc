// tests/unit/target/server_test.cc: agents that connect: silent ones, wrong ones, too many at once, after the end, and
// from another pid namespace.
#include "cli/target/server.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <vector>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

UniqueFd make_client() { return UniqueFd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

// 0, or errno.
int connect_client(const UniqueFd& client, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, path.data(), path.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return connect(client.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 ? 0 : errno;
}

void say_hello(const UniqueFd& client) {
  wire::Hello hello{};
  hello.magic = wire::kMagic;
  REQUIRE(send(client.get(), &hello, sizeof hello, 0) == static_cast<ssize_t>(sizeof hello));
}

bool is_anybody_waiting(const Server& server) {
  std::vector<pollfd> waiting;
  server.add_waiting(&waiting);
  return poll(waiting.data(), waiting.size(), 0) > 0;
}

}  // namespace

TEST_CASE("who connects and says nothing does not keep the next one waiting") {
  Result<Server> server = Server::open();
  REQUIRE(server);
  const UniqueFd silent = make_client();
  const UniqueFd quick = make_client();
  REQUIRE(connect_client(silent, server->path()) == 0);
  REQUIRE(connect_client(quick, server->path()) == 0);
  say_hello(quick);
  const std::optional<Caller> first = server->accept_caller();
  REQUIRE(first);
  CHECK(first->pid == getpid());
  CHECK_FALSE(server->accept_caller());
  CHECK_FALSE(is_anybody_waiting(*server));

  say_hello(silent);
  CHECK(is_anybody_waiting(*server));
  CHECK(server->accept_caller());
}

TEST_CASE("of a hundred that ask at once each is heard, however long the others take, and silent ones give way") {
  Result<Server> server = Server::open();
  REQUIRE(server);
  std::vector<UniqueFd> silent(3);
  std::vector<UniqueFd> clients(100);
  for (UniqueFd& client : silent) {
    client = make_client();
    REQUIRE(connect_client(client, server->path()) == 0);
  }
  for (UniqueFd& client : clients) {
    client = make_client();
    REQUIRE(connect_client(client, server->path()) == 0);
    say_hello(client);
  }
  size_t heard = 0;
  while (server->accept_caller()) {
    ++heard;
    if (heard % 30 == 1) usleep(150'000);  // longer than one who says nothing keeps a place while many wait
  }
  CHECK(heard == clients.size());
}

TEST_CASE("a connection that is closed, or says something else, is forgotten") {
  Result<Server> server = Server::open();
  REQUIRE(server);
  UniqueFd closed = make_client();
  const UniqueFd strange = make_client();
  REQUIRE(connect_client(closed, server->path()) == 0);
  REQUIRE(connect_client(strange, server->path()) == 0);
  closed.reset();
  REQUIRE(send(strange.get(), "hello", 5, 0) == 5);
  CHECK_FALSE(server->accept_caller());
  char byte;
  CHECK(recv(strange.get(), &byte, 1, 0) == 0);
  CHECK_FALSE(is_anybody_waiting(*server));
}

TEST_CASE("without descriptors agents are sent away at once, and nobody spins") {
  Result<Server> server = Server::open();
  REQUIRE(server);
  const UniqueFd first = make_client();
  const UniqueFd second = make_client();
  REQUIRE(connect_client(first, server->path()) == 0);
  REQUIRE(connect_client(second, server->path()) == 0);
  say_hello(first);
  const UniqueFd lowest_free(open("/dev/null", O_RDONLY | O_CLOEXEC));
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(lowest_free.get()) + 1;
  setrlimit(RLIMIT_NOFILE, &tight);
  const bool anybody = server->accept_caller().has_value();
  const bool is_awake = is_anybody_waiting(*server);
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK_FALSE(anybody);
  CHECK_FALSE(is_awake);
  CHECK(server->turned_away() == 2);
  char byte;
  CHECK(recv(second.get(), &byte, 1, 0) == 0);

  const UniqueFd third = make_client();
  REQUIRE(connect_client(third, server->path()) == 0);
  say_hello(third);
  CHECK(server->accept_caller());
}

TEST_CASE("after close() agents find nobody, at once") {
  Result<Server> server = Server::open();
  REQUIRE(server);
  const std::string path = server->path();
  CHECK(access(path.c_str(), F_OK) == 0);
  const UniqueFd waiting = make_client();
  REQUIRE(connect_client(waiting, path) == 0);
  server->close();
  CHECK(access(path.c_str(), F_OK) != 0);
  CHECK(connect_client(make_client(), path) == ECONNREFUSED);
  char byte;
  CHECK(recv(waiting.get(), &byte, 1, 0) <= 0);
  CHECK_FALSE(server->accept_caller());
}

// The server is the first process of a pid namespace; its client is outside, where no number of that namespace reaches.
TEST_CASE("who has no pid here is not answered") {
  int paths[2];
  int connected[2];
  REQUIRE(pipe(paths) == 0);
  REQUIRE(pipe(connected) == 0);
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(CLONE_NEWPID) != 0) _exit(77);
    const pid_t inner = fork();
    if (inner == 0) {
      Result<Server> server = Server::open();
      char byte;
      if (!server || write(paths[1], server->path().data(), server->path().size()) < 0) _exit(2);
      if (read(connected[0], &byte, 1) != 1) _exit(3);
      _exit(server->accept_caller() ? 1 : 0);
    }
    int status = 0;
    waitpid(inner, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  close(paths[1]);
  char path[128];
  const ssize_t size = read(paths[0], path, sizeof path);
  if (size > 0) {
    const UniqueFd client = make_client();
    REQUIRE(connect_client(client, std::string(path, static_cast<size_t>(size))) == 0);
    say_hello(client);
    REQUIRE(write(connected[1], "x", 1) == 1);
    char byte;
    CHECK(recv(client.get(), &byte, 1, 0) <= 0);
  }
  int status = 0;
  REQUIRE(waitpid(outer, &status, 0) == outer);
  if (WEXITSTATUS(status) == 77) {
    WARN("no pid namespaces here: not tried");
  } else {
    CHECK(WEXITSTATUS(status) == 0);
  }
  for (const int fd : {paths[0], connected[0], connected[1]}) close(fd);
}
