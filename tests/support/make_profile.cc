// tests/support/make_profile.cc: writes profiles for tests: make_profile KIND … >FILE
//
//   small, hostile, empty, no-stack   see sample_profile.h
//   random SITES [SEED]               that many sites of depth 25
//   grouped SITES [SEED]              the same, the smallest summed in rows
//   page SITES [SEED]                 the largest that a page is measured with: so many sites on two devices together,
//                                     1 M stretches of time, 10,000 runs of scopes
//   ranks SITES COUNT FOLDER          rank.0.json to rank.COUNT-1.json there, of one program: each lacks some sites,
//                                     and has its own multiple of the numbers of each; eight ranks a host
//   rewrite FILE                      what FILE reads as
#include "cli/base/atomic_file.h"
#include "cli/base/byte_sink.h"
#include "cli/model/analysis/group.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/invariants.h"
#include "cli/model/profile/site_fields.h"
#include "cli/read/read_profile.h"
#include "cli/write/profile/dhat.h"
#include "tests/support/sample_profile.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace heapprof;

namespace {

// A curve of so many stretches that begins at 0, peaks, and ends with what leaked.
cli::Timeline make_curve(const cli::DeviceTotals& totals, uint64_t duration_ns, size_t stretches) {
  cli::Timeline timeline;
  timeline.bucket_ns = std::max<uint64_t>(1, duration_ns / stretches);
  for (size_t i = 0; i < stretches; ++i) {
    const uint64_t high_bytes = totals.peak_bytes / stretches * i / 2 + totals.peak_bytes / 64 * (i / 100 % 32);
    timeline.buckets.push_back({high_bytes / 2, high_bytes});
  }
  timeline.buckets[stretches / 2].max_bytes = totals.peak_bytes;
  timeline.buckets.back() = {totals.leaked_bytes, totals.leaked_bytes};
  return timeline;
}

// What leaked stayed from a stretch on; some of what there was besides lived across some bounds.
void add_stays(cli::Device* device, uint64_t duration_ns) {
  constexpr uint32_t kBounds = 48;
  for (uint32_t i = 0; i < kBounds; ++i) device->bounds_ns.push_back(duration_ns / (kBounds - 1) * i);
  for (uint32_t i = 0; i < device->sites.size(); ++i) {
    cli::Site& site = device->sites[i];
    const cli::SiteNumbers& numbers = site.numbers;
    const uint32_t begin = i % (kBounds - 2);
    const uint64_t more_bytes = (numbers.max_bytes - numbers.leaked_bytes) / 2;
    if (more_bytes != 0 && numbers.total_blocks > numbers.leaked_blocks)
      site.stays.push_back({begin, begin + 1, more_bytes, 1});
    if (numbers.leaked_blocks != 0)
      site.stays.push_back({begin, kBounds - 1, numbers.leaked_bytes, numbers.leaked_blocks});
  }
}

// Steps, in each of which are two more scopes, one in the other.
cli::Scopes make_scopes(uint64_t duration_ns, size_t runs) {
  cli::Scopes scopes;
  scopes.scopes.resize(3);
  const char* const names[] = {"step", "forward", "attention"};
  for (uint32_t i = 0; i < 3; ++i) {
    cli::Scope& scope = scopes.scopes[i];
    scope.parent = i;
    scope.name = names[i];
    for (size_t run = 0; run < runs / 3; ++run) {
      const uint64_t step_ns = duration_ns / (runs / 3 + 1);
      cli::ScopeInstance instance;
      instance.begin_ns = step_ns * run + i * step_ns / 8;
      instance.end_ns = instance.begin_ns + step_ns * 7 / 8 - i * step_ns / 4;
      instance.active_ns = instance.end_ns - instance.begin_ns;
      instance.growth_bytes = static_cast<int64_t>(run * 100) - 50'000;
      instance.thread = 100;
      scope.instances.push_back(instance);
      scope.time_ns += instance.active_ns;
      scope.longest_ns = scope.shortest_ns = instance.active_ns;
    }
    scope.begun = scope.ended = scope.instances.size();
    scope.own_time_ns = scope.time_ns / 2;
    scope.durations = {cli::duration_bucket(scope.longest_ns), scope.ended};
  }
  return scopes;
}

cli::Profile make_page(test::RandomShape shape) {
  shape.sites /= 2;
  cli::Profile profile = test::assembled(test::random_sample(shape));
  const uint64_t duration_ns = profile.run.duration_ns;
  cli::Device& host = profile.devices[0];
  host.moments_ns.clear();
  for (cli::Site& site : host.sites) site.live_bytes.clear();
  host.timeline = make_curve(host.totals, duration_ns, 500'000);
  add_stays(&host, duration_ns);
  cli::Device second = host;
  second.name = "cuda:0";
  profile.devices.resize(1);
  profile.devices.push_back(std::move(second));
  profile.scopes = make_scopes(duration_ns, 10'000);
  return profile;
}

uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 31) * 0x7fb5d329728ea185;
  return value ^ value >> 29;
}

cli::Profile make_rank(const cli::Profile& base, uint64_t rank, uint64_t ranks) {
  cli::Profile profile = base;
  cli::RunInfo& run = profile.run;
  run.job = {"Slurm", rank, ranks, rank % 8, "node" + std::to_string(rank / 8), std::to_string(rank % 8), false};
  run.pid = 1000 + rank;
  for (cli::Device& device : profile.devices) {
    std::erase_if(device.sites, [&](const cli::Site& site) { return mixed(site.node * 7919 + rank) % 20 == 0; });
    device.timeline.buckets.clear();
    device.moments_ns.clear();
    for (const cli::SiteField& field : cli::kSiteFields) {
      if (field.total != nullptr) device.totals.*field.total = 0;
    }
    for (cli::Site& site : device.sites) {
      const uint64_t times = 1 + mixed(site.node * 104729 + rank * 31) % 5;
      site.live_bytes.clear();
      site.numbers.sizes.for_each_used(
          [&](int bucket, uint64_t blocks) { site.numbers.sizes.set(bucket, blocks * times); });
      for (const cli::SiteField& field : cli::kSiteFields) {
        if (field.adds == cli::SiteField::Adds::kSum) site.numbers.*field.number *= times;
        if (field.total != nullptr) device.totals.*field.total += site.numbers.*field.number;
      }
    }
    device.totals.max_blocks = device.totals.total_blocks;
    device.totals.resident_at_peak_bytes = device.totals.resident_max_bytes = 0;
    device.totals.live_at_resident_max_bytes = 0;
  }
  canonicalize(&profile);
  return profile;
}

int write_ranks(const test::RandomShape& shape, uint64_t ranks, const std::string& folder) {
  cli::Profile base = test::assembled(test::random_sample(shape));
  base.devices.resize(1);
  for (uint64_t rank = 0; rank < ranks; ++rank) {
    const cli::Profile profile = make_rank(base, rank, ranks);
    for (const std::string& violation : cli::find_violations(profile)) {
      std::fprintf(stderr, "make_profile: %s\n", violation.c_str());
      return 1;
    }
    cli::Result<cli::AtomicFile> file = cli::AtomicFile::create(folder + "/rank." + std::to_string(rank) + ".json");
    if (!file) return 1;
    write_dhat(profile, &*file);
    if (!file->commit()) return 1;
  }
  return 0;
}

cli::Profile make(std::string_view kind, const test::RandomShape& shape) {
  if (kind == "small") return test::assembled(test::small_sample());
  if (kind == "hostile") return test::assembled(test::hostile_sample());
  if (kind == "random" || kind == "grouped") {
    cli::Profile profile = test::assembled(test::random_sample(shape));
    if (kind == "grouped") cli::group_small_sites(&profile, {});
    return profile;
  }
  if (kind == "page") return make_page(shape);
  if (kind == "empty" || kind == "no-stack") {
    test::Sample sample = test::small_sample();
    sample.recording.devices = {{}};
    if (kind == "no-stack") {
      test::Ledger ledger(&sample.recording.devices[0], 1'000'000'000);
      ledger.finish({ledger.allocate(ledger.add_site(0), 1235, 1'000'000'000)}, sample.recording.run.duration_ns);
    }
    return test::assembled(sample);
  }
  std::fprintf(stderr, "make_profile: no such kind\n");
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "";
  cli::Profile profile;
  if (kind == "ranks" && argc > 4) {
    test::RandomShape shape;
    shape.sites = std::strtoull(argv[2], nullptr, 10);
    return write_ranks(shape, std::strtoull(argv[3], nullptr, 10), argv[4]);
  }
  if (kind == "rewrite" && argc > 2) {
    cli::Result<cli::Profile> read = cli::read_profile(argv[2]);
    if (!read) {
      std::fprintf(stderr, "make_profile: %s\n", read.problem().what.c_str());
      return read.problem().exit_code;
    }
    profile = std::move(*read);
  } else {
    test::RandomShape shape;
    if (argc > 2) shape.sites = std::strtoull(argv[2], nullptr, 10);
    if (argc > 3) shape.seed = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
    profile = make(kind, shape);
  }
  for (const std::string& violation : cli::find_violations(profile)) {
    std::fprintf(stderr, "make_profile: %s\n", violation.c_str());
    return 1;
  }
  cli::FdSink sink(STDOUT_FILENO, "standard output");
  write_dhat(profile, &sink);
  return sink.finish() ? 0 : 1;
}
