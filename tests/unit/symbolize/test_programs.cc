// tests/unit/symbolize/test_programs.cc: the compiled programs of programs/: where they lie, and the calls that each
// recorded of itself.
#include "test_programs.h"

#include "tests/support/data_path.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace test {

const std::map<std::string, std::vector<Expected>>& shapes_frames() {
  static const std::map<std::string, std::vector<Expected>> frames = {
      {"constructor", {{"shapes::Circle::Circle(int)", "constructor"}}},
      {"inlined",
       {{"shapes::Circle::area() const", "area", true},
        {"shapes::twice_area(shapes::Circle const&)", "twice_area", true},
        {"shapes::measure(shapes::Circle const&)", "measure"}}},
      {"template", {{"int shapes::twice<int>(int)", "template"}}},
      {"lambda", {{"shapes::with_lambda(int)::{lambda(int)#1}::operator()(int) const", "lambda"}}},
      {"hidden",
       {{"shapes::(anonymous namespace)::hidden", "hidden", true}, {"shapes::calls_hidden(int)", "calls_hidden"}}},
      {"plain", {{"plain_c_function", "plain"}}},
      {"local", {{"local_function()", "local"}}},
      {"main", {{"main", "main"}}},
  };
  return frames;
}

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> parts;
  std::istringstream stream(names);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

fs::path program(const std::string& name) { return fs::path(SYMBOLIZE_PROGRAMS) / name / "shapes"; }

std::string source_path(const std::string& source) {
  return heapprof::test::data_path("/unit/symbolize/programs/") + source;
}

uint32_t line_of(const std::string& source, const std::string& marker) {
  std::ifstream file(source_path(source));
  std::string end = "line:" + marker;
  uint32_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with(end)) return number;
  }
  return 0;
}

std::map<std::string, uint64_t> recorded(const fs::path& program) {
  std::map<std::string, uint64_t> addresses;
  FILE* output = ::popen(("'" + program.string() + "'").c_str(), "r");
  REQUIRE(output != nullptr);
  unsigned long address = 0;
  char word[64];
  while (std::fscanf(output, "%lx %63s", &address, word) == 2) addresses[word] = address;
  REQUIRE(::pclose(output) == 0);
  return addresses;
}

bool shell(const std::string& command) {
  bool ok = std::system(command.c_str()) == 0;
  if (!ok) WARN("this failed: " << command);
  return ok;
}

bool has_tool(const std::string& name) { return std::system(("command -v " + name + " >/dev/null").c_str()) == 0; }

Symbolized symbolize_file(const cli::Module& module, const std::map<std::string, uint64_t>& addresses,
                          const std::string& debug_folders) {
  std::vector<cli::Location> locations;
  for (const auto& [word, svma] : addresses) locations.push_back({0, svma});
  cli::SymbolizeOptions options;
  options.debug_folders = debug_folders;
  Symbolized result;
  cli::SymbolTable table = cli::symbolize({module}, locations, options, &result.report);
  REQUIRE(table.frames.size() == locations.size());
  CHECK(result.report.resolved_locations + result.report.unresolved_locations == locations.size());
  size_t i = 0;
  for (const auto& [word, svma] : addresses) result.frames[word] = table.frames[i++];
  return result;
}

Symbolized symbolize_file(const fs::path& file, const std::map<std::string, uint64_t>& addresses,
                          const std::string& debug_folders) {
  cli::Module module;
  module.path = file.string();
  return symbolize_file(module, addresses, debug_folders);
}

void check_shapes(const Symbolized& found) {
  CHECK(found.report.unresolved_locations == 0);
  CHECK(found.report.unreadable_modules.empty());
  CHECK(found.report.modules_without_debug_info.empty());
  for (const auto& [word, expected] : shapes_frames()) {
    INFO("recorded in " << word);
    auto entry = found.frames.find(word);
    REQUIRE(entry != found.frames.end());
    const std::vector<cli::SourceFrame>& frames = entry->second;
    REQUIRE(frames.size() == expected.size());
    for (size_t i = 0; i < frames.size(); ++i) {
      INFO("frame " << i);
      // A fully inlined function of an anonymous namespace has parameters in its name only where the compiler says
      // them.
      std::string function = frames[i].function;
      if (function == expected[i].function + "(int)") function = expected[i].function;
      CHECK(function == expected[i].function);
      CHECK(frames[i].line == line_of("shapes.cc", expected[i].marker));
      CHECK(frames[i].file == source_path("shapes.cc"));
      CHECK(frames[i].inlined == expected[i].inlined);
    }
  }
}

Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "heapprof-symbolize.XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace test
