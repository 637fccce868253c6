// tests/unit/write/dhat_test.cc: the file keeps what Valgrind's viewer asks for, and does not change unnoticed.
#include "cli/write/profile/dhat.h"

#include "cli/model/analysis/group.h"
#include "cli/write/export/formats.h"
#include "tests/support/data_path.h"
#include "tests/support/json_document.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

std::string written(const Profile& profile) {
  StringSink sink;
  write_dhat(profile, &sink);
  return sink.text();
}

Profile empty_profile() {
  test::Sample sample = test::small_sample();
  sample.recording.devices = {{}};
  return test::assembled(sample);
}

Profile no_stack_profile() {
  test::Sample sample = test::small_sample();
  sample.recording.devices = {{}};
  test::Ledger ledger(&sample.recording.devices[0], 1'000'000'000);
  ledger.finish({ledger.allocate(ledger.add_site(0), 1235, 1'000'000'000)}, sample.recording.run.duration_ns);
  return test::assembled(sample);
}

bool is_integer_for_viewers(const rapidjson::Value& value) {
  return value.IsUint64() && value.GetUint64() < uint64_t{1} << 53;
}

// The rules of dh_view.js, Valgrind 3.19.
void check_for_viewer(const std::string& text) {
  rapidjson::Document json;
  json.Parse<rapidjson::kParseValidateEncodingFlag>(text.c_str(), text.size());
  REQUIRE_FALSE(json.HasParseError());
  CHECK(json["dhatFileVersion"].GetInt() == 2);
  CHECK(std::string(json["verb"].GetString()) == "Allocated");
  for (const char* field : {"mode", "cmd", "tu", "Mtu"}) CHECK(json[field].IsString());
  for (const char* field : {"pid", "te", "tg", "tuth"}) CHECK(is_integer_for_viewers(json[field]));
  CHECK(json["bklt"].GetBool());
  CHECK_FALSE(json["bkacc"].GetBool());
  CHECK(json["tg"].GetUint64() <= json["te"].GetUint64());

  const auto& table = json["ftbl"];
  REQUIRE(table.Size() >= 1);
  CHECK(std::string(table[0].GetString()) == "[root]");
  std::set<std::string> texts;
  for (const auto& entry : table.GetArray()) {
    const std::string frame(entry.GetString(), entry.GetStringLength());
    CHECK(texts.insert(frame).second);
    for (const char c : frame) CHECK((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
  }
  std::set<std::vector<unsigned>> locations;
  for (const auto& point : json["pps"].GetArray()) {
    for (const char* field : {"tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk"}) {
      REQUIRE(point.HasMember(field));
      CHECK(is_integer_for_viewers(point[field]));
    }
    CHECK(point["tl"].GetUint64() <= point["tbk"].GetUint64() * json["te"].GetUint64());
    std::vector<unsigned> frames;
    for (const auto& frame : point["fs"].GetArray()) {
      frames.push_back(frame.GetUint());
      CHECK((frames.back() > 0 && frames.back() < table.Size()));
    }
    CHECK_FALSE(frames.empty());
    CHECK(locations.insert(frames).second);
  }
}

}  // namespace

TEST_CASE("the viewer's rules hold for ordinary and for hostile profiles") {
  check_for_viewer(written(test::assembled(test::small_sample())));
  check_for_viewer(written(test::assembled(test::hostile_sample())));
  check_for_viewer(written(test::assembled(test::random_sample({21, 300, 20, 100}))));
  check_for_viewer(written(empty_profile()));
  check_for_viewer(written(no_stack_profile()));
  Profile grouped = test::assembled(test::random_sample({22, 30'000, 8, 200}));
  REQUIRE(group_small_sites(&grouped, {50, 200}) > 0);
  check_for_viewer(written(grouped));
}

TEST_CASE("a block that lives from the start to the end lives no longer than the run") {
  test::Sample sample = test::small_sample();
  sample.recording.run.duration_ns = 1'000'999;
  sample.recording.devices = {{}};
  test::Ledger ledger(&sample.recording.devices[0], 1'000'000);
  ledger.finish({ledger.allocate(ledger.add_site(3), 5, 0)}, 1'000'999);
  check_for_viewer(written(test::assembled(sample)));
}

TEST_CASE("the golden files are what is written today") {
  const std::pair<const char*, Profile> cases[] = {{"small", test::assembled(test::small_sample())},
                                                   {"hostile", test::assembled(test::hostile_sample())},
                                                   {"empty", empty_profile()},
                                                   {"no-stack", no_stack_profile()}};
  for (const auto& [name, profile] : cases) {
    std::ifstream file(heapprof::test::data_path("/golden/profile/") + name + ".json", std::ios::binary);
    REQUIRE(file.good());
    const std::string golden{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    INFO(name << ": if the change is meant: scripts/regold");
    CHECK(written(profile) == golden);
  }
}

TEST_CASE("every name in the file is in the manual page") {
  std::ifstream page(heapprof::test::data_path("/../man/heapprof-format.5.scd"));
  REQUIRE(page.good());
  std::string manual{std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()};
  manual.erase(std::remove(manual.begin(), manual.end(), '\\'), manual.end());
  const std::string text = written(test::assembled(test::hostile_sample()));
  const std::regex name("\"([A-Za-z_]+)\":");
  std::set<std::string> names;
  for (std::sregex_iterator i(text.begin(), text.end(), name), end; i != end; ++i) names.insert((*i)[1]);
  CHECK(names.size() > 80);
  for (const std::string& one : names) {
    INFO(one);
    CHECK(std::regex_search(manual, std::regex("\\b" + one + "\\b")));
  }
}

TEST_CASE("the environment is not in the file") {
  setenv("HEAPPROF_TEST_SECRET", "correct horse battery staple", 1);
  CHECK(written(test::assembled(test::small_sample())).find("battery") == std::string::npos);
  unsetenv("HEAPPROF_TEST_SECRET");
}

TEST_CASE("formats are found by name") {
  REQUIRE(find_export_format("dhat") != nullptr);
  CHECK(find_export_format("docx") == nullptr);
  for (const ExportFormat& format : export_formats()) {
    CHECK(find_export_format(format.name) == &format);
    CHECK_FALSE(format.summary.empty());
  }
}
