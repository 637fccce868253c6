// tests/unit/write/call_graph_dot_test.cc: the graph of calls: what counts once, what is left out, and that the rest
// hangs together.
#include "cli/write/export/formats.h"
#include "tests/support/python_scene.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

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

// "attribute" of the first line that begins so.
uint64_t attribute(const std::string& dot, const std::string& line, const std::string& name) {
  const size_t at = dot.find(line);
  INFO(line << " in " << dot);
  REQUIRE(at != std::string::npos);
  const std::string rest = dot.substr(at, dot.find('\n', at) - at);
  const size_t value = rest.find(name + "=\"");
  REQUIRE(value != std::string::npos);
  return std::stoull(rest.substr(value + name.size() + 2));
}

}  // namespace

TEST_CASE("a function that calls itself counts once in the graph of calls, and so does what it calls") {
  test::ScenePlan plan;
  plan.add_device("host");
  SizedNumbers n;
  n.total_bytes = n.peak_bytes = 100, n.total_blocks = n.peak_blocks = 1;
  plan.add_site({{"leaf", "/src/a.cc", 9},
                 {"walk", "/src/a.cc", 5},
                 {"other", "/src/a.cc", 7},
                 {"walk", "/src/a.cc", 6},
                 {"walk", "/src/a.cc", 5},
                 {"main", "/src/a.cc", 1}},
                n);
  plan.add_site({{"leaf", "/src/a.cc", 9}, {"walk", "/src/a.cc", 5}, {"main", "/src/a.cc", 1}}, n);
  const std::string dot = exported(plan.take(), "dot", {});
  CHECK(attribute(dot, "  total=", "total") == 200);
  CHECK(dot.find("4 of 4 functions, 4 of 4 edges") != std::string::npos);
  std::map<std::string, std::string> ids;
  std::istringstream lines(dot);
  for (std::string line; std::getline(lines, line);) {
    for (const char* name : {"leaf", "walk", "other", "main"}) {
      if (line.find(std::string("[label=\"") + name + "\\n") != std::string::npos)
        ids[name] = line.substr(2, line.find(' ', 2) - 2);
    }
  }
  REQUIRE(ids.size() == 4);
  CHECK(attribute(dot, "  " + ids["walk"] + " [", "cumulative") == 200);
  CHECK(attribute(dot, "  " + ids["walk"] + " [", "flat") == 0);
  CHECK(attribute(dot, "  " + ids["leaf"] + " [", "flat") == 200);
  CHECK(attribute(dot, "  " + ids["walk"] + " -> " + ids["leaf"] + " ", "amount") == 200);
  CHECK(attribute(dot, "  " + ids["main"] + " -> " + ids["walk"] + " ", "amount") == 200);
  CHECK(attribute(dot, "  " + ids["walk"] + " -> " + ids["other"] + " ", "amount") == 100);
  CHECK(dot.find(ids["walk"] + " -> " + ids["walk"] + " ") == std::string::npos);
}

TEST_CASE("the graph of calls is pruned, and joins what is left over what is not") {
  test::ScenePlan plan;
  plan.add_device("host");
  SizedNumbers n;
  n.total_blocks = n.peak_blocks = 1;
  for (int i = 0; i < 300; ++i) {
    n.total_bytes = n.peak_bytes = 1'000'000;
    const std::string outer = "outer" + std::to_string(i % 100);
    plan.add_site({{"leaf", "/src/a.cc", 9},
                   {"small" + std::to_string(i), "/src/a.cc", 5},
                   {outer, "/src/a.cc", 5},
                   {"main", "/src/a.cc", 1}},
                  n);
  }
  const Profile profile = plan.take();
  const std::string dot = exported(profile, "dot", {});
  CHECK(dot.find("80 of 402 functions") != std::string::npos);
  CHECK(dot.find("label=\"small") == std::string::npos);
  CHECK(dot.find("style=dashed") != std::string::npos);
  CHECK(attribute(dot, "  total=", "total") == 300'000'000);
  CHECK(find_export_format("dot")->find_notes(profile, {}).size() == 1);
}

TEST_CASE("functions of Python have their whole names in the graph of calls, and in folded stacks") {
  const std::string long_name = "Attention.forward.<locals>." + std::string(90, 'x');
  test::PythonScene scene;
  scene.add({test::kNewDict, {"load.<locals>.<genexpr>", "/home/me/app/train.py", 7}, test::kMainModule});
  scene.add({test::kNewDict, {"import numpy", "/home/me/app/train.py", 1}, test::kMainModule});
  scene.add({test::kNewDict, {long_name, "/home/me/app/train.py", 9}, test::kMainModule});
  const Profile profile = scene.take();
  for (const char* format : {"dot", "folded"}) {
    const std::string text = exported(profile, format, {});
    for (const std::string& name : {std::string("load.<genexpr>"), std::string("import numpy"),
                                    "Attention.forward." + std::string(90, 'x'), std::string("<module>")}) {
      INFO(name << " in " << text);
      CHECK(text.find(name) != std::string::npos);
    }
  }
}

TEST_CASE("what Graphviz would take for an entity in a name is written as the text that it is") {
  test::ScenePlan plan;
  plan.add_device("host");
  SizedNumbers n;
  n.total_bytes = n.peak_bytes = 100, n.total_blocks = n.peak_blocks = 1;
  plan.add_site({{"a&lt;b", "/src/a.cc", 9}}, n);
  plan.add_site({{"f(int&, char)", "/src/a.cc", 9}}, n);
  const std::string dot = exported(plan.take(), "dot", {"", Metric::kTotal});
  CHECK(dot.find("a&amp;lt;b") != std::string::npos);
  CHECK(dot.find("&amp;,") == std::string::npos);
}
