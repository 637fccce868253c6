// tests/unit/read/read_profile_test.cc: our own files come back as they went, in every part.
#include "cli/read/read_profile.h"

#include "cli/model/analysis/group.h"
#include "cli/model/profile/invariants.h"
#include "cli/model/profile/site_fields.h"
#include "cli/model/profile/site_numbers.h"
#include "tests/support/data_path.h"
#include "tests/support/sample_profile.h"
#include "tests/unit/read/helpers.h"

#include <catch2/catch.hpp>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <string>

using namespace heapprof;
using namespace heapprof::cli;

TEST_CASE("a written profile reads back and is written again to the same bytes") {
  for (const test::Sample& sample :
       {test::small_sample(), test::hostile_sample(), test::random_sample({7, 500, 12, 200})}) {
    const Profile profile = test::assembled(sample);
    CHECK(find_violations(profile).empty());
    const std::string text = test::written(profile);
    const Profile again = test::must_read(text);
    CHECK(find_violations(again).empty());
    CHECK(test::written(again) == text);
  }
}

TEST_CASE("snapshots come back, with what their sites had and their largest blocks") {
  Profile profile = test::assembled(test::small_sample());
  profile.snapshots.interval_ns = kMarksOnly;
  profile.snapshots.kept_interval_ns = 7;
  profile.snapshots.thinned = 1;
  profile.snapshots.late = 2;
  profile.snapshots.lost = 3;
  Device& host = profile.devices[0];
  host.sites[1].steps = {{0, 1, 1}, {2, 0, 1}};
  Snapshot mark{5, true, "io", "loaded", 4711, {{"host", 1, 1, {{host.sites[1].node, 1, 4}, {0, 0, 5}}}}, {}};
  profile.snapshots.snapshots = {
      mark, {6, false, "", "", 0, {{"host", 1, 1, {}}}, {}}, {6, true, "", "", 1, {{"host", 0, 1, {}}}, {}}};
  REQUIRE(find_violations(profile).empty());
  const std::string text = test::written(profile);
  const Profile again = test::must_read(text);
  CHECK(test::written(again) == text);
  REQUIRE(again.snapshots.snapshots.size() == 3);
  const Snapshot& read = again.snapshots.snapshots[0];
  CHECK(read.name == "loaded");
  CHECK(read.thread == 4711);
  CHECK(read.devices[0].largest[0].node == again.devices[0].sites[1].node);
  CHECK(read.devices[0].largest[1].node == 0);
  CHECK(again.snapshots.interval_ns == kMarksOnly);
  CHECK(again.snapshots.lost == 3);
  REQUIRE(again.devices[0].sites[1].steps.size() == 2);
  CHECK(again.devices[0].sites[1].steps[1].live_blocks == 1);
  CHECK(again.devices[0].sites[0].steps.empty());
}

TEST_CASE("names of memory come back, with their sites") {
  Profile profile = test::assembled(test::small_sample());
  Device& host = profile.devices[0];
  host.names = {{"model", "KV cache", 9, 2, 7, 1, 0, 0, {{host.sites[1].node, 5, 1, 0, 0}, {0, 4, 1, 0, 0}}},
                {"", "\x1b", 1, 1, 1, 1, 0, 0, {}}};
  REQUIRE(find_violations(profile).empty());
  const std::string text = test::written(profile);
  const Profile again = test::must_read(text);
  CHECK(test::written(again) == text);
  REQUIRE(again.devices[0].names.size() == 2);
  const NamedMemory& read = again.devices[0].names[0];
  CHECK(read.category == "model");
  CHECK(read.name == "KV cache");
  CHECK(read.max_bytes == 7);
  REQUIRE(read.sites.size() == 2);
  CHECK(read.sites[0].node == again.devices[0].sites[1].node);
  CHECK(read.sites[1].node == 0);
  CHECK(read.sites[1].total_bytes == 4);
}

TEST_CASE("more snapshots than are ever kept are refused") {
  Profile profile = test::assembled(test::small_sample());
  profile.snapshots.interval_ns = 1;
  profile.snapshots.snapshots.resize(kMostSnapshots);
  CHECK(test::read_text(test::written(profile)).ok());
  profile.snapshots.snapshots.emplace_back();
  CHECK(test::read_text(test::written(profile)).problem().exit_code == 3);
}

