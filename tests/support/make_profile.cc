// tests/support/make_profile.cc: writes profiles for tests: make_profile KIND … >FILE
//
//   small, hostile, empty, no-stack   see sample_profile.h
//   random SITES [SEED]               that many sites of depth 25
//   grouped SITES [SEED]              the same, the smallest summed in rows
//   rewrite FILE                      what FILE reads as
#include "cli/base/byte_sink.h"
#include "cli/model/analysis/group.h"
#include "cli/model/profile/invariants.h"
#include "cli/read/read_profile.h"
#include "cli/write/profile/dhat.h"
#include "tests/support/sample_profile.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace heapprof;

namespace {

cli::Profile make(std::string_view kind, const test::RandomShape& shape) {
  if (kind == "small") return test::assembled(test::small_sample());
  if (kind == "hostile") return test::assembled(test::hostile_sample());
  if (kind == "random" || kind == "grouped") {
    cli::Profile profile = test::assembled(test::random_sample(shape));
    if (kind == "grouped") cli::group_small_sites(&profile, {});
    return profile;
  }
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
