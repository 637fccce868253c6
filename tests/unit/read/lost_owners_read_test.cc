// tests/unit/read/lost_owners_read_test.cc: what owns what was lost comes back from a file, adds up in sums, and goes
// where nothing is judged.
#include "cli/model/compare/merge_profiles.h"
#include "cli/model/profile/invariants.h"
#include "tests/support/sample_profile.h"
#include "tests/unit/read/helpers.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

// Every site that left something is held by the same two variables.
test::Sample held_sample() {
  test::Sample sample = test::small_sample();
  RecordedDevice& host = sample.recording.devices[0];
  sample.recording.run.leak_check = {true, true, "", 4096, 0, 1, 77};
  Holder one{HolderKind::kVariable, false, {"g_cache"}, "/bin/server", 0, 0, {}};
  Holder shared{HolderKind::kVariable, true, {"g_head", "g_tail"}, "", 0, 0, {}};
  for (RecordedSite& site : host.sites) {
    SiteNumbers& n = site.numbers;
    n.reachable_bytes = n.leaked_bytes;
    n.reachable_blocks = n.leaked_blocks;
    if (n.leaked_blocks == 0) continue;
    Holder& holder = one.blocks <= shared.blocks ? one : shared;
    holder.bytes += n.leaked_bytes;
    holder.blocks += n.leaked_blocks;
    holder.parts.push_back({site.stack, n.leaked_bytes, n.leaked_blocks});
  }
  host.held_by = {one, shared};
  return sample;
}

// Every site that left something lost all of it: the first one in cycles with the second, the others alone.
test::Sample judged_sample() {
  test::Sample sample = test::small_sample();
  RecordedDevice& host = sample.recording.devices[0];
  sample.recording.run.leak_check = {true, true, "", 4096, 0, 1, 77};
  for (RecordedSite& site : host.sites) {
    SiteNumbers& n = site.numbers;
    n.lost_bytes = n.leaked_bytes;
    n.lost_blocks = n.leaked_blocks;
    if (n.lost_blocks == 0) continue;
    host.lost_owners.push_back(
        {false, n.lost_blocks, n.lost_bytes, n.lost_blocks, {{site.stack, n.lost_bytes, n.lost_blocks}}});
  }
  REQUIRE_FALSE(host.lost_owners.empty());
  LostOwners& first = host.lost_owners[0];
  first.is_cycle = true;
  first.owners = 1;
  first.parts.push_back({1, 0, 0});
  return sample;
}

}  // namespace

TEST_CASE("what owns what was lost comes back") {
  const test::Sample sample = judged_sample();
  const Profile profile = assemble(sample.recording, sample.symbols);
  CHECK(find_violations(profile).empty());
  const std::string text = test::written(profile);
  CHECK(text.find("\"lost_owners\"") != std::string::npos);
  const Profile again = test::must_read(text);
  CHECK(test::written(again) == text);
  REQUIRE(again.devices[0].lost_owners.size() == profile.devices[0].lost_owners.size());
  for (size_t i = 0; i < again.devices[0].lost_owners.size(); ++i) {
    const LostOwners& was = profile.devices[0].lost_owners[i];
    const LostOwners& is = again.devices[0].lost_owners[i];
    CHECK(is.is_cycle == was.is_cycle);
    CHECK(is.owners == was.owners);
    CHECK(is.bytes == was.bytes);
    CHECK(is.blocks == was.blocks);
    REQUIRE(is.parts.size() == was.parts.size());
    for (size_t part = 0; part < is.parts.size(); ++part) {
      CHECK(is.parts[part].node == was.parts[part].node);
      CHECK(is.parts[part].bytes == was.parts[part].bytes);
      CHECK(is.parts[part].blocks == was.parts[part].blocks);
    }
  }
}

TEST_CASE("a file in which nothing was lost has no word of owners") {
  CHECK(test::written(test::assembled(test::small_sample())).find("owner") == std::string::npos);
}