TEST_CASE("what sites held at moments, and what realloc moved, comes back") {
  Profile profile = test::assembled(test::small_sample());
  Device& host = profile.devices[0];
  host.moments_ns = {1, 2, 3};
  host.sites[1].live_bytes = {0, 12, 0};
  host.sites[1].numbers.resized_blocks = 1;
  host.sites[1].numbers.moved_bytes = 77;
  REQUIRE(find_violations(profile).empty());
  const std::string text = test::written(profile);
  const Profile again = test::must_read(text);
  CHECK(again.devices[0].moments_ns == host.moments_ns);
  CHECK(again.devices[0].sites[0].live_bytes.empty());
  CHECK(again.devices[0].sites[1].live_bytes == host.sites[1].live_bytes);
  CHECK(again.devices[0].sites[1].numbers.resized_blocks == 1);
  CHECK(again.devices[0].sites[1].numbers.moved_bytes == 77);
  CHECK(again.devices[1].moments_ns.empty());
  CHECK(test::written(again) == text);
}

TEST_CASE("what was judged comes back, and why not; too much of it, or with nothing judged, is damage") {
  Profile profile = test::assembled(test::small_sample());
  CHECK(test::written(profile).find("leak_check") == std::string::npos);
  profile.run.leak_check = {true, false, "the program is still running", 0, 0, 0, 0};
  Profile again = test::must_read(test::written(profile));
  CHECK(again.run.leak_check.is_asked);
  CHECK_FALSE(again.run.leak_check.is_made);
  CHECK(again.run.leak_check.reason == "the program is still running");
  profile.run.leak_check = {true, true, "", 4096, 16, 3, 77};
  size_t leaking = 0;
  while (profile.devices[0].sites[leaking].numbers.leaked_blocks == 0) ++leaking;
  SiteNumbers& judged = profile.devices[0].sites[leaking].numbers;
  judged.lost_bytes = judged.leaked_bytes;
  judged.lost_blocks = judged.leaked_blocks;
  CHECK(find_violations(profile).empty());
  const std::string text = test::written(profile);
  again = test::must_read(text);
  CHECK(again.run.leak_check.is_made);
  CHECK(again.run.leak_check.searched_bytes == 4096);
  CHECK(again.run.leak_check.unread_bytes == 16);
  CHECK(again.run.leak_check.stopped_threads == 3);
  CHECK(again.devices[0].sites[leaking].numbers.lost_bytes == judged.leaked_bytes);
  CHECK(again.devices[0].sites[leaking].numbers.reachable_bytes == 0);
  CHECK(test::written(again) == text);
  judged.reachable_blocks = 1;
  CHECK_FALSE(find_violations(profile).empty());
  judged.reachable_blocks = 0;
  profile.run.leak_check.is_made = false;
  CHECK_FALSE(find_violations(profile).empty());
}

TEST_CASE("the sizes of a site's blocks come back, and a file without them says nothing of them") {
  Profile profile = test::assembled(test::small_sample());
  std::vector<Site>& sites = profile.devices[0].sites;
  REQUIRE(sites.size() > 2);
  REQUIRE(has_sizes(sites[0].numbers));
  sites[1].numbers.smallest_bytes = sites[1].numbers.largest_bytes = 0;  // as of a sum with an old one
  const Profile back = test::must_read(test::written(profile));
  for (size_t i = 0; i < sites.size(); ++i) {
    CHECK(back.devices[0].sites[i].numbers.smallest_bytes == sites[i].numbers.smallest_bytes);
    CHECK(back.devices[0].sites[i].numbers.largest_bytes == sites[i].numbers.largest_bytes);
  }
  CHECK(test::written(back) == test::written(profile));
  for (Device& device : profile.devices) {
    for (Site& site : device.sites) site.numbers.smallest_bytes = site.numbers.largest_bytes = 0;
  }
  const std::string old = test::written(profile);
  CHECK(old.find("\"sized\"") == std::string::npos);
  const Profile back_of_old = test::must_read(old);
  for (const Site& site : back_of_old.devices[0].sites) CHECK(site.numbers.largest_bytes == 0);
}

