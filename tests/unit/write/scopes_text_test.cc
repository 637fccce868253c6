// tests/unit/write/scopes_text_test.cc: scopes as a tree and marks as a list keep to the width whatever they are
// called, and --stable says nothing that differs between runs.
#include "cli/write/report/scopes/scopes_text.h"

#include "cli/write/report/formats.h"
#include "tests/support/golden.h"
#include "tests/support/rendered.h"

#include <catch2/catch.hpp>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

Scope scope(uint32_t parent, const std::string& category, const std::string& name, uint64_t count) {
  Scope result;
  result.parent = parent;
  result.category = category;
  result.name = name;
  result.begun = result.ended = count;
  result.time_ns = 1'500'000 * count;
  result.own_time_ns = 1'000'000 * count;
  result.shortest_ns = 1'000'000;
  result.longest_ns = 2'000'000;
  result.durations = {duration_bucket(1'500'000), count};
  result.memory = {{"host", 4096 * count, 3 * count, 1000 * count, count, 7000}};
  return result;
}

Profile loading() {
  Profile profile;
  profile.devices.resize(3);
  profile.devices[0].name = "host";
  profile.devices[1].name = "mapped";
  profile.devices[2].name = "cuda:0";
  profile.scopes.scopes = {scope(0, "", "load", 10), scope(0, "io", "save", 2), scope(1, "io", "read", 300),
                           scope(1, "cpu", "parse", 20)};
  profile.scopes.scopes[1].left_open = 1;
  profile.scopes.scopes[1].begun = 5;
  profile.scopes.scopes[2].items = 1'000'000;
  profile.scopes.scopes[3].memory.insert(profile.scopes.scopes[3].memory.begin(),
                                         {"cuda:0", 1 << 30, 4, 0, 0, 1 << 29});
  profile.scopes.scopes[3].memory.insert(profile.scopes.scopes[3].memory.begin(),
                                         {"mapped", 1 << 20, 1, 0, 0, 1 << 20});
  profile.scopes.scopes[3].kernel_launches = 12;
  profile.scopes.scopes[3].calls = {{"copy to device", 3, 4'000'000, 1 << 22}};
  profile.scopes.marks = {{"", "loaded", 5'000'000, 4711, {{"host", 1 << 20, 12}, {"cuda:0", 1 << 30, 4}}},
                          {"", "saved", 9'000'000, 4712, {{"host", 1000, 2}, {"cuda:0", 1 << 30, 4}}}};
  profile.scopes.lost = 3;
  profile.scopes.lost_marks = 4;
  return profile;
}

Profile hostile() {
  Profile profile = loading();
  auto& scopes = profile.scopes.scopes;
  scopes[0].name = "\x1b[2J\n\t\x7f";
  scopes[1].name = std::string(120, 'x');
  scopes[1].category = std::string(60, 'y');
  scopes[2].name.clear();
  std::string wide;
  for (int i = 0; i < 40; ++i) wide += "表";
  scopes[3].name = wide;
  scopes[3].category = "\xff\xfe\xe2\x80\xae";
  for (uint64_t* number : {&scopes[1].begun, &scopes[1].time_ns, &scopes[1].own_time_ns, &scopes[1].longest_ns,
                           &scopes[1].items, &scopes[2].time_ns, &scopes[1].memory[0].allocated_bytes,
                           &scopes[1].memory[0].freed_blocks, &scopes[2].memory[0].peak_inside_bytes})
    *number = UINT64_MAX;
  profile.scopes.marks[0].name = scopes[0].name + wide;
  profile.scopes.marks[1].memory[0].live_bytes = UINT64_MAX;
  return profile;
}

}  // namespace

TEST_CASE("scopes as a tree") {
  check_golden("report/scopes_80.txt", scopes_text(loading(), {80, false, false}));
  check_golden("report/scopes_120.txt", scopes_text(loading(), {120, false, false}));
  check_golden("report/scopes_stable.txt", scopes_text(loading(), {80, true, true}));
  for (const size_t columns : {80, 100, 120, 200})
    check_lines(scopes_text(loading(), {columns, false, false}), columns);
  CHECK(scopes_text(Profile{}, {80, false, false}) == "\nSCOPES  the program had none (man 3 heapprof)\n");
  const std::string text = scopes_text(loading(), {80, false, false});
  CHECK(text.find("12 kernel launches, 3 × copy to device 4.00 MiB 4 ms\n") != std::string::npos);  // whole
}

