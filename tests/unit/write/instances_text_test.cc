// tests/unit/write/instances_text_test.cc: single runs of a scope: the slowest and those that grew most, what is said
// where some were left out, and the same in JSON.
#include "cli/write/report/scopes/instances_text.h"

#include "cli/write/report/formats.h"
#include "tests/support/golden.h"
#include "tests/support/rendered.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

Profile serving() {
  Profile profile;
  profile.devices.resize(2);
  profile.devices[0].name = "host";
  profile.devices[1].name = "cuda:0";
  Scope serve, decode;
  serve.name = "serve";
  serve.begun = 1;
  serve.instances = {{1'000'000, 900'000'000, 899'000'000, 5, 4711, kInstanceOpen}};
  serve.instance_memory = {{"host", {10}, {20}}};
  decode.parent = 1;
  decode.category = "llm";
  decode.name = "decode";
  decode.begun = 9;
  decode.ended = 8;
  decode.own_time_ns = 1'000'000;
  decode.unkept_instances = 4;
  decode.instances = {{2'000'000, 3'000'000, 1'000'000, 4096, 4711, 0},
                      {5'000'000, 25'000'000, 20'000'000, -1024, 4712, 0},
                      {30'000'000, 70'000'000, 15'000'000, 1 << 20, 4712, kInstanceLeft},
                      {80'000'000, 80'000'000, 0, 0, 4711, kInstanceLeftOpen},
                      {90'000'000, 91'500'000, 1'500'000, 0, 4713, kInstanceApart}};
  decode.instance_memory = {{"host", {100, 200, 300, 400, 500}, {4196, 200, 301, 400, 500}},
                            {"cuda:0", {0, 0, 1 << 20, 0, 0}, {0, 0, 2 << 20, 7, 0}}};
  profile.scopes.scopes = {serve, decode};
  return profile;
}

}  // namespace

TEST_CASE("single runs of a scope: the slowest, and those that grew most") {
  const std::string text = instances_text(serving(), "*decode", {80, false, 3});
  check_golden("report/instances_80.txt", text);
  check_lines(text, 80);
  // A name, a name with its category, and a path mean the same scope.
  for (const char* glob : {"decode", "llm: decode", "serve > *", "serve > decode", "dec*"})
    CHECK(instances_text(serving(), glob, {80, false, 3}) == text);
  CHECK(instances_text(serving(), "serve > gpu: decode", {80, false, 3}).empty());  // of another category
  CHECK(instances_text(serving(), "serve", {80, false, 3}).find("open at the end") != std::string::npos);
}

TEST_CASE("a scope of which no single run is kept is said to have none") {
  Profile profile = serving();
  profile.scopes.scopes[1].instances.clear();
  profile.scopes.scopes[1].instance_memory.clear();
  profile.scopes.scopes[1].unkept_instances = 9;
  CHECK(instances_text(profile, "decode", {80, false, 3}) ==
        "\nINSTANCES  serve > llm: decode: 9 runs, none kept one by one\n");
}

TEST_CASE("whatever a scope is called, its runs keep to their lines") {
  Profile profile = serving();
  profile.scopes.scopes[1].name = "\x1b[2J\n" + std::string(200, 'x');
  profile.scopes.scopes[1].category.clear();
  profile.scopes.scopes[1].instance_memory[1].device = "cuda\n:" + std::string(200, 'y');
  check_lines(instances_text(profile, "*", {100, false, 3}), 100);
  check_lines(instances_text(profile, "*", {160, true, 3}), 160);
}

TEST_CASE("JSON has single runs where scopes are asked for, and not else") {
  ReportView view;
  const Profile profile = serving();
  CHECK(render_report_json(profile, view, {}).find("instances") == std::string::npos);
  view.scopes = true;
  const std::string json = render_report_json(profile, view, {});
  CHECK(json.find(R"("unkept_instances_count":4)") != std::string::npos);
  CHECK(json.find(R"({"begin_ns":30000000,"end_ns":70000000,"active_ns":15000000,"thread":4712,)"
                  R"("growth_bytes":1048576,"was_left":true,"memory":[)"
                  R"({"device":"host","live_before_bytes":300,"live_after_bytes":301},)"
                  R"({"device":"cuda:0","live_before_bytes":1048576,"live_after_bytes":2097152}]})") !=
        std::string::npos);
  CHECK(json.find(R"("growth_bytes":-1024)") != std::string::npos);
}
