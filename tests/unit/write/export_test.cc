// tests/unit/write/export_test.cc: what is exported reads back as the profile's stacks and sums, whatever its names
// are.
#include "cli/base/text.h"
#include "cli/model/analysis/metrics.h"
#include "cli/write/encode/gzip_sink.h"
#include "cli/write/export/formats.h"
#include "cli/write/report/formats.h"
#include "tests/support/data_path.h"
#include "tests/support/json_document.h"
#include "tests/support/nasty_profile.h"
#include "tests/support/sample_profile.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

std::string exported(const Profile& profile, const char* format, const ExportView& view) {
  StringSink sink;
  find_export_format(format)->write(profile, view, &sink);
  return sink.text();
}

const Device& device_of(const Profile& profile, const std::string& name) {
  for (const Device& device : profile.devices) {
    if (device.name == name) return device;
  }
  FAIL("no device " << name);
  return profile.devices[0];
}

// As flamegraph.pl reads it: the number is what follows the last space, frames are split at ";".
test::StackSums read_folded(const std::string& text) {
  test::StackSums sums;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    REQUIRE(space != std::string::npos);
    REQUIRE(space > 0);
    CHECK(line[space - 1] != ';');
    std::vector<std::string> names(1);
    for (size_t i = 0; i < space; ++i) {
      if (line[i] == ';') {
        CHECK_FALSE(names.back().empty());
        names.emplace_back();
      } else if (line.compare(i, 4, "\\x3b") == 0) {
        names.back() += ';';
        i += 3;
      } else {
        names.back() += line[i];
      }
    }
    CHECK(sums.count(names) == 0);
    const std::string number = line.substr(space + 1);
    CHECK(number.find_first_not_of("0123456789") == std::string::npos);
    sums[names] = std::stoull(number);
  }
  return sums;
}

uint64_t sum_of(const test::StackSums& sums) {
  uint64_t sum = 0;
  for (const auto& [names, value] : sums) sum += value;
  return sum;
}

rapidjson::Document parse_json(const std::string& text) {
  rapidjson::Document json;
  json.Parse<rapidjson::kParseValidateEncodingFlag>(text.c_str(), text.size());
  REQUIRE_FALSE(json.HasParseError());
  return json;
}

// As the viewer's importer checks and reads one profile of the file; lines of one name are one here.
test::StackSums read_speedscope(const rapidjson::Document& json, const std::string& profile_name, std::string* unit) {
  const auto& frames = json["shared"]["frames"];
  for (const auto& profile : json["profiles"].GetArray()) {
    if (profile_name != profile["name"].GetString()) continue;
    *unit = profile["unit"].GetString();
    CHECK(std::string(profile["type"].GetString()) == "sampled");
    REQUIRE(profile["samples"].Size() == profile["weights"].Size());
    test::StackSums sums;
    uint64_t sum = 0;
    for (unsigned i = 0; i < profile["samples"].Size(); ++i) {
      std::vector<std::string> names;
      for (const auto& frame : profile["samples"][i].GetArray()) {
        REQUIRE(frame.GetUint() < frames.Size());
        const auto& name = frames[frame.GetUint()]["name"];
        names.emplace_back(name.GetString(), name.GetStringLength());
      }
      CHECK_FALSE(names.empty());
      sums[names] += profile["weights"][i].GetUint64();
      sum += profile["weights"][i].GetUint64();
    }
    CHECK(profile["startValue"].GetUint64() == 0);
    CHECK(profile["endValue"].GetUint64() == sum);
    return sums;
  }
  FAIL("no profile " << profile_name);
  return {};
}

std::string golden(const std::string& name) {
  std::ifstream file(heapprof::test::data_path("/golden/") + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Compares, or with HEAPPROF_REGOLD rewrites.
void check_golden(const std::string& name, const std::string& text) {
  if (std::getenv("HEAPPROF_REGOLD") != nullptr)
    std::ofstream(heapprof::test::data_path("/golden/") + name, std::ios::binary) << text;
  INFO(name << ": if the change is meant: scripts/regold");
  CHECK(golden(name) == text);
}

}  // namespace

TEST_CASE("folded stacks read back as the profile's, for every metric and device") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Profile profile = test::nasty_profile(seed, seed % 2 == 0);
    for (const auto& [word, metric] : kMetricWords) {
      for (const char* device : {"host", "cuda:0"}) {
        CAPTURE(seed, word, device);
        const test::StackSums got = read_folded(exported(profile, "folded", {device, metric, true}));
        const test::StackSums all = test::stack_sums(profile, device_of(profile, device), metric);
        CHECK((got == all));
        const test::StackSums shortened = read_folded(exported(profile, "folded", {device, metric}));
        CHECK(shortened.size() <= all.size());
        CHECK(sum_of(shortened) == sum_of(all));
      }
    }
  }
}

TEST_CASE("folded stacks are the peak of the host, unless something else is asked for") {
  const Profile profile = test::assembled(test::small_sample());
  CHECK(exported(profile, "folded", {}) == exported(profile, "folded", {"host", Metric::kPeak}));
  CHECK(exported(profile, "folded", {"", {}, true})
            .find("main;build_index(Scene const&);std::vector<int, std::allocator<int> >") != std::string::npos);
}

