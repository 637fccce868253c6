// tests/unit/read/read_profile_test.cc: our own files come back as they went.
#include "cli/read/read_profile.h"

#include "cli/model/invariants.h"
#include "cli/write/dhat.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

std::string written(const Profile& profile) {
  StringSink sink;
  write_dhat(profile, &sink);
  return sink.text();
}

Profile read_back(const std::string& text) {
  TextSource source(text);
  Result<Profile> profile = read_profile(&source, "test.json");
  INFO((profile ? "" : profile.problem().what));
  REQUIRE(profile.ok());
  return *profile;
}

}  // namespace

TEST_CASE("a written profile reads back and is written again to the same bytes") {
  for (const test::Sample& sample :
       {test::small_sample(), test::hostile_sample(), test::random_sample({7, 500, 12, 200})}) {
    const Profile profile = test::assembled(sample);
    CHECK(find_violations(profile).empty());
    const std::string text = written(profile);
    const Profile again = read_back(text);
    CHECK(find_violations(again).empty());
    CHECK(written(again) == text);
  }
}
