// tests/unit/write/sites_test.cc: the table of sites: one row a line, whatever the names, and every number as it is.
#include "cli/model/analysis/metrics.h"
#include "cli/write/export/formats.h"
#include "tests/support/json_document.h"
#include "tests/support/nasty_profile.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <sstream>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

std::string exported(const Profile& profile, const char* format, const ExportView& view) {
  StringSink sink;
  find_export_format(format)->write(profile, view, &sink);
  return sink.text();
}

}  // namespace

TEST_CASE("lines of sites read back as the profile's, for every metric and device") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Profile profile = test::nasty_profile(seed, seed % 2 == 0);
    std::map<std::pair<std::string, std::string>, uint64_t> sums;
    std::istringstream lines(exported(profile, "sites", {}));
    for (std::string line; std::getline(lines, line);) {
      rapidjson::Document row;
      row.Parse<rapidjson::kParseValidateEncodingFlag>(line.c_str(), line.size());
      REQUIRE_FALSE(row.HasParseError());
      sums[{row["device"].GetString(), row["metric"].GetString()}] += row["value"].GetUint64();
      REQUIRE(row.MemberCount() == 24);
      const auto& stack = row["stack"];
      CHECK((stack.Size() == 0) == (std::string(row["function"].GetString()) == "[no stack]" && row["file"].IsNull()));
    }
    for (const auto& [word, metric] : kMetricWords) {
      for (const char* device : {"host", "cuda:0"}) {
        CAPTURE(seed, word, device);
        uint64_t sum = 0;
        for (const auto& [names, value] : test::stack_sums(profile, exported_device(profile, {device, {}}), metric))
          sum += value;
        CHECK((sums[{device, word}] == sum));
      }
    }
  }
}

TEST_CASE("lines of sites are of what was asked for, and exact beyond what a double holds") {
  test::ScenePlan plan;
  plan.add_device("host");
  SizedNumbers n;
  n.total_bytes = (uint64_t{1} << 63) + 1, n.total_blocks = 1;
  plan.add_site({{"main", "/src/main.cc", 1}}, n);
  plan.add_device("cuda:0");
  plan.add_site({{"main", "/src/main.cc", 1}}, n);
  const std::string text = exported(plan.take(), "sites", {"cuda:0", Metric::kTotal});
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK(text.find("\"value\":9223372036854775809,") != std::string::npos);
  CHECK(text.find("\"device\":\"cuda:0\"") != std::string::npos);
}
