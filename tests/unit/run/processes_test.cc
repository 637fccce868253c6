// tests/unit/run/processes_test.cc: whoever asks for an arena does not wait for those that have ended, and is told
// apart from all others, with processes of this test and agents that are only played.
#include "cli/run/processes.h"

#include "cli/run/checkpoints.h"

#include <catch2/catch.hpp>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

// A child that does nothing until it is killed, and its socket.
struct Child {
  Child() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    ours = UniqueFd(ends[0]);
    agents = UniqueFd(ends[1]);
    pid = fork();
    if (pid == 0) {
      for (;;) pause();
    }
  }
  ~Child() {
    end();
    waitpid(pid, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void ask(Processes* processes) {
    Caller caller;
    caller.connection = std::move(ours);
    caller.pid = pid;
    caller.pidfd = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    caller.hello.magic = wire::kMagic;
    caller.hello.version = wire::kProtocolVersion;
    caller.hello.flags = wire::kHelloForked;
    processes->admit(std::move(caller));
  }
  bool is_answered() const {
    wire::Welcome welcome{};
    return recv(agents.get(), &welcome, sizeof welcome, MSG_DONTWAIT) == sizeof welcome &&
           welcome.answer == wire::Answer::kRecord;
  }
  // The process is a zombie when this returns: it is not waited for.
  void end() const {
    kill(pid, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  }

  pid_t pid = 0;
  UniqueFd ours, agents;
};

struct Session {
  Session() {
    ProcessPlan plan;
    plan.root_pid = getpid();
    plan.collector.clock_mode = wire::ClockMode::kSequence;
    processes.emplace(std::move(plan), &tree, [this](EndedImage image) {
      ++ended;
      last = std::move(image);
    });
  }
  ProcessTree tree{getpid()};
  size_t ended = 0;
  EndedImage last;
  std::optional<Processes> processes;
};

}  // namespace

TEST_CASE("of many that have ended no more are left than can be held, whoever waits") {
  Session session;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 70; ++i) {
    children.push_back(std::make_unique<Child>());
    children.back()->ask(&*session.processes);
  }
  for (const auto& child : children) child->end();
  CHECK(session.processes->reap([] { return true; }));
  CHECK(session.ended == 6);
  CHECK_FALSE(session.processes->reap([] { return false; }));
  CHECK(session.ended == 70);
}

TEST_CASE("those that have ended are finished one by one while somebody waits") {
  Session session;
  Child children[5];
  const bool has_spares = GENERATE(false, true);
  for (Child& child : children) {
    child.ask(&*session.processes);
    CHECK(child.is_answered());
    if (has_spares) session.processes->prepare();
  }
  CHECK_FALSE(session.processes->reap([] { return true; }));
  CHECK(session.processes->running() == 5);
  for (Child& child : children) child.end();
  size_t asked = 0;
  CHECK(session.processes->reap([&asked] { return ++asked != 0; }));
  CHECK(session.ended == 1);
  CHECK(asked == 1);
  // Who comes is answered first.
  Child late[2];
  for (Child& child : late) {
    child.ask(&*session.processes);
    CHECK(child.is_answered());
  }
  CHECK(session.ended == 1);
  CHECK(session.processes->reap([] { return true; }));
  CHECK(session.ended == 2);
  CHECK_FALSE(session.processes->reap([] { return false; }));
  CHECK(session.ended == 5);
  CHECK(session.processes->running() == 2);
  session.processes->detach_all({EndKind::kDetached, 0});
  CHECK(session.ended == 7);
}

TEST_CASE("beyond those that the tree holds, too, each process has its own profile") {
  Session session;
  for (size_t i = session.tree.entries().size(); i < ProcessTree::kMostEntries; ++i) session.tree.add(1, i, 0);
  Checkpoints checkpoints({}, 0, 0, true, [](const ImageName& image) { return std::to_string(image.facts.pid); });
  for (int i = 0; i < 3; ++i) {
    Child child;
    child.ask(&*session.processes);
    CHECK(child.is_answered());
    child.end();
    session.processes->reap([] { return false; });
    CHECK(session.last.entry == ProcessTree::kNone);
    const ImageName name = {false, true, 0, {session.last.recording.run.pid, "", "", 0}};
    CHECK(checkpoints.claim(session.last.number, name).path == std::to_string(child.pid));
  }
  CHECK(session.ended == 3);
  CHECK(session.tree.uncounted() == 3);
}