TEST_CASE("profiles of before counted sizes by powers of four, and are read and written as such") {
  const Profile profile = test::assembled(test::small_sample());
  CHECK_FALSE(test::must_read(test::written(profile)).has_coarse_sizes);
  Profile coarse = profile;
  coarsen_sizes(&coarse);
  const std::string text = test::written(coarse);
  CHECK(text.find(",\"sizes_count\":[[4,1,5,1],4,2,0]") != std::string::npos);
  CHECK(text.find("\"block_sizes_count\":") == std::string::npos);
  const Profile back = test::must_read(text);
  CHECK(back.has_coarse_sizes);
  CHECK(test::written(back) == text);
  for (size_t i = 0; i < back.devices[0].sites.size(); ++i)
    CHECK(back.devices[0].sites[i].numbers.sizes == coarse.devices[0].sites[i].numbers.sizes);
  // As an older heapprof wrote it.
  const Result<Profile> old = read_profile(heapprof::test::data_path("/fuzz/corpus/profile/ours_small.json"));
  REQUIRE(old.ok());
  CHECK(old->has_coarse_sizes);
  CHECK(find_violations(*old).empty());
}

TEST_CASE("stacks of calls and refusals come back, beside a site without a stack") {
  Profile profile = test::assembled(test::small_sample());
  const auto node_of = [](const Profile& of, const std::string& function) {
    for (uint32_t i = 1; i < of.nodes.size(); ++i) {
      if (of.frames[of.nodes[i].frame].function == function) return i;
    }
    return uint32_t{0};
  };
  REQUIRE(std::any_of(profile.devices[0].sites.begin(), profile.devices[0].sites.end(),
                      [](const Site& site) { return site.node == 0; }));
  uint64_t duration_ns = 9;
  for (const char* function : {"main", "jit::loop", "", "none"})  // "": of the library without names; "none": no stack
    profile.api.calls.push_back({function, node_of(profile, function), 1, --duration_ns, 0});
  Refusal refusal;
  refusal.node = node_of(profile, "jit::loop");
  refusal.count = 1;
  refusal.live_sites = {{node_of(profile, "main"), 7, 1}, {0, 5, 1}};
  profile.devices[1].refusals = {refusal};
  REQUIRE(find_violations(profile).empty());

  const std::string text = test::written(profile);
  const Profile again = test::must_read(text);
  CHECK(test::written(again) == text);
  REQUIRE(again.api.calls.size() == 4);
  for (const ApiCall& call : again.api.calls) {
    CAPTURE(call.call);
    CHECK(call.node == node_of(again, call.call));
  }
  REQUIRE(again.devices[1].refusals.size() == 1);
  CHECK(again.devices[1].refusals[0].node == node_of(again, "jit::loop"));
  REQUIRE(again.devices[1].refusals[0].live_sites.size() == 2);
  CHECK(again.devices[1].refusals[0].live_sites[0].node == node_of(again, "main"));
  CHECK(again.devices[1].refusals[0].live_sites[1].node == 0);
}