TEST_CASE("functions in folded stacks have short names, and variants of one are one box") {
  test::ScenePlan plan;
  plan.add_device("host");
  SizedNumbers n;
  n.total_bytes = n.peak_bytes = 100, n.total_blocks = 1;
  for (const char* name : {"std::vector<int, std::allocator<int> >::push_back(int const&)", "void put<char>(char)",
                           "void put<char>(char, int) [clone .part.0]"})
    plan.add_site({{name, "/src/a.h", 3}, {"main", "/src/main.cc", 1}}, n);
  plan.add_site({{"app::" + std::string(200, 'x') + "::run(int)", "/src/a.cc", 3}, {"main", "/src/main.cc", 1}}, n);
  const Profile profile = plan.take();
  test::StackSums sums = read_folded(exported(profile, "folded", {}));
  CHECK(sums.size() == 3);
  CHECK(sums[{"main", "std::vector<int>::push_back"}] == 100);
  CHECK(sums[{"main", "put<char>"}] == 200);
  for (const auto& [names, value] : sums) CHECK(display_width(names.back()) <= 80);
  CHECK(read_folded(exported(profile, "folded", {"", {}, true})).size() == 4);
}

// As the viewer's first view draws them: a box is closed where the next stack has another frame there.
TEST_CASE("speedscope's stacks are in order: what begins alike is side by side, in every profile") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Profile profile = test::nasty_profile(seed, seed % 2 == 0);
    const rapidjson::Document json = parse_json(exported(profile, "speedscope", {}));
    for (const auto& shown : json["profiles"].GetArray()) {
      std::set<std::vector<unsigned>> closed;
      std::vector<unsigned> before;
      for (const auto& sample : shown["samples"].GetArray()) {
        std::vector<unsigned> stack;
        for (const auto& frame : sample.GetArray()) stack.push_back(frame.GetUint());
        const auto common = std::mismatch(before.begin(), before.end(), stack.begin(), stack.end());
        const auto depth = static_cast<size_t>(common.first - before.begin());
        // Deeper boxes of one 20,000 frames deep are like the others; to look at all of them would take an hour.
        for (size_t end = depth + 1; end <= std::min<size_t>(before.size(), depth + 20); ++end)
          closed.insert({before.begin(), before.begin() + static_cast<std::ptrdiff_t>(end)});
        for (size_t end = depth + 1; end <= std::min<size_t>(stack.size(), depth + 20); ++end)
          REQUIRE(closed.count({stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(end)}) == 0);
        before = stack;
      }
    }
  }
}

TEST_CASE("a function is one frame of speedscope's, whatever lines of it are in stacks") {
  test::ScenePlan plan;
  plan.add_device("host");
  SizedNumbers n;
  n.total_bytes = n.peak_bytes = 100, n.total_blocks = 1;
  for (uint32_t line = 1; line < 9; ++line) {
    plan.add_site({{"fill", "/src/a.cc", 100 + line}, {"main", "/src/main.cc", line}}, n);
    plan.add_site({{"fill", "/src/b.cc", 100 + line}, {"main", "/src/main.cc", line}}, n);  // another of this name
  }
  const rapidjson::Document json = parse_json(exported(plan.take(), "speedscope", {"", Metric::kPeak}));
  CHECK(json["shared"]["frames"].Size() == 4);  // main, fill, fill, and that of no stack
  REQUIRE(json["profiles"][0]["samples"].Size() == 2);
  CHECK(json["profiles"][0]["weights"][0].GetUint64() == 800);
  std::set<std::string> files;
  for (const auto& frame : json["shared"]["frames"].GetArray()) {
    CHECK_FALSE(frame.HasMember("line"));
    if (frame.HasMember("file")) files.insert(frame["file"].GetString());
  }
  CHECK(files.size() == 3);
}

TEST_CASE("speedscope's profiles read back as the profile's, for every metric and device") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Profile profile = test::nasty_profile(seed, seed % 2 == 0);
    const rapidjson::Document json = parse_json(exported(profile, "speedscope", {}));
    CHECK(json["profiles"].Size() == 10);
    CHECK(std::string(json["profiles"][0]["name"].GetString()) == "host peak");
    for (const auto& [word, metric] : kMetricWords) {
      for (const char* device : {"host", "cuda:0"}) {
        CAPTURE(seed, word, device);
        std::string unit;
        const test::StackSums got = read_speedscope(json, std::string(device) + " " + word, &unit);
        CHECK((got == test::stack_sums(profile, device_of(profile, device), metric)));
        CHECK(unit == (is_in_bytes(metric) ? "bytes" : "none"));
      }
    }
  }
}

TEST_CASE("speedscope's file holds what was asked for") {
  const Profile profile = test::assembled(test::small_sample());
  const rapidjson::Document json = parse_json(exported(profile, "speedscope", {"cuda:0", Metric::kLeaked}));
  REQUIRE(json["profiles"].Size() == 1);
  CHECK(std::string(json["profiles"][0]["name"].GetString()) == "cuda:0 leaked");
}

