// tests/unit/symbolize/frames_test.cc: functions, files, lines and inlined frames of programs compiled in every way.
#include "test_programs.h"

#include <catch2/catch.hpp>

using namespace test;

TEST_CASE("every frame has its function, file and line, whichever compiler and DWARF") {
  for (const std::string& name : split(SYMBOLIZE_NAMES)) {
    SECTION(name) {
      fs::path file = program(name);
      check_shapes(symbolize_file(file, recorded(file)));
    }
  }
}

TEST_CASE("Rust names are read in both manglings, without hashes") {
  std::vector<std::string> names = split(SYMBOLIZE_RUST_NAMES);
  if (names.empty()) WARN("skipped: no rustc");
  for (const std::string& name : names) {
    INFO(name);
    fs::path file = program(name);
    Symbolized found = symbolize_file(file, recorded(file));
    const std::vector<cli::SourceFrame>& inlined = found.frames["inlined"];
    REQUIRE(inlined.size() == 2);
    CHECK(inlined[0].function == "shapes::shapes::area");
    CHECK(inlined[0].inlined);
    CHECK(inlined[0].line == line_of("shapes.rs", "rust_area"));
    CHECK(inlined[0].file == source_path("shapes.rs"));
    CHECK(inlined[1].function == "<shapes::shapes::Circle<i32> as shapes::shapes::Measure>::measure");
    CHECK(inlined[1].line == line_of("shapes.rs", "rust_measure"));
    REQUIRE(found.frames["generic"].size() == 1);
    CHECK(found.frames["generic"][0].function.starts_with("shapes::shapes::twice"));
    CHECK(found.frames["generic"][0].line == line_of("shapes.rs", "rust_generic"));
    REQUIRE(found.frames["closure"].size() >= 1);
    CHECK(found.frames["closure"][0].function.starts_with("shapes::main::{"));
    CHECK(found.frames["closure"][0].line == line_of("shapes.rs", "rust_closure"));
  }
}

TEST_CASE("locations without a module, without a file and of the vdso stay without names") {
  std::vector<cli::Module> modules(4);
  modules[0].path = "[vdso]";
  modules[1].path = "linux-vdso.so.1";
  modules[2].path = "/nonexistent/library.so";
  modules[3].path = "/dev/zero";
  std::vector<cli::Location> locations = {{0, 0x1000}, {1, 0x1000}, {2, 0x1000}, {3, 0x1000}, {cli::kNoModule, 0x1000},
                                          {7, 0x1000}, {2, 0}};
  cli::SymbolizeReport report;
  cli::SymbolTable table = cli::symbolize(modules, locations, {}, &report);
  REQUIRE(table.frames.size() == locations.size());
  for (const auto& frames : table.frames) CHECK(frames.empty());
  CHECK(report.unresolved_locations == locations.size());
  CHECK(report.modules_without_symbols == std::vector<std::string>{"/nonexistent/library.so", "/dev/zero"});
  CHECK(report.unreadable_modules.empty());
}

TEST_CASE("progress counts the modules that have locations") {
  std::vector<cli::Module> modules(3);
  modules[0].path = program(split(SYMBOLIZE_NAMES).front()).string();
  modules[1].path = "/nonexistent";
  modules[2].path = "/unused";
  std::vector<std::pair<size_t, size_t>> steps;
  cli::SymbolizeOptions options;
  options.progress = [&](size_t done, size_t all) { steps.emplace_back(done, all); };
  cli::SymbolizeReport report;
  cli::symbolize(modules, {{1, 0x10}, {0, 0x1000}, {1, 0x20}}, options, &report);
  CHECK(steps == std::vector<std::pair<size_t, size_t>>{{1, 2}, {2, 2}});
}

TEST_CASE("two locations of one address get the same frames") {
  fs::path file = program(split(SYMBOLIZE_NAMES).front());
  uint64_t svma = recorded(file)["inlined"];
  std::vector<cli::Module> modules(1);
  modules[0].path = file.string();
  cli::SymbolizeReport report;
  cli::SymbolTable table = cli::symbolize(modules, {{0, svma}, {0, svma}, {0, 1}, {0, svma}}, {}, &report);
  for (size_t i : {0, 1, 3}) {
    REQUIRE(table.frames[i].size() == 3);
    CHECK(table.frames[i][2].function == "shapes::measure(shapes::Circle const&)");
  }
  CHECK(table.frames[2].empty());
  CHECK(report.resolved_locations == 3);
  CHECK(report.unresolved_locations == 1);
}