TEST_CASE("the other processes of the run come back, and a file of before they were kept has none") {
  Profile profile = test::assembled(test::small_sample());
  const std::string old = test::written(profile);
  CHECK(old.find("processes") == std::string::npos);
  CHECK(test::must_read(old).run.processes.empty());
  profile.run.processes = {
      {4712, 4711, 0, {"sort", "big.txt"}, "heapprof.sh.4711.4712.json", 1'044'381'696, 1'084'227'584},
      {4713, 4712, 2, {"uniq"}, "", 70'000, 0}};
  profile.run.other_processes_count = 17;
  const std::string text = test::written(profile);
  const Profile back = test::must_read(text);
  CHECK(test::written(back) == text);
  REQUIRE(back.run.processes.size() == 2);
  CHECK(back.run.processes[0].file == "heapprof.sh.4711.4712.json");
  CHECK(back.run.processes[0].command == std::vector<std::string>{"sort", "big.txt"});
  CHECK(back.run.processes[0].resident_max_bytes == 1'084'227'584);
  CHECK(back.run.processes[1].image == 2);
  CHECK(back.run.other_processes_count == 17);
}

TEST_CASE("two devices of one name are refused") {
  Profile profile = test::assembled(test::small_sample());
  profile.devices[1].name = "host";
  const Result<Profile> again = test::read_text(test::written(profile));
  REQUIRE_FALSE(again.ok());
  CHECK(again.problem().id == "HP064");
  CHECK_THAT(again.problem().what, Catch::Contains("two devices are called host"));
}

TEST_CASE("a grouped profile keeps the counts of its rows") {
  Profile profile = test::assembled(test::random_sample({8, 30'000, 12, 200}));
  REQUIRE(group_small_sites(&profile, {100, 300}) > 0);
  const std::string text = test::written(profile);
  const Profile again = test::must_read(text);
  for (size_t i = 0; i < profile.devices[0].sites.size(); ++i) {
    CHECK(again.devices[0].sites[i].grouped_stacks == profile.devices[0].sites[i].grouped_stacks);
    CHECK(again.devices[0].sites[i].max_is_bound == profile.devices[0].sites[i].max_is_bound);
  }
  CHECK(test::written(again) == text);
}

TEST_CASE("everything that a profile holds comes back") {
  Profile profile = test::assembled(test::small_sample());
  profile.run.image = 2;
  profile.run.is_fork = true;
  profile.run.end = {EndKind::kSignaled, 9};
  profile.run.complete = false;
  profile.run.incomplete_reason = "3 events were lost";
  profile.run.start_unix_ns = -5;
  profile.run.coverage.new_recorded = true;
  profile.run.coverage.self_test_failures = {"pvalloc", "valloc"};
  profile.run.counters.lost = 3;
  profile.run.counters.verify_mismatched = UINT64_MAX;
  const Profile again = test::must_read(test::written(profile));
  CHECK(again.dialect == Dialect::kHeapprof);
  CHECK(again.run.command == profile.run.command);
  CHECK(again.run.executable == profile.run.executable);
  CHECK(again.run.pid == 31337);
  CHECK(again.run.parent_pid == 31336);
  CHECK(again.run.image == 2);
  CHECK(again.run.is_fork);
  CHECK(again.run.start_unix_ns == -5);
  CHECK(again.run.duration_ns == profile.run.duration_ns);
  CHECK(again.run.end.kind == EndKind::kSignaled);
  CHECK(again.run.end.status == 9);
  CHECK_FALSE(again.run.complete);
  CHECK(again.run.incomplete_reason == "3 events were lost");
  CHECK(again.run.machine.cores == 2);
  CHECK(again.run.machine.memory_bytes == 25'000'000'000);
  CHECK(again.run.coverage.new_recorded);
  CHECK(again.run.coverage.self_test_failures == profile.run.coverage.self_test_failures);
  CHECK(again.run.counters.lost == 3);
  CHECK(again.run.counters.verify_mismatched == UINT64_MAX);
  CHECK(again.run.cost.symbolize_ns == 6'000'000);
  REQUIRE(again.run.threads.size() == 2);
  CHECK(again.run.threads[1].name == "worker");
  CHECK(again.run.other_threads_count == 2);
  CHECK(again.run.other_threads.total_bytes == 250);
  REQUIRE(again.modules.size() == 3);
  CHECK(again.modules[0].build_id == "c0ffee");
  REQUIRE(again.devices.size() == 2);
  CHECK(again.devices[1].name == "cuda:0");
  CHECK(again.devices[1].sites.size() == 1);
  CHECK(again.devices[0].totals.resident_max_bytes == 6'000'000);
  CHECK(again.devices[0].totals.max_blocks_ns == profile.devices[0].totals.max_blocks_ns);
  CHECK(again.devices[0].timeline.buckets.size() == profile.devices[0].timeline.buckets.size());
  REQUIRE(again.frames.size() == profile.frames.size());
  for (size_t i = 0; i < again.frames.size(); ++i) {
    CHECK(again.frames[i].svma == profile.frames[i].svma);
    CHECK(again.frames[i].function == profile.frames[i].function);
    CHECK(again.frames[i].file == profile.frames[i].file);
    CHECK(again.frames[i].line == profile.frames[i].line);
    CHECK(again.frames[i].module == profile.frames[i].module);
    CHECK(again.frames[i].inlined == profile.frames[i].inlined);
  }
  for (size_t d = 0; d < again.devices.size(); ++d) {
    for (size_t i = 0; i < again.devices[d].sites.size(); ++i) {
      const Site& a = again.devices[d].sites[i];
      const Site& b = profile.devices[d].sites[i];
      CHECK(a.node == b.node);
      CHECK(a.truncated == b.truncated);
      CHECK(a.numbers.lifetime_ns == b.numbers.lifetime_ns);
      CHECK(a.numbers.first_leak_ns == b.numbers.first_leak_ns);
      CHECK(a.numbers.last_leak_ns == b.numbers.last_leak_ns);
      CHECK(a.numbers.max_blocks == b.numbers.max_blocks);
      CHECK(a.numbers.sizes == b.numbers.sizes);
    }
  }
}

TEST_CASE("what drivers hold comes back") {
  Profile profile = test::assembled(test::small_sample());
  CHECK(test::written(profile).find("\"held\"") == std::string::npos);
  profile.devices[1].held = {1, 2, 3, 4, 5, 6, 7, 8, UINT64_MAX, true};
  profile.devices[1].use = {3, UINT64_MAX, 5, true, "a \"reason\""};
  const std::string text = test::written(profile);
  const Profile again = test::must_read(text);
  CHECK(test::written(again) == text);
  CHECK(again.devices[1].held.pools_idle_peak_bytes == 5);
  CHECK(again.devices[1].held.graphs_bytes == 6);
  CHECK(again.devices[1].held.graphs_used_peak_bytes == UINT64_MAX);
  CHECK(again.devices[1].held.is_partial);
  CHECK(!has_any(again.devices[0].held));
  CHECK(!has_any(again.devices[0].use));
  CHECK(again.devices[1].use.samples == 3);
  CHECK(again.devices[1].use.max_bytes == UINT64_MAX);
  CHECK(again.devices[1].use.seen_at_max_bytes == 5);
  CHECK(again.devices[1].use.is_of_all);
  CHECK(again.devices[1].use.missing == "a \"reason\"");
}

TEST_CASE("numbers that a double cannot hold are exact all the same") {
  test::Sample sample = test::small_sample();
  RecordedDevice device;
  test::Ledger ledger(&device, 1'000'000'000);
  const uint64_t huge = (uint64_t{1} << 53) + 1;
  const uint32_t site = ledger.add_site(3);
  ledger.finish({ledger.allocate(site, huge, 1'000'000'000), ledger.allocate(ledger.add_site(6), 5, 1'000'000'001)},
                sample.recording.run.duration_ns);
  sample.recording.devices = {device};
  const std::string text = test::written(test::assembled(sample));
  CHECK(text.find("{\"tb\":9007199254740991,") != std::string::npos);  // 2^53 - 1, for the viewer
  const Profile again = test::must_read(text);
  CHECK(again.devices[0].sites[0].numbers.total_bytes == huge);
  CHECK(again.devices[0].sites[0].numbers.leaked_bytes == huge);
  CHECK(again.devices[0].sites[1].numbers.total_bytes == 5);
  CHECK(test::written(again) == text);
}

TEST_CASE("the order of names in the file does not matter, and unknown ones are skipped") {
  const std::string text = test::written(test::assembled(test::small_sample()));
  const size_t at = text.find(",\"heapprof\":");
  const std::string head = text.substr(0, at);
  std::string extension = text.substr(at + 1);
  extension.resize(extension.rfind('}'));  // the end of the whole
  const std::string turned = "{\"later\":[1.5e3,{\"x\":null}]," + extension + "," + head.substr(1) + "}\n";
  CHECK(test::written(test::must_read(turned)) == text);
  CHECK(test::written(test::must_read(
            test::replaced(text, "\"counters\":{", "\"counters\":{\"new_kind_count\":[true],"))) == text);
}

TEST_CASE("a gzip'd profile reads like a plain one") {
  const std::string text = test::written(test::assembled(test::small_sample()));
  char path[] = "/tmp/heapprof-read-XXXXXX";
  const int fd = mkstemp(path);
  REQUIRE(fd >= 0);
  gzFile file = gzdopen(fd, "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
  const Result<Profile> profile = read_profile(path);
  unlink(path);
  REQUIRE(profile.ok());
  CHECK(test::written(*profile) == text);
}

TEST_CASE("the golden files read and are written as they are") {
  for (const char* name :
       {"profile/small.json", "profile/hostile.json", "profile/empty.json", "profile/no-stack.json"}) {
    const std::string text = test::golden_text(name);
    CHECK(test::written(test::must_read(text)) == text);
  }
}
