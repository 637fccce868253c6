// tests/unit/symbolize/debug_files_test.cc: names that are not in the file itself, and files that are not what they
// were.
#include "cli/symbolize/elf_identity.h"
#include "test_programs.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>

using namespace test;

namespace {

std::string build_id(const fs::path& file) {
  cli::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(fd.is_open());
  std::optional<cli::ElfIdentity> identity = cli::read_elf_identity(fd.get());
  REQUIRE(identity.has_value());
  return identity->build_id;
}

std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

// folder/shapes stripped of everything but its dynamic symbols, folder/full as it was.
void copy_stripped(const fs::path& original, const Folder& folder) {
  fs::copy_file(original, folder / "full");
  REQUIRE(shell("strip -s -o " + quoted(folder / "shapes") + " " + quoted(folder / "full")));
}

}  // namespace

TEST_CASE("a stripped file gives its dynamic symbols and nothing else") {
  Folder folder;
  fs::path original = program("gcc_O2");  // linked with -rdynamic
  copy_stripped(original, folder);
  Symbolized found = symbolize_file(folder / "shapes", recorded(original), (folder / "none").string());
  REQUIRE(found.frames["plain"].size() == 1);
  CHECK(found.frames["plain"][0].function == "plain_c_function");
  CHECK(found.frames["plain"][0].file.empty());
  CHECK(found.frames["plain"][0].line == 0);
  REQUIRE(found.frames["inlined"].size() == 1);
  CHECK(found.frames["inlined"][0].function == "shapes::measure(shapes::Circle const&)");
  CHECK(found.frames["local"].empty());
  CHECK(found.report.modules_without_debug_info == std::vector<std::string>{(folder / "shapes").string()});
  CHECK(found.report.modules_without_symbols.empty());
}

TEST_CASE("a stripped file without dynamic symbols is reported as without symbols") {
  Folder folder;
  fs::path original = program("gcc_O1");
  copy_stripped(original, folder);
  Symbolized found = symbolize_file(folder / "shapes", recorded(original), (folder / "none").string());
  CHECK(found.report.resolved_locations == 0);
  CHECK(found.report.modules_without_symbols == std::vector<std::string>{(folder / "shapes").string()});
}

TEST_CASE("a separate debug file is found by .gnu_debuglink beside the file and in .debug") {
  Folder folder;
  fs::path original = program("gcc_O2");
  copy_stripped(original, folder);
  fs::path debug = folder / "shapes.debug";
  REQUIRE(shell("objcopy --only-keep-debug " + quoted(folder / "full") + " " + quoted(debug)));
  REQUIRE(shell("objcopy --add-gnu-debuglink=" + quoted(debug) + " " + quoted(folder / "shapes")));
  std::string none = (folder / "none").string();
  check_shapes(symbolize_file(folder / "shapes", recorded(original), none));
  fs::create_directory(folder / ".debug");
  fs::rename(debug, folder / ".debug/shapes.debug");
  check_shapes(symbolize_file(folder / "shapes", recorded(original), none));
}

TEST_CASE("a debug file of another program is not taken") {
  Folder folder;
  fs::path original = program("gcc_O2");
  copy_stripped(original, folder);
  fs::path debug = folder / "shapes.debug";
  REQUIRE(shell("objcopy --only-keep-debug " + quoted(program("gcc_O0")) + " " + quoted(debug)));
  REQUIRE(shell("objcopy --add-gnu-debuglink=" + quoted(debug) + " " + quoted(folder / "shapes")));
  Symbolized found = symbolize_file(folder / "shapes", recorded(original), (folder / "none").string());
  CHECK(found.report.modules_without_debug_info.size() == 1);
}

TEST_CASE("a separate debug file is found by build id") {
  Folder folder;
  fs::path original = program("gcc_O2");
  copy_stripped(original, folder);
  std::string id = build_id(original);
  REQUIRE(id.size() == 40);
  fs::path place = folder.path() / "debug/.build-id" / id.substr(0, 2);
  fs::create_directories(place);
  REQUIRE(shell("objcopy --only-keep-debug " + quoted(original) + " " + quoted(place / (id.substr(2) + ".debug"))));
  check_shapes(symbolize_file(folder / "shapes", recorded(original), (folder / "debug").string()));
}