TEST_CASE("a device's DHAT file holds its sites and no others") {
  const Profile profile = test::assembled(test::small_sample());
  const rapidjson::Document json = parse_json(exported(profile, "dhat", {"cuda:0", {}}));
  REQUIRE(json["pps"].Size() == 1);
  CHECK(json["pps"][0]["tb"].GetUint64() == 1 << 20);
  CHECK(json["tg"].GetUint64() == 2'500'000);
  REQUIRE(json["heapprof"]["devices"].Size() == 1);
  CHECK(std::string(json["heapprof"]["devices"][0]["name"].GetString()) == "cuda:0");
  for (const auto& frame : json["ftbl"].GetArray())
    CHECK(std::string(frame.GetString()).find("index") == std::string::npos);
}

TEST_CASE("without a device the DHAT file is the profile itself") {
  const Profile profile = test::assembled(test::small_sample());
  CHECK(exported(profile, "dhat", {}) == golden("profile/small.json"));
}

TEST_CASE("the host's DHAT file, when it is asked for by name, has no other device's sites either") {
  const Profile profile = test::assembled(test::small_sample());
  const rapidjson::Document json = parse_json(exported(profile, "dhat", {"host", {}}));
  REQUIRE(json["heapprof"]["devices"].Size() == 1);
  CHECK(std::string(json["heapprof"]["devices"][0]["name"].GetString()) == "host");
  CHECK(json["pps"].Size() == parse_json(golden("profile/small.json"))["pps"].Size());
}

TEST_CASE("a profile without lifetimes is exported by its totals") {
  Profile profile = test::assembled(test::small_sample());
  profile.has_lifetimes = false;
  profile.dialect = Dialect::kDhatRs;
  CHECK((read_folded(exported(profile, "folded", {"", {}, true})) ==
         test::stack_sums(profile, profile.devices[0], Metric::kTotal)));
  CHECK(parse_json(exported(profile, "speedscope", {}))["profiles"].Size() ==
        4);  // total and allocations, of two devices
}

TEST_CASE("a profile without sites is exported as empty") {
  Profile profile;
  profile.nodes.emplace_back();
  profile.devices.emplace_back().name = "host";
  CHECK(exported(profile, "folded", {}).empty());
  CHECK(parse_json(exported(profile, "speedscope", {}))["profiles"][0]["samples"].Size() == 0);
  CHECK_FALSE(exported(profile, "pprof", {}).empty());
}

TEST_CASE("exports of numbers that cannot be held are cut, and nothing is harmed") {
  test::ScenePlan plan;
  plan.add_device("host'; drop table");
  SizedNumbers n;
  n.total_bytes = n.peak_bytes = n.leaked_bytes = UINT64_MAX - 1, n.total_blocks = n.peak_blocks = 1;
  plan.add_site({{"a", "/src/a.cc", 9}}, n);
  plan.add_site({{"b", "/src/a.cc", 9}}, n);
  Profile profile = plan.take();
  profile.run.start_unix_ns = INT64_MAX;
  profile.run.duration_ns = UINT64_MAX;
  profile.devices[0].totals.peak_ns = UINT64_MAX;
  profile.devices[0].timeline = {UINT64_MAX / 2, {{0, UINT64_MAX}, {0, UINT64_MAX}, {0, 1}, {0, 1}}};
  for (const ExportFormat& format : export_formats()) {
    if (!format.is_of_trace) CHECK_FALSE(exported(profile, format.name.data(), {}).empty());
  }
  const std::string trace = exported(profile, "perfetto", {});
  CHECK(trace.find("host_; drop") == std::string::npos);
  CHECK(trace.find("host__ drop table at the peak") != std::string::npos);
}

TEST_CASE("the golden exports are what is written today") {
  const Profile scene = test::scene_profile();
  check_golden("export/scene.folded", exported(scene, "folded", {}));
  check_golden("export/scene_full.folded", exported(scene, "folded", {"", {}, true}));
  check_golden("export/scene_temporary.folded", exported(scene, "folded", {"", Metric::kTemporary}));
  check_golden("export/scene.speedscope.json", exported(scene, "speedscope", {}));
  check_golden("export/small_cuda.json", exported(test::assembled(test::small_sample()), "dhat", {"cuda:0", {}}));
  check_golden("export/scene.dot", exported(scene, "dot", {}));
  check_golden("export/scene_cuda.dot", exported(scene, "dot", {"cuda:0", Metric::kTotal}));
  check_golden("export/small.ndjson", exported(test::assembled(test::small_sample()), "sites", {}));
  check_golden("export/hostile.ndjson", exported(test::assembled(test::hostile_sample()), "sites", {}));
  check_golden("export/hostile.dot", exported(test::assembled(test::hostile_sample()), "dot", {}));
  check_golden("export/small.pftrace", exported(test::assembled(test::small_sample()), "perfetto", {}));
  check_golden("export/hostile.folded",
               exported(test::assembled(test::hostile_sample()), "folded", {"", Metric::kTotal}));
}
