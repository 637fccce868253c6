// tests/unit/read/merge_trees_test.cc: ranks are merged in trees that nobody chose, and the result must not show which.
#include "cli/base/byte_sink.h"
#include "cli/model/compare/merge_profiles.h"
#include "cli/model/profile/invariants.h"
#include "cli/model/profile/site_fields.h"
#include "cli/read/read_profile.h"
#include "cli/write/profile/dhat.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

#include <random>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

struct Leaf {
  Profile profile;
  std::string file;
};

std::string bytes_of(const Profile& profile) {
  StringSink sink;
  write_dhat(profile, &sink);
  return sink.text();
}

Profile merged(std::vector<Leaf> leaves) {
  ProfileMerger merger;
  for (Leaf& leaf : leaves) {
    const Result<Done> added = merger.add(std::move(leaf.profile), "folder/" + leaf.file);
    if (!added) FAIL(added.problem().what);
  }
  return merger.take();
}

// As a file would carry it from one machine to the next.
Profile reread(const Profile& profile, const std::string& name) {
  const std::string text = bytes_of(profile);
  TextSource source(text);
  Result<Profile> read = read_profile(&source, name);
  if (!read) FAIL(read.problem().what);
  return std::move(*read);
}

// Some at a time become one, until one is left; a sum's own file name must not matter.
Profile merged_in_some_tree(std::vector<Leaf> leaves, std::mt19937_64* random) {
  std::shuffle(leaves.begin(), leaves.end(), *random);
  for (int sums = 0; leaves.size() > 1; ++sums) {
    const size_t count = std::min<size_t>(leaves.size(), 1 + (*random)() % 4);
    std::vector<Leaf> some(std::make_move_iterator(leaves.end() - static_cast<std::ptrdiff_t>(count)),
                           std::make_move_iterator(leaves.end()));
    leaves.resize(leaves.size() - count);
    const std::string name = "part" + std::to_string(sums) + ".json";
    leaves.push_back({reread(merged(std::move(some)), name), name});
    std::shuffle(leaves.begin(), leaves.end(), *random);
  }
  return reread(merged(std::move(leaves)), "all.json");
}

void set_rank(Profile* profile, uint64_t rank, uint64_t ranks) {
  Job& job = profile->run.job;
  job.launcher = "Slurm";
  job.rank = rank;
  job.ranks = ranks;
  job.local_rank = rank % 4;
  job.host = "node" + std::to_string(rank / 4);
  job.local_device = std::to_string(rank % 4);
}

// Ranks of one program that differ in all that runs differ in.
std::vector<Leaf> make_ranks(uint32_t count, std::mt19937_64* random) {
  std::vector<Leaf> leaves;
  for (uint32_t rank = 0; rank < count; ++rank) {
    Leaf leaf;
    const uint64_t kind = (*random)() % 3;
    leaf.profile = kind == 0   ? assembled(small_sample())
                   : kind == 1 ? assembled(hostile_sample())
                               : assembled(random_sample({static_cast<uint32_t>((*random)() % 3), 40, 12, 60}));
    RunInfo& run = leaf.profile.run;
    set_rank(&leaf.profile, rank, count);
    run.pid = 100 + rank;
    run.title = "worker " + std::to_string(rank);
    run.start_unix_ns = static_cast<int64_t>(1'000'000 + (*random)() % 100);
    if ((*random)() % 3 == 0) run.command.push_back("--seed=" + std::to_string((*random)() % 3));
    if ((*random)() % 4 == 0) {
      run.complete = false;
      run.incomplete_reason = "events were lost";
    }
    if ((*random)() % 4 == 0) run.end = {EndKind::kSignaled, 9};
    run.machine.cpu = (*random)() % 2 == 0 ? "one" : "another";
    run.coverage.bypassing_modules = {"b" + std::to_string((*random)() % 3), "a"};
    run.coverage.unprofiled_programs = {{"/bin/x", "statically linked", 1 + (*random)() % 3, (*random)() % 2 == 0}};
    for (uint32_t thread = 0; thread < 30; ++thread)
      run.threads.push_back({thread, "t" + std::to_string((*random)() % 5), 1, (*random)() % 8, 1});
    std::stable_sort(run.threads.begin(), run.threads.end(),
                     [](const Thread& a, const Thread& b) { return a.total_bytes > b.total_bytes; });
    leaf.file = "rank." + std::to_string(rank) + ".json";
    leaves.push_back(std::move(leaf));
  }
  return leaves;
}

}  // namespace

TEST_CASE("any tree of merges, in any order, gives the same bytes") {
  const uint64_t seed = GENERATE(1, 2, 3, 4, 5, 6);
  std::mt19937_64 random(seed);
  const std::vector<Leaf> leaves = make_ranks(static_cast<uint32_t>(3 + seed * 3), &random);
  const Profile at_once = merged(leaves);
  CHECK(find_violations(at_once) == std::vector<std::string>{});
  const std::string expected = bytes_of(at_once);
  for (int tree = 0; tree < 6; ++tree) {
    const std::string bytes = bytes_of(merged_in_some_tree(leaves, &random));
    if (bytes == expected) continue;
    const auto differ = std::mismatch(bytes.begin(), bytes.end(), expected.begin(), expected.end());
    const auto at = static_cast<size_t>(differ.first - bytes.begin());
    FAIL("seed " << seed << ", tree " << tree << ", byte " << at << ":\n"
                 << bytes.substr(at > 300 ? at - 300 : 0, 400) << "\n---\n"
                 << expected.substr(at > 300 ? at - 300 : 0, 400));
  }
}

