// tests/unit/collect/module_map_test.cc: from an address to its module, while modules come and go, and what a hostile
// table of modules may cost.
#include "cli/collect/rings/module_map.h"

#include "tests/support/ring_builder.h"

#include <catch2/catch.hpp>

#include <random>

namespace heapprof::cli {
namespace {

using test::append_module;
using test::FakeModule;

struct Table {
  explicit Table() : bytes(wire::kModuleTableBytes) {}
  void add(const FakeModule& module) { used = append_module(bytes.data(), used, module); }
  std::vector<unsigned char> bytes;
  uint32_t used = 0;
};

std::vector<std::string> g_opened;

ModuleMap make_map() {
  g_opened.clear();
  return ModuleMap("/bin/program", [](const std::string& path, uint64_t) {
    g_opened.push_back(path);
    return std::shared_ptr<UniqueFd>();
  });
}

TEST_CASE("an address is found in its module by the byte before it") {
  Table table;
  table.add({"/lib/a.so", "a", 0x1000, 0x2000, 0x1000, 0});
  table.add({"/lib/b.so", "b", 0x2000, 0x3000, 0x1800, 0});
  ModuleMap map = make_map();
  map.read(table.bytes.data(), table.used);
  REQUIRE(map.is_sound());
  // A call that never returns may be the last instruction of a.so.
  const Location end_of_a = map.locations()[map.locate(0x2000, 0)];
  CHECK(end_of_a.module == 0);
  CHECK(end_of_a.svma == 0x1000);
  const Location in_b = map.locations()[map.locate(0x2001, 0)];
  CHECK(in_b.module == 1);
  CHECK(in_b.svma == 0x801);
  CHECK(map.locations()[map.locate(0x1000, 0)].module == kNoModule);
  CHECK(map.locations()[map.locate(0, 0)].module == kNoModule);
  CHECK(map.locations()[map.locate(UINT64_MAX, 0)].module == kNoModule);
}

TEST_CASE("an address that was nowhere is found once its module is announced") {
  Table table;
  ModuleMap map = make_map();
  CHECK(map.locations()[map.locate(0x1500, 0)].module == kNoModule);
  table.add({"/lib/a.so", "a", 0x1000, 0x2000, 0x1000, 0});
  map.read(table.bytes.data(), table.used);
  CHECK(map.locations()[map.locate(0x1500, 0)].module == 0);
}

TEST_CASE("a module counts from its generation on, also for threads that lag behind") {
  Table table;
  table.add({"/lib/a.so", "a", 0x1000, 0x2000, 0x1000, 0});
  ModuleMap map = make_map();
  map.read(table.bytes.data(), table.used);
  const uint32_t in_a = map.locate(0x1500, 0);
  table.add({"/lib/b.so", "b", 0x1000, 0x2000, 0x1000, 3});
  map.read(table.bytes.data(), table.used);
  CHECK(map.locate(0x1500, 2) == in_a);
  const uint32_t in_b = map.locate(0x1500, 3);
  CHECK(map.locations()[in_b].module == 1);
  CHECK(map.locate(0x1500, 2) == in_a);
  CHECK(map.locate(0x1500, 9) == in_b);
  table.add({"/lib/a.so", "a", 0x1000, 0x2000, 0x1000, 5});
  map.read(table.bytes.data(), table.used);
  CHECK(map.locate(0x1500, 5) == in_a);
  CHECK(map.locate(0x1500, 4) == in_b);
  // Only later entries hold the address: the first of them is the best guess.
  table.add({"/lib/c.so", "c", 0x9000, 0xa000, 0x9000, 7});
  map.read(table.bytes.data(), table.used);
  CHECK(map.locations()[map.locate(0x9500, 0)].module == 2);
}

TEST_CASE("objects are told apart by build id, or by path where there is none") {
  Table table;
  table.add({"/lib/a.so", "id", 0x1000, 0x2000, 0x1000, 0});
  table.add({"/tmp/copy.so", "id", 0x5000, 0x6000, 0x5000, 0});
  table.add({"/lib/x.so", "", 0x7000, 0x8000, 0x7000, 0});
  table.add({"/lib/y.so", "", 0x8000, 0x9000, 0x8000, 0});
  table.add({"", "", 0x9000, 0xa000, 0x9000, 0});
  ModuleMap map = make_map();
  map.read(table.bytes.data(), table.used);
  CHECK(map.locate(0x1500, 0) == map.locate(0x5500, 0));
  CHECK(map.locate(0x7500, 0) != map.locate(0x8500, 0));
  CHECK(g_opened == std::vector<std::string>{"/lib/a.so", "/lib/x.so", "/lib/y.so", ""});
  const std::vector<Module> modules = map.take_modules();
  REQUIRE(modules.size() == 4);
  CHECK(modules[0].build_id == "6964");
  CHECK(modules[3].path == "/bin/program");
}

TEST_CASE("many addresses keep their locations") {
  Table table;
  for (uint64_t i = 0; i < 50; ++i) {
    table.add({"/lib/" + std::to_string(i), "", 0x100000 * (i + 1), 0x100000 * (i + 2), 0x100000 * (i + 1), 0});
  }
  ModuleMap map = make_map();
  map.read(table.bytes.data(), table.used);
  std::mt19937_64 random(2);
  std::vector<std::pair<uint64_t, uint32_t>> known;
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t pc_avma = 0x100001 + random() % (0x100000 * 50);
    known.push_back({pc_avma, map.locate(pc_avma, 0)});
    const Location& location = map.locations()[known.back().second];
    REQUIRE(location.module == (pc_avma - 1) / 0x100000 - 1);
  }
  for (const auto& [pc_avma, location] : known) REQUIRE(map.locate(pc_avma, 0) == location);
}

TEST_CASE("a table that no agent writes is read no further") {
  Table table;
  table.add({"/lib/a.so", "a", 0x1000, 0x2000, 0x1000, 0});
  const uint32_t first = table.used;
  table.add({"/lib/b.so", "b", 0x3000, 0x4000, 0x3000, 0});
  auto* entry = reinterpret_cast<wire::ModuleEntry*>(table.bytes.data() + first);
  uint32_t used = table.used;
  SECTION("an entry of no size") { entry->entry_bytes = 0; }
  SECTION("an odd size") { entry->entry_bytes += 1; }
  SECTION("an entry beyond the end") { entry->entry_bytes = 1 << 20; }
  SECTION("a path beyond the entry") { entry->path_bytes = 0xffff; }
  SECTION("a build id beyond the entry") { entry->build_id_bytes = 0xffff; }
  SECTION("a range without addresses") { entry->end_avma = entry->start_avma; }
  SECTION("half an entry") { used -= 8; }
  SECTION("an odd number of bytes") { used -= 1; }
  SECTION("more than the table") { used = wire::kModuleTableBytes + 8; }
  ModuleMap map = make_map();
  map.read(table.bytes.data(), used);
  CHECK_FALSE(map.is_sound());
  map.read(table.bytes.data(), table.used);
  CHECK_FALSE(map.is_sound());
  CHECK(map.locations()[map.locate(0x3500, 0)].module == kNoModule);
}

TEST_CASE("a table is gone round for ever") {
  Table table;
  ModuleMap map = make_map();
  std::mt19937 random(7);
  for (uint32_t generation = 1; generation < 60'000; ++generation) {
    const std::string path = "/lib/" + std::string(random() % 120, 'x') + (generation % 2 == 0 ? "even.so" : "odd.so");
    table.add({path, generation % 2 == 0 ? "even" : "odd", 0x1000, 0x2000, 0x1000, generation});
    if (generation % 37 != 0) continue;
    map.read(table.bytes.data(), table.used);
    REQUIRE(map.is_sound());
    REQUIRE(map.bytes_read() == table.used);
    REQUIRE(map.locations()[map.locate(0x1800, generation)].module == (generation % 2 == 0 ? 1 : 0));
  }
  CHECK(table.used > 4 * wire::kModuleTableBytes);
}

TEST_CASE("a table that shrinks is no table") {
  Table table;
  table.add({"/lib/a.so", "a", 0x1000, 0x2000, 0x1000, 0});
  ModuleMap map = make_map();
  map.read(table.bytes.data(), table.used);
  map.read(table.bytes.data(), 0);
  CHECK_FALSE(map.is_sound());
}

}  // namespace
}  // namespace heapprof::cli
