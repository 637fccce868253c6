// tests/unit/symbolize/debug_index_test.cc: debug files in a user's folders, by build id and nothing else.
#include "cli/symbolize/debug_index.h"

#include "cli/symbolize/elf_identity.h"
#include "cli/symbolize/module_names.h"
#include "test_programs.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>

using namespace test;

namespace {

std::string build_id(const fs::path& file) {
  cli::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const std::optional<cli::ElfIdentity> identity = cli::read_elf_identity(fd.get());
  REQUIRE(identity.has_value());
  return identity->build_id;
}

std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

cli::Module module_of(const std::string& path, const std::string& id) {
  cli::Module module;
  module.path = path;
  module.build_id = id;
  return module;
}

std::string found(const cli::DebugIndex& index, const std::string& id) {
  std::string path;
  return index.open(id, &path).is_open() ? fs::path(path).filename().string() : "";
}

// The names of shapes, as of a machine where its file is not.
Symbolized symbolize_gone(const fs::path& original, const fs::path& folder) {
  const cli::Module module = module_of("/nowhere/shapes", build_id(original));
  const cli::DebugIndex index = cli::DebugIndex::scan({folder.string()}, {module});
  cli::SymbolizeOptions options;
  options.debug_folders = (folder / "none").string();
  options.debug_index = &index;
  const std::map<std::string, uint64_t> addresses = recorded(original);
  std::vector<cli::Location> locations;
  for (const auto& [word, address] : addresses) locations.push_back({0, address});
  Symbolized result;
  const cli::SymbolTable table = cli::symbolize({module}, locations, options, &result.report);
  size_t i = 0;
  for (const auto& [word, address] : addresses) result.frames[word] = table.frames[i++];
  return result;
}

}  // namespace

TEST_CASE("a debug file is found by its build id, whatever it is called, and is enough without the program") {
  for (const char* name : {"gcc_O2", "gcc_no_pie", "gcc_dwarf4"}) {
    DYNAMIC_SECTION(name) {
      Folder folder;
      const fs::path original = program(name);
      fs::create_directories(folder / "a/b");
      REQUIRE(shell("objcopy --only-keep-debug " + quoted(original) + " " + quoted(folder / "a/b/x")));
      check_shapes(symbolize_gone(original, folder.path()));
    }
  }
}

TEST_CASE("a debug file that eu-strip made has its build id where its sections say") {
  if (!has_tool("eu-strip")) {
    WARN("skipped: no eu-strip");
    return;
  }
  Folder folder;
  const fs::path original = program("gcc_O2");
  fs::create_directory(folder / "syms");
  REQUIRE(shell("eu-strip -f " + quoted(folder / "syms/x.debug") + " -o " + quoted(folder / "bare") + " " +
                quoted(original)));
  CHECK(build_id(folder / "syms/x.debug") == build_id(original));
  check_shapes(symbolize_gone(original, folder / "syms"));
}

TEST_CASE("of several files of one build id that with debug information is taken, then that with symbols") {
  Folder folder;
  const fs::path original = program("gcc_O2");
  const std::string id = build_id(original);
  const auto scan = [&] { return cli::DebugIndex::scan({folder.path().string()}, {module_of("/x/shapes", id)}); };
  REQUIRE(shell("strip -s -o " + quoted(folder / "a_bare") + " " + quoted(original)));
  CHECK(found(scan(), id) == "a_bare");
  REQUIRE(shell("strip -g -o " + quoted(folder / "b_symbols") + " " + quoted(original)));
  CHECK(found(scan(), id) == "b_symbols");
  REQUIRE(shell("objcopy --only-keep-debug " + quoted(original) + " " + quoted(folder / "c_debug")));
  CHECK(found(scan(), id) == "c_debug");
}

TEST_CASE("a file that is replaced after it was looked at is not taken") {
  Folder folder;
  const fs::path original = program("gcc_O2");
  fs::copy_file(original, folder / "x");
  const std::string id = build_id(original);
  const cli::DebugIndex index = cli::DebugIndex::scan({folder.path().string()}, {module_of("/x/shapes", id)});
  CHECK(found(index, id) == "x");
  fs::copy_file(program("gcc_O0"), folder / "x", fs::copy_options::overwrite_existing);
  CHECK(found(index, id).empty());
  fs::remove(folder / "x");
  CHECK(found(index, id).empty());
}

TEST_CASE("a file of the module's name and another build is told apart") {
  Folder folder;
  fs::copy_file(program("gcc_O0"), folder / "shapes.debug");
  const std::string id = build_id(program("gcc_O2"));
  const cli::Module module = module_of("/x/shapes", id);
  const cli::DebugIndex index = cli::DebugIndex::scan({folder.path().string()}, {module});
  CHECK(found(index, id).empty());
  CHECK(index.other_build_of(module) == (folder / "shapes.debug").string());
  CHECK(index.other_build_of(module_of("/x/other", id)).empty());
}

TEST_CASE("what is no file, no ELF, or a folder behind a link is passed over") {
  Folder folder;
  Folder elsewhere;
  const fs::path original = program("gcc_O2");
  const std::string id = build_id(original);
  fs::copy_file(original, elsewhere / "x");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  fs::create_directory_symlink(elsewhere.path(), folder / "link");
  fs::create_directory_symlink(folder.path(), folder / "loop");
  std::ofstream(folder / "text") << "no ELF file";
  std::ofstream(folder / "empty");
  const cli::Module module = module_of("/x/shapes", id);
  CHECK(found(cli::DebugIndex::scan({folder.path().string()}, {module}), id).empty());
  fs::create_symlink(elsewhere / "x", folder / "file");  // as in trees of .build-id
  CHECK(found(cli::DebugIndex::scan({folder.path().string()}, {module}), id) == "file");
  CHECK(found(cli::DebugIndex::scan({(elsewhere / "x").string()}, {module}), id) == "x");
  CHECK(found(cli::DebugIndex::scan({"/nonexistent"}, {module}), id).empty());
}

TEST_CASE("a build id is hexadecimal digits in pairs") {
  CHECK(cli::is_build_id("00c0ffee"));
  CHECK_FALSE(cli::is_build_id(""));
  CHECK_FALSE(cli::is_build_id("00c0ff"));
  CHECK_FALSE(cli::is_build_id("00c0ffee1"));
  CHECK_FALSE(cli::is_build_id("00C0FFEE"));
  CHECK_FALSE(cli::is_build_id("../../etc/passwd"));
}

TEST_CASE("what debuginfod answered crosses the way between processes") {
  cli::ModuleNames names;
  names.debug_path = "/usr/lib/debug/x";
  names.frames = {{{"f", "/a.c", 3, false}}, {}};
  for (const std::optional<int> answer : {std::optional<int>(), std::optional<int>(0), std::optional<int>(ENOENT)}) {
    names.debuginfod_answer = answer;
    cli::ModuleNames read;
    REQUIRE(cli::decode(cli::encode(names), &read));
    CHECK(read.debuginfod_answer == answer);
    CHECK(read.debug_path == names.debug_path);
    CHECK(read.frames.size() == 2);
    CHECK(read.frames[0][0].function == "f");
  }
  const std::string bytes = cli::encode(names);
  for (size_t size = 0; size < bytes.size(); ++size) {
    cli::ModuleNames read;
    CHECK_FALSE(cli::decode(bytes.substr(0, size), &read));
  }
}