TEST_CASE("each site of a sum has the smallest, the largest, and whose it was") {
  std::vector<Leaf> leaves;
  for (uint64_t rank = 0; rank < 3; ++rank) {
    Leaf leaf{assembled(small_sample()), "rank." + std::to_string(rank) + ".json"};
    set_rank(&leaf.profile, rank, 3);
    leaves.push_back(std::move(leaf));
  }
  // Rank 1 has four times as much of everything, but for the sites of which it has nothing.
  Profile& large = leaves[1].profile;
  for (Device& device : large.devices) {
    for (Site& site : device.sites) {
      for (const SiteField& field : kSiteFields) {
        if (field.adds == SiteField::Adds::kSum) site.numbers.*field.number *= 4;
      }
      site.numbers.sizes.for_each_used(
          [&](int bucket, uint64_t blocks) { site.numbers.sizes.set(bucket, blocks * 4); });
    }
    for (const SiteField& field : kSiteFields) {
      if (field.total != nullptr) device.totals.*field.total *= 4;
    }
    device.totals.max_blocks *= 4;
    device.timeline.buckets.clear();
    device.moments_ns.clear();
  }
  const Profile small = leaves[0].profile;
  const Profile sum = merged(leaves);
  CHECK(find_violations(sum) == std::vector<std::string>{});
  REQUIRE(sum.devices.size() == small.devices.size());
  for (const Device& device : sum.devices) {
    for (const Site& site : device.sites) {
      REQUIRE(site.spread.size() == 1);
      const SiteSpread& spread = site.spread[0];
      CHECK(spread.inputs == 3);
      for (size_t i = 0; i < kSpreadFields; ++i) {
        CHECK(spread.of[i].max == 4 * spread.of[i].min);
        CHECK(site.numbers.*spread_fields()[i].number == 6 * spread.of[i].min);
        CHECK(spread.of[i].max_input == (spread.of[i].max == 0 ? 0 : 1));
      }
    }
  }
  REQUIRE(sum.merged.size() == 3 * sum.devices.size());
  CHECK(sum.merged[0].job.rank == 0);
  CHECK(sum.merged[0].job.host == "node0");
  REQUIRE_FALSE(sum.merged[0].rows.empty());
  CHECK(sum.merged[0].rows[0].peak_bytes <= sum.merged[0].peak_bytes);
  CHECK_FALSE(sum.run.job.has_rank());
}

TEST_CASE("what is not known of one part is not known of the sum") {
  Profile one = assembled(small_sample());
  Profile grouped = one;
  grouped.devices[0].sites[0].grouped_stacks = 2;
  const Profile sum = merged({{one, "a.json"}, {grouped, "b.json"}});
  CHECK(find_violations(sum) == std::vector<std::string>{});
  size_t unknown = 0;
  for (const Site& site : sum.devices[0].sites) unknown += site.spread.empty() ? 1 : 0;
  CHECK(unknown == 1);
}

TEST_CASE("a sum whose inputs and sites contradict each other is refused") {
  const Profile sum = merged({{assembled(small_sample()), "a.json"}, {assembled(small_sample()), "b.json"}});
  REQUIRE(find_violations(sum).empty());
  const auto breaks = [&](const auto& change) {
    Profile forged = sum;
    change(&forged);
    return !find_violations(forged).empty();
  };
  const auto spread = [](Profile* profile) -> SiteSpread& { return profile->devices[0].sites[0].spread[0]; };
  CHECK(breaks([&](Profile* it) { spread(it).inputs = 0; }));
  CHECK(breaks([&](Profile* it) { spread(it).inputs = 3; }));
  CHECK(breaks([&](Profile* it) { spread(it).inputs = 1; }));
  CHECK(breaks([&](Profile* it) { spread(it).of[0].min = spread(it).of[0].max + 1; }));
  CHECK(breaks([&](Profile* it) { spread(it).of[0].min = 0; }));
  CHECK(breaks([&](Profile* it) { spread(it).of[0].max += 1'000'000; }));
  CHECK(breaks([&](Profile* it) { spread(it).of[2].max_input = 2; }));
  CHECK(breaks([&](Profile* it) { spread(it).of[2].max_input = UINT32_MAX; }));
  CHECK(breaks([&](Profile* it) { it->merged.clear(); }));
  CHECK(breaks([&](Profile* it) { it->merged[0].input = 1; }));
  CHECK(breaks([&](Profile* it) { it->merged.back().input = 7; }));
  CHECK(breaks([&](Profile* it) { it->merged[1].device = it->merged[0].device; }));
  CHECK(breaks([&](Profile* it) { it->merged[0].rows.push_back({"x", UINT64_MAX}); }));
  CHECK(breaks([&](Profile* it) { it->merged[0].rows[0].peak_bytes = it->merged[0].peak_bytes + 1; }));
  CHECK(breaks([&](Profile* it) {
    it->merged[0].job.rank = 4;
    it->merged[0].job.ranks = 4;
  }));
  CHECK(breaks([&](Profile* it) { it->merged[0].job.rank = UINT64_MAX; }));
}