TEST_CASE("dwz's supplement is found by .gnu_debugaltlink") {
  if (!has_tool("dwz")) {
    WARN("skipped: no dwz");
    return;
  }
  Folder folder;
  fs::path original = program("gcc_O1");
  fs::copy_file(original, folder / "shapes");
  fs::copy_file(program("gcc_O2"), folder / "other");
  fs::create_directories(folder / "debug");
  fs::path supplement = folder / "debug/common.debug";
  REQUIRE(shell("dwz -q -m " + quoted(supplement) + " " + quoted(folder / "shapes") + " " + quoted(folder / "other")));
  REQUIRE(shell("readelf -S " + quoted(folder / "shapes") + " | grep -q gnu_debugaltlink"));
  check_shapes(symbolize_file(folder / "shapes", recorded(original)));
}

TEST_CASE("a debug file that dwz has worked on alone is read") {
  if (!has_tool("dwz")) {
    WARN("skipped: no dwz");
    return;
  }
  Folder folder;
  fs::path original = program("gcc_dwarf4");
  fs::copy_file(original, folder / "shapes");
  REQUIRE(shell("dwz -q " + quoted(folder / "shapes")));
  check_shapes(symbolize_file(folder / "shapes", recorded(original)));
}

TEST_CASE("the symbol table in .gnu_debugdata names what .dynsym does not") {
  if (!has_tool("xz")) {
    WARN("skipped: no xz");
    return;
  }
  Folder folder;
  fs::path original = program("gcc_O2");
  copy_stripped(original, folder);
  fs::path mini = folder / "mini";
  REQUIRE(shell("objcopy -S --remove-section=.comment --keep-symbol=_ZL14local_functionv " + quoted(folder / "full") +
                " " + quoted(mini)));
  REQUIRE(shell("xz " + quoted(mini)));
  REQUIRE(
      shell("objcopy --add-section .gnu_debugdata=" + quoted(folder / "mini.xz") + " " + quoted(folder / "shapes")));
  Symbolized found = symbolize_file(folder / "shapes", recorded(original), (folder / "none").string());
  REQUIRE(found.frames["local"].size() == 1);
  CHECK(found.frames["local"][0].function == "local_function()");
  REQUIRE(found.frames["plain"].size() == 1);
}

TEST_CASE("a file that is gone is read through its descriptor") {
  Folder folder;
  fs::path original = program("gcc_O2");
  fs::copy_file(original, folder / "shapes");
  cli::Module module;
  module.path = (folder / "shapes").string();
  module.build_id = build_id(original);
  module.file = std::make_shared<cli::UniqueFd>(::open(module.path.c_str(), O_RDONLY | O_CLOEXEC));
  fs::remove(module.path);
  check_shapes(symbolize_file(module, recorded(original)));
  // Something else in its place changes nothing.
  fs::copy_file(program("gcc_O0"), module.path);
  check_shapes(symbolize_file(module, recorded(original)));
}