TEST_CASE("owners of a sum are those of its parts, and the file is the same in any order") {
  const test::Sample sample = judged_sample();
  const Profile one = assemble(sample.recording, sample.symbols);
  Profile other = one;
  other.run.pid = 4711;
  other.devices[0].lost_owners.pop_back();
  const auto merged = [](const Profile& a, const Profile& b) {
    ProfileMerger merger;
    REQUIRE(merger.add(a, "a.json"));
    REQUIRE(merger.add(b, "a.json"));
    return merger.take();
  };
  const Profile sum = merged(one, other);
  CHECK(find_violations(sum).empty());
  REQUIRE(sum.devices[0].lost_owners.size() == one.devices[0].lost_owners.size());
  uint64_t owned = 0;
  for (const Device& device : {one.devices[0], other.devices[0]}) {
    for (const LostOwners& owners : device.lost_owners) owned += owners.bytes;
  }
  for (const LostOwners& owners : sum.devices[0].lost_owners) owned -= owners.bytes;
  CHECK(owned == 0);
  CHECK(test::written(merged(other, one)) == test::written(sum));
}

TEST_CASE("where the judgement is dropped, or the stacks are, there are no owners") {
  test::Sample sample = judged_sample();
  test::Sample other = judged_sample();
  drop_judgement("it was killed", &sample.recording);
  CHECK(sample.recording.devices[0].lost_owners.empty());
  drop_stacks(&other.recording);
  CHECK(other.recording.devices[0].lost_owners.empty());
  CHECK(find_violations(assemble(other.recording, other.symbols)).empty());
}

TEST_CASE("owners that a file has twice in one object, or that own more than was lost, are damage") {
  const test::Sample sample = judged_sample();
  const std::string text = test::written(assemble(sample.recording, sample.symbols));
  const auto changed = [&text](const std::string& from, const std::string& to) {
    std::string other = text;
    const size_t at = other.find(from);
    REQUIRE(at != std::string::npos);
    return other.replace(at, from.size(), to);
  };
  CHECK(test::read_text(text).ok());
  CHECK_FALSE(test::read_text(changed("\"is_cycle\":true", "\"is_cycle\":true,\"is_cycle\":true")).ok());
  CHECK_FALSE(test::read_text(changed("\"lost_owners\":[", "\"lost_owners\":[7,")).ok());
  CHECK_FALSE(test::read_text(changed("\"owners_count\":", "\"owners_count\":9999999")).ok());
}

TEST_CASE("what holds what is reachable comes back, adds up in sums by its name, and goes where nothing is judged") {
  test::Sample sample = held_sample();
  const Profile profile = assemble(sample.recording, sample.symbols);
  CHECK(find_violations(profile).empty());
  const std::string text = test::written(profile);
  const Profile again = test::must_read(text);
  CHECK(test::written(again) == text);
  REQUIRE(again.devices[0].held_by.size() == 2);
  const auto is_named = [](const Holder& holder) { return holder.names == std::vector<std::string>{"g_cache"}; };
  const auto named = std::find_if(again.devices[0].held_by.begin(), again.devices[0].held_by.end(), is_named);
  REQUIRE(named != again.devices[0].held_by.end());
  CHECK(named->kind == HolderKind::kVariable);
  CHECK(named->module == "/bin/server");
  const uint64_t bytes = named->bytes;
  ProfileMerger merger;
  for (const char* file : {"a.json", "b.json"}) REQUIRE(merger.add(again, file));
  const Profile sum = merger.take();
  CHECK(find_violations(sum).empty());
  REQUIRE(sum.devices[0].held_by.size() == 2);
  CHECK(std::find_if(sum.devices[0].held_by.begin(), sum.devices[0].held_by.end(), is_named)->bytes == 2 * bytes);
  drop_judgement("the profile is incomplete", &sample.recording);
  CHECK(sample.recording.devices[0].held_by.empty());
}

TEST_CASE("holders that have more than what is reachable are a violation") {
  const test::Sample sample = held_sample();
  Profile profile = assemble(sample.recording, sample.symbols);
  profile.devices[0].held_by[0].bytes += 1 << 20;
  CHECK_FALSE(find_violations(profile).empty());
}