TEST_CASE("whatever scopes are called, no line breaks out of its place") {
  for (const bool is_exact : {false, true}) {
    const size_t columns = is_exact ? 300 : 240;  // numbers are never cut, and these are the largest that there are
    const std::string text = scopes_text(hostile(), {columns, is_exact, false});
    check_lines(text, columns);
    CHECK(text.find("[no name]") != std::string::npos);
    CHECK(text.find("\\x1b[2J\\x0a\\x09\\x7f") != std::string::npos);
  }
  Profile long_names = loading();  // of sizes as they are
  for (Scope& each : long_names.scopes.scopes) {
    each.name = std::string(120, 'x');
    each.category = std::string(60, static_cast<char>('a' + each.parent));
  }
  for (const size_t columns : {80, 100, 120}) check_lines(scopes_text(long_names, {columns, false, false}), columns);
  for (const std::string& line : split(scopes_text(hostile(), {40, false, false})))
    CHECK(escape_controls(line) == line);
}

TEST_CASE("what is stable differs by nothing that differs between runs") {
  const std::string stable = scopes_text(loading(), {80, true, true});
  Profile again = loading();
  for (Scope& each : again.scopes.scopes) {
    each.time_ns = each.time_ns * 7 % 100'000'000;
    each.own_time_ns /= 3;
    each.shortest_ns = 1;
    each.longest_ns *= 2;
    each.durations = {3, each.ended};
    for (ScopeCall& call : each.calls) call.duration_ns += 77;
  }
  for (Mark& mark : again.scopes.marks) {
    mark.at_ns += 5;
    mark.thread += 9;
  }
  CHECK(scopes_text(again, {80, true, true}) == stable);
  CHECK(scopes_text(again, {80, true, false}) != scopes_text(loading(), {80, true, false}));
  again.scopes.scopes[0].begun += 1;
  CHECK(scopes_text(again, {80, true, true}) != stable);
}

TEST_CASE("the heap's numbers stand in the scope's own line, and others in theirs, whatever their order") {
  Profile profile = loading();
  const std::string before = scopes_text(profile, {120, false, false});
  for (Scope& each : profile.scopes.scopes) std::reverse(each.memory.begin(), each.memory.end());
  CHECK(scopes_text(profile, {120, false, false}) == before);
  profile.scopes.scopes = {scope(0, "", "no heap", 1)};
  profile.scopes.scopes[0].memory = {{"cuda:0", 4096, 1, 0, 0, 4096}};
  profile.scopes.marks.clear();
  const std::vector<std::string> lines = split(scopes_text(profile, {120, false, false}));
  REQUIRE(lines.size() == 5);
  CHECK(lines[3].find("4.00 KiB") == std::string::npos);
  CHECK(lines[4].find("4.00 KiB") != std::string::npos);
  CHECK(lines[4].find("on cuda:0") != std::string::npos);
}

TEST_CASE("a function that calls itself a hundred thousand times has a line for each scope") {
  Profile profile;
  for (uint32_t i = 0; i < 100'000; ++i) profile.scopes.scopes.push_back(scope(i, "", "recurse", 1));
  const std::string text = scopes_text(profile, {100, false, false});
  const size_t some = text.find("[1000] ");
  REQUIRE(some != std::string::npos);
  check_lines(text.substr(0, text.rfind('\n', some)), 100);
  CHECK(split(text).size() == 100'000 + 3);
  CHECK(text.find("[100000] recurse") != std::string::npos);
  CHECK(text.size() < 100 * 110'000);
}

TEST_CASE("of very many marks the first ones are shown, and how many more there are") {
  Profile profile = loading();
  profile.scopes.marks.assign(250, profile.scopes.marks[0]);
  const std::string text = scopes_text(profile, {80, false, false});
  CHECK(text.find("and 150 further marks (--format json)") != std::string::npos);
}

TEST_CASE("scopes are a graph for Graphviz") {
  ReportView view;
  check_golden("report/scopes.dot", render_scopes_dot(loading(), view, {}));
  view.stable = true;
  Profile again = loading();
  for (Scope& each : again.scopes.scopes) {
    each.time_ns += 1;
    for (ScopeCall& call : each.calls) call.duration_ns += 77;
  }
  CHECK(render_scopes_dot(again, view, {}) == render_scopes_dot(loading(), view, {}));
}

TEST_CASE("no name ends a string of the graph") {
  Profile profile;
  profile.devices.resize(1);
  profile.scopes.scopes = {scope(0, "a\"b", "x\\\"]; evil [\n\x1b[31m", 1)};
  profile.scopes.scopes[0].calls = {{"wait\"", 1, 2, 3}};
  const std::string text = render_scopes_dot(profile, {}, {});
  for (const std::string& line : split(text)) {
    int quotes = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\') {
        ++i;
      } else {
        quotes += line[i] == '"' ? 1 : 0;
      }
      REQUIRE(static_cast<unsigned char>(line[i]) >= ' ');
    }
    CHECK(quotes % 2 == 0);
  }
  CHECK(split(text).size() == 7);
}