TEST_CASE("a file that is no longer the one that was loaded gives no names and is reported") {
  fs::path original = program("gcc_O2");
  cli::Module module;
  module.path = original.string();
  SECTION("another build id") { module.build_id = std::string(40, 'a'); }
  SECTION("no build id, where there was one") {
    Folder folder;
    fs::path bare = folder / "shapes";
    REQUIRE(shell("objcopy --remove-section=.note.gnu.build-id " + quoted(original) + " " + quoted(bare)));
    module.build_id = build_id(original);
    module.file = std::make_shared<cli::UniqueFd>(::open(bare.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(build_id(bare).empty());
  }
  Symbolized found = symbolize_file(module, recorded(original));
  CHECK(found.report.resolved_locations == 0);
  CHECK(found.report.changed_modules == std::vector<std::string>{module.path});
  CHECK(found.report.modules_without_symbols.empty());
}

TEST_CASE("a pipe or a folder of a module's name is not read") {
  Folder folder;
  REQUIRE(::mkfifo((folder / "shapes").c_str(), 0600) == 0);
  Symbolized found = symbolize_file(folder / "shapes", {{"main", 0x1000}});
  CHECK(found.report.unresolved_locations == 1);
  found = symbolize_file(folder.path(), {{"main", 0x1000}});
  CHECK(found.report.unresolved_locations == 1);
}

TEST_CASE("a .dwo file that is gone costs what it held and the lines: they may be of functions inlined there") {
  Folder folder;
  fs::path original = program("gcc_split");
  fs::copy_file(original, folder / "shapes");
  // The name and folder of the .dwo are in the file; only there is it looked for, so the copy alone finds it …
  check_shapes(symbolize_file(folder / "shapes", recorded(original)));
  // … and a file that names another does not.
  REQUIRE(shell("sed -i 's/shapes.dwo/shapes.gon/g' " + quoted(folder / "shapes")));
  Symbolized found = symbolize_file(folder / "shapes", recorded(original));
  REQUIRE(found.frames["inlined"].size() == 1);
  CHECK(found.frames["inlined"][0].function == "shapes::measure(shapes::Circle const&)");
  CHECK(found.frames["inlined"][0].line == 0);
  CHECK(found.frames["inlined"][0].file.empty());
  REQUIRE(found.report.modules.size() == 1);
  CHECK(found.report.modules[0].missing_file.ends_with("/shapes.gon"));
}

TEST_CASE("a file whose sections are compressed with zstd is read as any other, and a damaged one costs its lines") {
  Folder folder;
  const fs::path original = program("gcc_zstd");
  REQUIRE(shell("readelf -tW " + quoted(original) + " | grep -q ZSTD"));
  check_shapes(symbolize_file(original, recorded(original)));
  // As a separate debug file, with a build id and without one.
  for (const char* remove : {"", "--remove-section=.note.gnu.build-id"}) {
    fs::copy_file(original, folder / "shapes", fs::copy_options::overwrite_existing);
    REQUIRE(shell("cd " + quoted(folder.path()) + " && objcopy " + remove +
                  " shapes && objcopy --only-keep-debug shapes shapes.debug && strip -s shapes && "
                  "objcopy --add-gnu-debuglink=shapes.debug shapes && readelf -tW shapes.debug | grep -q ZSTD"));
    check_shapes(symbolize_file(folder / "shapes", recorded(original)));
    fs::remove(folder / "shapes.debug");
  }
  fs::remove(folder / "shapes");
  // Every section's first compressed byte is another one.
  fs::copy_file(original, folder / "shapes");
  REQUIRE(
      shell("cd " + quoted(folder.path()) +
            " && readelf -SW shapes | sed -nE 's/.*\\.debug_[a-z_]+ +PROGBITS +[0-9a-f]+ ([0-9a-f]+) .*/\\1/p' | "
            "while read -r at; do printf x | dd of=shapes bs=1 seek=$((0x$at + 24)) conv=notrunc status=none; done"));
  const Symbolized found = symbolize_file(folder / "shapes", recorded(original));
  CHECK(found.report.unreadable_modules.empty());
  CHECK(found.report.modules_without_debug_info.size() == 1);
}

TEST_CASE("nothing is asked of debuginfod unless the environment names servers") {
  // With servers named, an unreachable one must cost the names only.
  Folder folder;
  fs::path original = program("gcc_O2");
  copy_stripped(original, folder);
  ::setenv("DEBUGINFOD_CACHE_PATH", (folder / "cache").c_str(), 1);
  ::unsetenv("DEBUGINFOD_URLS");
  Symbolized found = symbolize_file(folder / "shapes", recorded(original), (folder / "none").string());
  CHECK(found.report.modules_without_debug_info.size() == 1);
  CHECK_FALSE(fs::exists(folder / "cache"));
  ::setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1/", 1);
  found = symbolize_file(folder / "shapes", recorded(original), (folder / "none").string());
  CHECK(found.report.modules_without_debug_info.size() == 1);
  ::unsetenv("DEBUGINFOD_URLS");
  ::unsetenv("DEBUGINFOD_CACHE_PATH");
}
