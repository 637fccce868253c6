// tests/support/make_profile.cc: writes profiles for tests from code: make_profile KIND [SITES [SEED]] >FILE
//
//   small, hostile, empty, no-stack   see sample_profile.h
//   random                            SITES sites of depth 25
#include "cli/base/byte_sink.h"
#include "cli/model/group.h"
#include "cli/model/invariants.h"
#include "cli/write/registry.h"
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
  if (kind == "random") return test::assembled(test::random_sample(shape));
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
  test::RandomShape shape;
  if (argc > 2) shape.sites = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) shape.seed = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
  cli::Profile profile = make(argc > 1 ? argv[1] : "", shape);
  if (argc > 4 && std::string_view(argv[4]) == "grouped") cli::group_small_sites(&profile, {});
  for (const std::string& violation : cli::find_violations(profile)) {
    std::fprintf(stderr, "make_profile: %s\n", violation.c_str());
    return 1;
  }
  cli::FdSink sink(STDOUT_FILENO, "standard output");
  cli::find_format("dhat")->write(profile, &sink);
  return sink.finish() ? 0 : 1;
}
