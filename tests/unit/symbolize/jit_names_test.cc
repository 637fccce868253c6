// tests/unit/symbolize/jit_names_test.cc: names from the maps that JIT compilers write for perf: the last line counts,
// nonsense does not, nor does another's map.
#include "cli/symbolize/jit_names.h"

#include "tests/unit/symbolize/test_programs.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

using namespace heapprof::cli;

namespace {

Recording some_recording() {
  Recording recording;
  recording.modules.resize(1);
  recording.locations = {{0, 0x1000}, {kNoModule, 0x7f0000001010}, {kNoModule, 0x7f0000002000}, {kNoModule, 0}};
  return recording;
}

std::string name_of(const SymbolTable& table, size_t location) {
  return table.frames[location].empty() ? "" : table.frames[location][0].function;
}

}  // namespace

TEST_CASE("JIT code is named by the last line that holds the call") {
  const test::Folder folder;
  const std::string path = (folder / "perf-1.map").string();
  Recording recording = some_recording();
  SymbolTable table;
  std::ofstream(path) << "7f0000001000 10 old\n7f0000001000 10 new\n7f0000001fff 1 last byte\n1000 10 not ours\n";
  CHECK(add_jit_names(path, &recording, &table) == JitMap::kRead);
  CHECK(name_of(table, 0).empty());  // a file's
  CHECK(name_of(table, 1) == "new");
  CHECK(name_of(table, 2) == "last byte");
  CHECK(name_of(table, 3).empty());
  REQUIRE(recording.modules.size() == 2);
  CHECK(recording.modules[1].path == "[JIT]");
  CHECK(recording.locations[1].module == 1);
  CHECK(recording.locations[3].module == kNoModule);
}

TEST_CASE("Java's numbers have a prefix") {
  const test::Folder folder;
  const std::string path = (folder / "perf-1.map").string();
  Recording recording = some_recording();
  SymbolTable table;
  std::ofstream(path) << "0x00007f0000001000 0x0000000000000020 void A.load()\n0x7f0000001fff 1 mixed\n0x 0x 0x\n";
  CHECK(add_jit_names(path, &recording, &table) == JitMap::kRead);
  CHECK(name_of(table, 1) == "void A.load()");
  CHECK(name_of(table, 2) == "mixed");
}

TEST_CASE("what is no line is passed over") {
  const test::Folder folder;
  const std::string path = (folder / "perf-1.map").string();
  Recording recording = some_recording();
  SymbolTable table;
  std::ofstream(path) << "\n\nnonsense\n7f0000001000\n7f0000001000 10\n7f0000001000 10 \n7f0000001000 zz name\n"
                      << "ffffffffffffffffff 10 too large\n7f0000001000 0 empty\n7f0000001000 10 cut";
  CHECK(add_jit_names(path, &recording, &table) == JitMap::kRead);
  CHECK(name_of(table, 1) == "cut");
}

TEST_CASE("a name may be long") {
  const test::Folder folder;
  const std::string path = (folder / "perf-1.map").string();
  Recording recording = some_recording();
  SymbolTable table;
  std::ofstream(path) << "7f0000001000 10 " << std::string(100'000, 'x') << "\n7f0000001fff 1 after it\n";
  CHECK(add_jit_names(path, &recording, &table) == JitMap::kRead);
  CHECK(name_of(table, 1) == std::string(4096 - 16, 'x'));
  CHECK(name_of(table, 2) == "after it");
}

TEST_CASE("only a plain file is read") {
  const test::Folder folder;
  const std::string path = (folder / "perf-1.map").string();
  Recording recording = some_recording();
  SymbolTable table;
  CHECK(add_jit_names(path, &recording, &table) == JitMap::kNone);
  REQUIRE(symlink("/etc/passwd", path.c_str()) == 0);
  CHECK(add_jit_names(path, &recording, &table) == JitMap::kRefused);
  REQUIRE(unlink(path.c_str()) == 0);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(add_jit_names(path, &recording, &table) == JitMap::kRefused);
}

TEST_CASE("names of V8 and CPython are taken apart") {
  const auto text = [](std::string_view name) {
    const SourceFrame frame = jit_frame(name);
    return frame.function + " | " + frame.file + " | " + std::to_string(frame.line);
  };
  CHECK(text("JS:*inner /app/a b.js:3:29") == "JS:inner | /app/a b.js | 3");
  CHECK(text("JS:~get size /app/a.js:7:9") == "JS:get size | /app/a.js | 7");
  CHECK(text("JS:~ /app/a.js:1:1") == "JS:anonymous | /app/a.js | 1");
  CHECK(text("LazyCompile:^Map.get node:internal/x:12:7") == "JS:Map.get | node:internal/x | 12");
  CHECK(text("py::work:/srv/a.py") == "py::work | /srv/a.py | 0");
  CHECK(text("py::work") == "py::work |  | 0");
  CHECK(text("Builtin:StringAdd") == "Builtin:StringAdd |  | 0");
  CHECK(text("JS:*odd place") == "JS:*odd place |  | 0");
  CHECK(text("JS:*odd a:b:c") == "JS:*odd a:b:c |  | 0");
  CHECK(text("Lcom/app/Main;::run") == "Lcom/app/Main;::run |  | 0");
}

TEST_CASE("a map from before the process is another's") {
  const test::Folder folder;
  const std::string path = (folder / "perf-1.map").string();
  std::ofstream(path) << "7f0000001000 20 old\n";
  Recording recording = some_recording();
  recording.run.start_unix_ns = 4'000'000'000'000'000'000;
  SymbolTable table;
  CHECK(add_jit_names(path, &recording, &table) == JitMap::kNone);
  CHECK(recording.modules.size() == 1);
}

TEST_CASE("a map without a fitting line adds no module") {
  const test::Folder folder;
  const std::string path = (folder / "perf-1.map").string();
  std::ofstream(path) << "10 10 elsewhere\n0 ffffffffffffffff everything\n";
  Recording recording = some_recording();
  SymbolTable table;
  CHECK(add_jit_names(path, &recording, &table) == JitMap::kRead);
  CHECK(recording.modules.size() == 1);
}
