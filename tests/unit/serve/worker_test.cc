// tests/unit/serve/worker_test.cc: work in processes of its own: what it makes, what becomes of one that dies or takes
// too long, and that many wait for their turn.
#include "cli/serve/worker.h"

#include "cli/base/clock.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

using namespace heapprof::cli;

namespace {

void serve_until(Workers* workers, const size_t& done, size_t wanted) {
  const uint64_t end_ns = monotonic_ns() + 60'000'000'000;
  while (done < wanted && monotonic_ns() < end_ns) {
    std::vector<pollfd> waiting;
    workers->add_waiting(&waiting);
    poll(waiting.data(), waiting.size(), 50);
    workers->serve();
  }
  REQUIRE(done == wanted);
}

std::string text_in(const WorkDone& done) {
  std::string text(done.size_bytes, '\0');
  REQUIRE(pread(done.file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  return text;
}

}  // namespace

TEST_CASE("what a worker writes comes back, with its status") {
  Workers workers;
  size_t done = 0;
  for (int i = 0; i < 20; ++i) {
    Work work;
    work.make = [i](ByteSink* sink) {
      sink->write(std::string(static_cast<size_t>(i) * 10'000, 'x'));
      return 200 + i;
    };
    work.done = [&done, i](WorkDone result) {
      CHECK(result.status == 200 + i);
      CHECK(text_in(result) == std::string(static_cast<size_t>(i) * 10'000, 'x'));
      ++done;
    };
    REQUIRE(workers.start(std::move(work)));
  }
  serve_until(&workers, done, 20);
}

TEST_CASE("a worker that dies, throws or takes too long is an answer of its own") {
  Workers workers;
  size_t done = 0;
  const auto start = [&](std::function<int(ByteSink*)> make, uint64_t patience_ns) {
    Work work;
    work.make = std::move(make);
    work.patience_ns = patience_ns;
    work.done = [&done](const WorkDone& result) {
      CHECK(result.status == 500);
      ++done;
    };
    REQUIRE(workers.start(std::move(work)));
  };
  constexpr uint64_t kLongNs = 60'000'000'000;
  start([](ByteSink*) -> int { _exit(3); }, kLongNs);
  start([](ByteSink*) -> int { throw std::bad_alloc(); }, kLongNs);
  start([](ByteSink*) -> int { return static_cast<int>(sleep(600)); }, 1);
  serve_until(&workers, done, 3);
}

TEST_CASE("a worker holds no descriptor but those that it was given") {
  const int kept = open("/dev/null", O_RDONLY);
  const int other = open("/dev/null", O_RDONLY);
  Workers workers;
  size_t done = 0;
  Work work;
  work.descriptors = {kept};
  work.make = [=](ByteSink*) { return fcntl(kept, F_GETFD) >= 0 && fcntl(other, F_GETFD) < 0 ? 200 : 404; };
  work.done = [&done](const WorkDone& result) {
    CHECK(result.status == 200);
    ++done;
  };
  REQUIRE(workers.start(std::move(work)));
  serve_until(&workers, done, 1);
  close(kept);
  close(other);
}

TEST_CASE("more than a few hundred are refused, and those that wait end with the server") {
  Workers workers;
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    Work work;
    work.make = [](ByteSink*) -> int { return static_cast<int>(sleep(600)); };
    work.done = [](const WorkDone&) {};
    if (!workers.start(std::move(work))) ++refused;
  }
  CHECK(refused == 300 - 4 - 256);
}
