// tests/unit/read/trace_reader_test.cc: a trace of device memory comes back as it went, and one that cannot be is
// refused.
#include "tests/support/traced_profile.h"
#include "tests/unit/read/helpers.h"

#include <catch2/catch.hpp>

#include <string>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

// What of a broken trace is said. `from` is in the trace's part of the file.
std::string said_of(const std::string& from, const std::string& to) {
  const std::string text = test::written(test::traced_profile());
  const size_t start = text.find("\"device_trace\"");
  REQUIRE(start != std::string::npos);
  const Result<Profile> profile = test::read_text(text.substr(0, start) + test::replaced(text.substr(start), from, to));
  REQUIRE_FALSE(profile.ok());
  CHECK(profile.problem().exit_code == 3);
  return profile.problem().what;
}

}  // namespace

TEST_CASE("a trace of device memory comes back as it went") {
  const Profile before = test::traced_profile();
  const std::string text = test::written(before);
  const Profile after = test::must_read(text);
  CHECK(test::written(after) == text);
  REQUIRE(after.trace.events.size() == before.trace.events.size());
  CHECK(after.trace.devices == before.trace.devices);
  CHECK(after.trace.scopes == before.trace.scopes);
  CHECK(after.trace.older_events == 3);
  CHECK(after.trace.left_out_blocks == 1);
  for (size_t i = 0; i < after.trace.events.size(); ++i) {
    const TraceEvent& left = before.trace.events[i];
    const TraceEvent& right = after.trace.events[i];
    CHECK(left.at_ns == right.at_ns);
    CHECK(left.action == right.action);
    CHECK(left.thread == right.thread);
    CHECK(left.scope == right.scope);
    CHECK(before.trace.memory[left.memory].address == after.trace.memory[right.memory].address);
    CHECK(before.trace.memory[left.memory].size_bytes == after.trace.memory[right.memory].size_bytes);
    CHECK((before.trace.memory[left.memory].node == 0) == (after.trace.memory[right.memory].node == 0));
  }
  REQUIRE(after.trace.live.size() == 3);
  CHECK(after.trace.live[0].is_segment);
}

TEST_CASE("a profile of before there were traces has none") {
  const Profile profile = test::must_read(test::written(test::assembled(test::small_sample())));
  CHECK_FALSE(profile.trace.has_any());
}

TEST_CASE("a trace that names what it does not have is refused") {
  const std::string names = "names what it does not have";
  CHECK(said_of("\"scope\":[0,", "\"scope\":[3,").find(names) != std::string::npos);
  CHECK(said_of("\"stack\":[1,", "\"stack\":[9,").find(names) != std::string::npos);
  CHECK(said_of("\"device\":[0,", "\"device\":[3,").find(names) != std::string::npos);
  CHECK(said_of("\"memory\":[0,1,2,3", "\"memory\":[0,1,2,99").find(names) != std::string::npos);
  CHECK(said_of("\"segments\":[0]", "\"segments\":[3]").find(names) != std::string::npos);
  CHECK(said_of("\"mappings\":[]", "\"mappings\":[18446744073709551615]").find(names) != std::string::npos);
}

TEST_CASE("a trace whose columns do not fit is refused") {
  CHECK(said_of("\"after_ns\":[1000000,", "\"after_ns\":[").find("several lengths") != std::string::npos);
  CHECK(said_of("\"size_bytes\":[", "\"size_bytes\":[7,").find("several lengths") != std::string::npos);
  CHECK(said_of("\"action\":[0,", "\"action\":[10,").find("unknown kind") != std::string::npos);
  CHECK(said_of("\"thread\":[4711,", "\"thread\":[4294967296,").find("of no thread") != std::string::npos);
  CHECK(said_of("\"most_events\":10", "\"most_events\":7").find("8 events of 7") != std::string::npos);
  CHECK(said_of("\"most_events\":10", "\"most_events\":1000001").find("than heapprof keeps") != std::string::npos);
  CHECK(said_of("\"after_ns\":[1000000,", "\"after_ns\":[18446744073709551615,").find("in a run of") !=
        std::string::npos);
  CHECK(said_of("[\"cuda:0\",", "[\"pinned\",").find("twice") != std::string::npos);
}
