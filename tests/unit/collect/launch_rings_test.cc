// tests/unit/collect/launch_rings_test.cc: launches and times of the GPU as an agent writes them into its rings, and as
// no agent would.
#include "cli/collect/books/gpu_time_book.h"
#include "cli/collect/books/launch_book.h"
#include "tests/support/ring_session.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

using test::RingBuilder;
using Operation = wire::ScopeOperation;

struct Session : test::RingSession {
  Session() { agent->set_name(1, "", "outer"); }
};

constexpr wire::LaunchShape kShape = {{7, 6, 5}, {4, 3, 2}, 1000};

}  // namespace

TEST_CASE("launches are in the recording by scope, name and shape") {
  Session session;
  session.agent->set_kernel_name(1, "one");
  session.agent->set_kernel_name(wire::kMaxKernels, "last");
  RingBuilder ring = session.agent->claim();
  ring.open(77, 1);
  ring.launch(wire::pack_launch(1, kShape));
  ring.scope(Operation::kBegin, 1, 11, 1);
  for (int i = 0; i < 3; ++i) ring.launch(wire::pack_launch(wire::kMaxKernels, kShape));
  ring.launch(wire::pack_launch(2, kShape));  // a name that is not there
  ring.launch(wire::pack_launch(wire::kUnnamedKernel, kShape));
  ring.launch(wire::pack_launch(wire::kOtherKernel, kShape));
  ring.launch(wire::pack_graph_launch(0));
  for (int i = 0; i < 2; ++i) ring.launch(wire::pack_graph_launch(1 + 12));
  ring.scope(Operation::kEnd, 0, 11, 2);
  const Recording recording = session.finish();
  CHECK(recording.run.complete);
  REQUIRE(recording.scopes.outside.kernels.size() == 1);
  const KernelLaunches& outside = recording.scopes.outside.kernels[0];
  CHECK(outside.name == "one");
  CHECK((outside.grid == std::array<uint64_t, 3>{7, 6, 5}));
  CHECK((outside.block == std::array<uint64_t, 3>{4, 3, 2}));
  CHECK(outside.shared_bytes == 1000);
  CHECK(outside.count == 1);
  REQUIRE(recording.scopes.scopes.size() == 1);
  const Launches& inside = recording.scopes.scopes[0].launches;
  REQUIRE(inside.kernels.size() == 3);
  CHECK(inside.kernels[0].name == kOtherKernels);
  CHECK(inside.kernels[0].count == 2);
  CHECK(inside.kernels[1].name == kUnnamedKernels);
  CHECK(inside.kernels[2].name == "last");
  CHECK(inside.kernels[2].count == 3);
  REQUIRE(inside.graphs.size() == 2);
  CHECK_FALSE(inside.graphs[0].is_known);
  CHECK(inside.graphs[1].kernels == 12);
  CHECK(inside.graphs[1].count == 2);
}

TEST_CASE("a launch that no agent writes stops its ring") {
  const wire::Record launch = wire::pack_launch(1, kShape);
  const wire::Record graph = wire::pack_graph_launch(3);
  const wire::Record bad =
      GENERATE_COPY(wire::pack_launch(0, kShape), wire::pack_launch(wire::kMaxKernels + 1, kShape),
                    wire::pack_launch(wire::kGraphLaunch - 1, kShape), wire::Record{launch.w0, launch.w1 | 1ull << 63},
                    wire::Record{graph.w0 | 1, graph.w1}, wire::Record{graph.w0, graph.w1 | 1ull << 63});
  Session session;
  RingBuilder ring = session.agent->claim();
  ring.open(1, 1);
  ring.launch(bad);
  ring.launch(launch);
  const Recording recording = session.finish();
  CHECK(recording.run.counters.corrupt_records == 1);
  CHECK(recording.scopes.outside.empty());
}

TEST_CASE("a time of the GPU is the scope's in which its interval began, in whichever ring and order it comes") {
  Session session;
  RingBuilder one = session.agent->claim();
  RingBuilder two = session.agent->claim();
  one.open(1, 100);
  two.open(2, 1);
  one.gpu_interval(Operation::kGpuBegin, 1, 0);  // outside
  one.scope(Operation::kBegin, 1, 11, 100);
  one.gpu_interval(Operation::kGpuBegin, 2, 0);
  one.gpu_interval(Operation::kGpuBegin, 3, 0);
  one.gpu_interval(Operation::kGpuBegin, 4, 0);
  one.scope(Operation::kEnd, 0, 11, 101);
  one.gpu_interval(Operation::kGpuTime, 3, 500);
  two.gpu_interval(Operation::kGpuTime, 2, 70);  // before its begin, by the stamps of its ring
  two.gpu_interval(Operation::kGpuTime, 1, 9);
  const Recording recording = session.finish();
  CHECK(recording.run.complete);
  REQUIRE(recording.scopes.scopes.size() == 1);
  CHECK(recording.scopes.scopes[0].gpu.time_ns == 570);
  CHECK(recording.scopes.scopes[0].gpu.intervals == 2);
  CHECK(recording.scopes.gpu.outside.time_ns == 9);
  CHECK(recording.scopes.gpu.unread == 1);
}

TEST_CASE("halves of intervals are kept within a bound, and what is beyond is counted") {
  GpuTimeBook book;
  for (uint64_t id = 1; id <= GpuTimeBook::kMostOpen; ++id) book.begin(1, id);
  book.begin(1, GpuTimeBook::kMostOpen + 1);
  book.add(GpuTimeBook::kMostOpen + 2, 5);
  CHECK(book.unread() == GpuTimeBook::kMostOpen + 2);
  book.add(7, 30);
  CHECK(book.times().at(1).time_ns == 30);
  CHECK(book.times().at(1).intervals == 1);
  CHECK(book.unread() == GpuTimeBook::kMostOpen + 1);
}

TEST_CASE("what has no row of its own is counted by scope") {
  LaunchBook book;
  for (uint32_t i = 0; i < LaunchBook::kMostRows + 10; ++i)
    book.note(1, wire::pack_launch(1, {{i, 1, 1}, {1, 1, 1}, 0}));
  book.note(2, wire::pack_launch(1, {{0, 1, 1}, {1, 1, 1}, 0}));
  book.note(1, wire::pack_launch(1, {{0, 1, 1}, {1, 1, 1}, 0}));
  CHECK(book.rows().size() == LaunchBook::kMostRows);
  CHECK(book.others().at(1) == 10);
  CHECK(book.others().at(2) == 1);
  uint64_t sum = 0;
  for (const auto& [row, count] : book.rows()) sum += count;
  CHECK(sum == LaunchBook::kMostRows + 1);
}

}  // namespace heapprof::cli
