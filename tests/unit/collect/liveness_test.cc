// tests/unit/collect/liveness_test.cc: an agent sees that its collector has died, or has given the arena up; and a
// target cannot resize the arena.
#include "cli/collect/liveness.h"

#include "cli/collect/arena.h"
#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace heapprof::cli {
namespace {

uint32_t liveness_of(test::FakeAgent& agent) {
  return reinterpret_cast<std::atomic<uint32_t>*>(agent.control().liveness)->load();
}

TEST_CASE("an agent sees that the thread of its collector has died") {
  std::unique_ptr<Arena> arenas[2];
  std::unique_ptr<test::FakeAgent> agents[2];
  pid_t id = 0;
  std::thread collector([&] {
    for (int i = 0; i < 2; ++i) {
      arenas[i] = std::move(Arena::create()).value();
      agents[i] = std::make_unique<test::FakeAgent>(arenas[i]->fd());
    }
    id = static_cast<pid_t>(::syscall(SYS_gettid));
    CHECK((liveness_of(*agents[0]) & wire::kFutexOwnerDied) == 0);
    CHECK(liveness_of(*agents[0]) == static_cast<uint32_t>(id));
  });
  collector.join();
  while (::syscall(SYS_tgkill, ::getpid(), id, 0) == 0) ::usleep(1000);  // join returns before the kernel is through
  CHECK((liveness_of(*agents[0]) & wire::kFutexOwnerDied) != 0);
  CHECK((liveness_of(*agents[1]) & wire::kFutexOwnerDied) != 0);
}

TEST_CASE("an arena that is given up in time is not marked") {
  int fd = -1;
  std::thread collector([&] {
    auto first = std::move(Arena::create()).value();
    auto second = std::move(Arena::create()).value();
    fd = ::dup(first->fd());
    first.reset();
    second.reset();
  });
  collector.join();
  test::FakeAgent agent(fd);
  CHECK((liveness_of(agent) & wire::kFutexOwnerDied) == 0);
  ::close(fd);
}

// Of so many the kernel walks a part for each thread.
TEST_CASE("however many arenas a collector has, all agents see that it was killed") {
  constexpr size_t kWords = 2 * kMostOnList + 100;
  const UniqueFd file(::memfd_create("words", MFD_CLOEXEC));
  REQUIRE(::ftruncate(file.get(), kWords * kLivenessDistance) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    for (size_t i = 0; i < kWords; ++i) {
      void* const region =
          ::mmap(nullptr, 2 * kLivenessDistance, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      void* const word =
          ::mmap(static_cast<char*>(region) + kLivenessDistance, kLivenessDistance, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, file.get(), static_cast<off_t>(i * kLivenessDistance));
      hold_liveness(static_cast<std::atomic<uint32_t>*>(word));
      if (i % 50 == 0) drop_liveness(static_cast<std::atomic<uint32_t>*>(word));
    }
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  size_t marked = 0;
  for (size_t i = 0; i < kWords; ++i) {
    uint32_t word = 0;
    REQUIRE(::pread(file.get(), &word, sizeof word, static_cast<off_t>(i * kLivenessDistance)) == sizeof word);
    if ((word & wire::kFutexOwnerDied) != 0) ++marked;
  }
  CHECK(marked == kWords - kWords / 50);
}

TEST_CASE("the target cannot resize the arena") {
  auto arena = std::move(Arena::create()).value();
  CHECK(::ftruncate(arena->fd(), 4096) != 0);
  CHECK(::ftruncate(arena->fd(), 1ll << 40) != 0);
  CHECK(::fcntl(arena->fd(), F_ADD_SEALS, F_SEAL_WRITE) != 0);
  CHECK((::fcntl(arena->fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

}  // namespace
}  // namespace heapprof::cli