TEST_CASE("what of large blocks was not used comes back, is in no sum, and in no file where it was not looked at") {
  test::Sample sample = test::small_sample();
  RecordedDevice& host = sample.recording.devices[0];
  CHECK(test::written(test::assembled(sample)).find("untouched") == std::string::npos);
  const uint64_t end_ns = sample.recording.run.duration_ns;
  const uint32_t stack = host.sites[0].stack;
  host.untouched = {end_ns, 300, 400, {{stack, 100, 150, 1}, {stack, 150, 200, 2}}};
  const Profile profile = test::assembled(sample);
  CHECK(find_violations(profile).empty());
  const std::string text = test::written(profile);
  const Profile again = test::must_read(text);
  CHECK(test::written(again) == text);
  const Untouched& it = again.devices[0].untouched;
  CHECK(it.seen_ns == end_ns);
  CHECK(it.untouched_bytes == 300);
  CHECK(it.bytes == 400);
  REQUIRE(it.parts.size() == 1);
  CHECK(it.parts[0].untouched_bytes == 250);
  CHECK(it.parts[0].bytes == 350);
  CHECK(it.parts[0].blocks == 3);
  ProfileMerger merger;
  for (const char* file : {"a.json", "b.json"}) REQUIRE(merger.add(again, file));
  CHECK_FALSE(merger.take().devices[0].untouched.has_any());
  for (const auto& change :
       {+[](Untouched* of) { of->parts[0].untouched_bytes = 351; }, +[](Untouched* of) { of->untouched_bytes = 401; },
        +[](Untouched* of) { of->bytes = 349; }, +[](Untouched* of) { of->seen_ns = UINT64_MAX; }}) {
    Profile broken = again;
    change(&broken.devices[0].untouched);
    CHECK_FALSE(find_violations(broken).empty());
  }
  drop_stacks(&sample.recording);
  CHECK(find_violations(test::assembled(sample)).empty());
}

TEST_CASE("what is known of the heap's pages comes back, is in no sum, and in no file where it was not looked at") {
  test::Sample sample = test::small_sample();
  RecordedDevice& host = sample.recording.devices[0];
  CHECK(test::written(test::assembled(sample)).find("fragmentation") == std::string::npos);
  const uint64_t end_ns = sample.recording.run.duration_ns;
  host.fragmentation = {end_ns / 2, end_ns, 81'920, 40'960, 2, 8'000, {{host.sites[0].stack, 5'000, 1}}};
  host.fragmentation.pinning.push_back({host.sites[0].stack, 2'000, 2});  // of the same stack, cut alike
  const Profile profile = test::assembled(sample);
  CHECK(find_violations(profile).empty());
  const std::string text = test::written(profile);
  const Profile again = test::must_read(text);
  CHECK(test::written(again) == text);
  const Fragmentation& it = again.devices[0].fragmentation;
  CHECK(it.from_ns == end_ns / 2);
  CHECK(it.seen_ns == end_ns);
  CHECK(it.resident_bytes == 81'920);
  CHECK(it.empty_bytes == 40'960);
  CHECK(it.empty_pieces == 2);
  CHECK(it.sparse_bytes == 8'000);
  REQUIRE(it.pinning.size() == 1);
  CHECK(it.pinning[0].bytes == 7'000);
  CHECK(it.pinning[0].blocks == 3);
  ProfileMerger merger;
  for (const char* file : {"a.json", "b.json"}) REQUIRE(merger.add(again, file));
  CHECK_FALSE(merger.take().devices[0].fragmentation.has_any());
  Profile broken = again;
  broken.devices[0].fragmentation.empty_bytes = 81'920;
  CHECK_FALSE(find_violations(broken).empty());
  broken = again;
  broken.devices[0].fragmentation.empty_pieces = 0;
  CHECK_FALSE(find_violations(broken).empty());
  drop_stacks(&sample.recording);
  CHECK(find_violations(test::assembled(sample)).empty());
}
