// tests/unit/model/library_code_test.cc: paths as package managers and build tools make them.
#include "cli/model/analysis/library_code.h"

#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/packages.h"
#include "tests/support/scene_profile.h"

#include <catch2/catch.hpp>

using namespace heapprof;
using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

std::string source(std::string_view file) { return library_of_source(file).value_or("(own)"); }

constexpr const char* kProgram = "/home/me/app/build/app";
constexpr const char* kXml = "/lib/x86_64-linux-gnu/libxml2.so.2";

// main() of the program calls load(), that the library, and that malloc(); the library calls back, too.
Profile with_library(const std::string& program) {
  Profile profile;
  profile.run.executable = program;
  profile.modules = {{program, ""}, {kXml, ""}};
  const auto frame = [&](const char* function, const char* file, uint32_t line, uint32_t module) {
    Frame made;
    made.function = function, made.file = file, made.line = line, made.module = module;
    profile.frames.push_back(made);
  };
  frame("main", "main.c", 3, 0);
  frame("load", "load.c", 7, 0);
  frame("xmlParseMemory", "", 0, 1);
  frame("xmlNewNode", "", 0, 1);
  frame("on_element", "", 0, 0);
  profile.nodes = {{0, 0}, {0, 0}, {1, 1}, {2, 2}, {3, 3}, {3, 4}};
  profile.devices.emplace_back().name = "host";
  return profile;
}

std::string place(const Profile& profile, uint32_t node) {
  return profile.frames[profile.nodes[build_place_tree(profile).place_node[node]].frame].function;
}

}  // namespace

TEST_CASE("a source file of a library is known by the folder that its package manager keeps it in") {
  CHECK(source("/home/me/.cargo/registry/src/index.crates.io-6f17d22bba15001f/serde_json-1.0.96/src/de.rs") ==
        "serde_json");
  CHECK(source("/home/me/.cargo/git/checkouts/tokio-39c8a2b1/4f1e/src/lib.rs") == "tokio");
  CHECK(source("/home/me/app/build/_deps/json-src/include/json.hpp") == "json");
  CHECK(source("/home/me/app/node_modules/@babel/core/lib/index.js") == "@babel/core");
  CHECK(source("/home/me/app/node_modules/a/node_modules/left-pad/index.js") == "left-pad");
  CHECK(source("/usr/include/boost/container/vector.hpp") == "boost");
  CHECK(source("/usr/include/x86_64-linux-gnu/c++/12/bits/gthr.h") == "c++");
  CHECK(source("/usr/include/x86_64-linux-gnu/bits/string_fortified.h") == "libc");
  CHECK(source("/usr/include/zlib.h") == "zlib");
  CHECK(source("/home/me/app/vcpkg_installed/x64-linux/include/fmt/core.h") == "fmt");
  CHECK(source("/home/me/go/pkg/mod/github.com/spf13/cobra@v1.8.0/command.go") == "github.com/spf13/cobra");
  CHECK(source("/home/me/.cache/bazel/_bazel_me/3f/execroot/app/external/boringssl/ssl.cc") == "boringssl");
  CHECK(source("/home/me/engine/third_party/lua/lapi.c") == "lua");
  CHECK(source("/nix/store/abc-boost-1.81/include/boost/any.hpp").empty());
  CHECK(source("/home/me/miniconda3/include/eigen3/Eigen/Core").empty());
  for (const char* own : {"/home/me/cargo/src/main.rs", "/home/me/app/include/app/list.h", "", "src/main.c",
                          "/build/external/list.cc", "/home/me/vendor/list.cc", "/home/me/usr/include/list.h"})
    CHECK(source(own) == "(own)");
}

TEST_CASE("a shared library of the system's is no place where the program's own function called it") {
  CHECK(library_of_module(kXml) == "libxml2");
  CHECK(library_of_module("/home/me/app/build/libengine.so").empty());
  CHECK(library_of_module("/home/me/miniconda3/lib/libopenblas.so.0") == "libopenblas");
  const Profile profile = with_library(kProgram);
  CHECK(place(profile, 4) == "load");
  CHECK(place(profile, 5) == "on_element");  // called back, and with a name: without a source file it counts, too
  CHECK(build_place_tree(profile).hides_libraries);
  // A distribution's program is one with its libraries.
  CHECK(place(with_library("/usr/bin/xmllint"), 4) == "xmlNewNode");
  // Nothing of the program's own is around it: a thread that the library began.
  Profile thread = with_library(kProgram);
  thread.nodes[3].parent = 0;
  CHECK(place(thread, 4) == "xmlNewNode");
}

TEST_CASE("a function without a name is a library's in every shared library, and the program's own in the program") {
  Profile profile = with_library(kProgram);
  profile.modules[1].path = "./libcodec.so.1";
  CHECK(place(profile, 4) == "xmlNewNode");  // it has a name: it may be the user's own
  profile.frames[2].function = profile.frames[3].function = "";
  CHECK(place(profile, 4) == "load");
  const std::vector<CodeOwner> owners = find_code_owners(profile);
  CHECK(LibraryNames(profile, owners).of(3) == "libcodec");
  // What it exports, and the program called, has a name.
  profile.frames[2].function = "codec_open";
  CHECK(place(profile, 4) == "codec_open");
  profile.frames[2].function = "";
  profile.frames[3].module = 0;
  CHECK(place(profile, 4).empty());
}

TEST_CASE("what the user says about whose code it is comes before what the paths say") {
  Profile profile = with_library(kProgram);
  FoldRules rules;
  rules.code = {{{"", "libxml2*", ""}, CodeOwner::kUser}};
  mark_folded(rules, &profile);
  CHECK(place(profile, 4) == "xmlNewNode");
  rules.code = {{{"", "", "load.c"}, CodeOwner::kLibrary}};
  mark_folded(rules, &profile);
  CHECK(place(profile, 4) == "main");
  rules.code.clear();
  rules.libraries = true;
  mark_folded(rules, &profile);
  CHECK(place(profile, 4) == "xmlNewNode");
  mark_folded({}, &profile);
  CHECK(place(profile, 4) == "load");
}

TEST_CASE("each block is of the library that is nearest to its allocation, or of the program's own code") {
  Profile profile = with_library(kProgram);
  const auto add = [&](uint32_t node, uint64_t bytes) {
    Site site;
    site.node = node;
    site.numbers.total_bytes = site.numbers.peak_bytes = bytes;
    site.numbers.total_blocks = site.numbers.peak_blocks = 1;
    profile.devices[0].sites.push_back(site);
  };
  add(2, 100);
  add(4, 1000);
  add(5, 10);
  const PlaceTree tree = build_place_tree(profile);
  const std::vector<Package> packages = find_packages(profile, tree, profile.devices[0], Metric::kPeak);
  REQUIRE(packages.size() == 2);
  CHECK(packages[0].name == "libxml2");
  CHECK(packages[0].numbers.peak_bytes == 1000);
  CHECK(packages[1].name == kOwnCode);
  CHECK(packages[1].numbers.peak_bytes == 110);
}
