// tests/unit/read/dialects_test.cc: files of Valgrind and dhat-rs.
#include "cli/model/analysis/frame_kind.h"
#include "cli/model/profile/invariants.h"
#include "tests/support/user_frame.h"
#include "tests/unit/read/helpers.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;

TEST_CASE("Valgrind's profile of the heap is read, its totals are the sums") {
  const Profile profile = test::must_read(test::golden_text("foreign/valgrind_heap.json"));
  CHECK(profile.dialect == Dialect::kValgrind);
  CHECK(profile.time_unit == "instrs");
  CHECK(profile.has_lifetimes);
  CHECK(profile.run.command == std::vector<std::string>{"./sample"});
  CHECK(profile.run.duration_ns == 150845);
  REQUIRE(profile.devices.size() == 1);
  const DeviceTotals& totals = profile.devices[0].totals;
  CHECK(totals.total_bytes == 1235 + 1236 + 1237 + 77 + 11);
  CHECK(totals.total_blocks == 6);
  CHECK(totals.peak_bytes == 1235 + 1236 + 1237 + 77);
  CHECK(totals.leaked_bytes == 1235 + 1236 + 1237);
  CHECK(totals.leaked_blocks == 3);
  CHECK(totals.peak_ns == 144543);
  const Site& largest = profile.devices[0].sites[0];
  CHECK(largest.numbers.peak_bytes == 1237);
  CHECK(largest.numbers.lifetime_ns == 6649);  // instructions, not scaled
  const Frame* user = test::user_frame(profile, largest.node);
  REQUIRE(user != nullptr);
  CHECK(user->function == "leak");
  CHECK(user->file == "sample.c");
  REQUIRE(profile.modules.size() == 1);
  CHECK(profile.modules[0].path == "/usr/libexec/valgrind/vgpreload_dhat-amd64-linux.so");
}

TEST_CASE("dhat-rs' profile is read: microseconds, columns, inlined frames") {
  const Profile profile = test::must_read(test::golden_text("foreign/dhat_rs.json"));
  CHECK(profile.dialect == Dialect::kDhatRs);
  CHECK(profile.time_unit == "ns");
  CHECK(profile.run.duration_ns == 2'000'000);
  CHECK(profile.devices[0].totals.peak_ns == 1'500'000);
  CHECK(profile.devices[0].totals.total_bytes == 1600);
  CHECK(profile.devices[0].totals.leaked_bytes == 400);
  const Site& site = profile.devices[0].sites[0];
  CHECK(site.numbers.lifetime_ns == 1'200'000);
  const Frame& inner = profile.frames[profile.nodes[site.node].frame];
  CHECK(inner.function == "alloc::alloc::alloc");
  CHECK(inner.inlined);  // at the address of the next one
  const Frame* user = test::user_frame(profile, site.node);
  CHECK(user->function == "index::build");
  CHECK(user->line == 35);
  CHECK_FALSE(user->inlined);
}

TEST_CASE("a foreign profile written and read again is the same") {
  for (const std::string name : {"valgrind_heap.json", "dhat_rs.json"}) {
    const Profile profile = test::must_read(test::golden_text("foreign/" + name));
    CHECK(find_violations(profile).empty());
    const std::string text = test::written(profile);
    CHECK(text == test::golden_text("profile/from_" + name));
    const Profile again = test::must_read(text);
    CHECK(again.dialect == profile.dialect);
    CHECK(again.time_unit == profile.time_unit);
    CHECK(test::written(again) == text);
  }
}

TEST_CASE("profiles of other things than the heap are refused by name") {
  for (const char* name : {"foreign/valgrind_copy.json", "foreign/valgrind_ad-hoc.json"}) {
    const Result<Profile> profile = test::read_text(test::golden_text(name));
    REQUIRE_FALSE(profile.ok());
    CHECK(profile.problem().exit_code == 3);
    CHECK(profile.problem().what.find("not of the heap") != std::string::npos);
  }
}

TEST_CASE("a profile without lifetimes is read and stays without") {
  const std::string text =
      "{\"dhatFileVersion\":2,\"mode\":\"rust-heap\",\"verb\":\"Allocated\",\"bklt\":false,\"bkacc\":false,\"tu\":"
      "\"us\",\"Mtu\":\"s\","
      "\"cmd\":\"x\",\"pid\":1,\"te\":5,\"pps\":[{\"tb\":10,\"tbk\":2,\"fs\":[1]},{\"tb\":7,\"tbk\":1,\"fs\":[]}],"
      "\"ftbl\":[\"[root]\",\"0x1: f (a.rs:1:2)\"]}";
  const Profile profile = test::must_read(text);
  CHECK_FALSE(profile.has_lifetimes);
  CHECK(profile.devices[0].totals.total_bytes == 17);
  CHECK(profile.devices[0].sites.size() == 2);
  const std::string again = test::written(profile);
  CHECK(again.find("\"bklt\":false") != std::string::npos);
  CHECK(again.find("\"tl\"") == std::string::npos);
  CHECK(again.find("\"[no stack]\"") != std::string::npos);
  CHECK(test::written(test::must_read(again)) == again);
}

TEST_CASE("our file without its extension reads like a foreign one") {
  std::string text = test::golden_text("profile/small.json");
  text = text.substr(0, text.find(",\"heapprof\":")) + "}";
  const Profile profile = test::must_read(text);
  CHECK(profile.dialect == Dialect::kValgrind);
  CHECK(profile.time_unit == "ns");
  CHECK(profile.devices[0].totals.peak_bytes == 9312);
  const auto& sites = profile.devices[0].sites;
  CHECK(std::any_of(sites.begin(), sites.end(), [](const Site& site) { return site.node == 0; }));
}
