// tests/unit/symbolize/robustness_test.cc: truncated, bit-flipped and contradictory files cost their own names only.
#include "cli/symbolize/module_names.h"
#include "cli/symbolize/worker.h"
#include "test_programs.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <random>

using namespace test;

namespace {

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Return addresses less one, as read_module_names takes them: those recorded, and others all over the code.
std::vector<uint64_t> addresses_of(const std::map<std::string, uint64_t>& recorded) {
  std::vector<uint64_t> addresses;
  for (const auto& [word, svma] : recorded) addresses.push_back(svma - 1);
  std::sort(addresses.begin(), addresses.end());
  uint64_t first = addresses.front();
  uint64_t last = addresses.back();
  for (uint64_t svma = first & ~uint64_t{0xfff}; svma < last + 64; svma += 13) addresses.push_back(svma);
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

// One of a few kinds of damage, by number; the same for the same number.
std::string damaged(const std::string& bytes, size_t number) {
  std::mt19937_64 random(number * 7919 + 1);
  auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  std::string result = bytes;
  switch (number % 5) {
    case 0: result.resize(below(bytes.size())); break;
    case 1:  // a bit
      result[below(result.size())] ^= static_cast<char>(1 << below(8));
      break;
    case 2:  // many bits
      for (int i = 0; i < 64; ++i) result[below(result.size())] ^= static_cast<char>(1 << below(8));
      break;
    case 3: {  // a run of one byte, as in a file of which a block was never written
      size_t start = below(result.size());
      char fill = std::array<char, 4>{0, char(0xff), char(0x80), 1}[below(4)];
      for (size_t i = start; i < std::min(result.size(), start + 1 + below(600)); ++i) result[i] = fill;
      break;
    }
    default:  // the headers, which say where everything is
      for (int i = 0; i < 3; ++i) result[below(std::min<size_t>(result.size(), 1000))] = static_cast<char>(random());
      for (int i = 0; i < 3; ++i) {
        result[result.size() - 1 - below(std::min<size_t>(result.size(), 2400))] = static_cast<char>(random());
      }
  }
  return result;
}

}  // namespace

TEST_CASE("damaged files end the reading soon, and never the run") {
  Folder folder;
  constexpr size_t kVariants = 250;
  cli::WorkerLimits limits;
  limits.job_cpu_s = 20;
  for (const std::string& name : split(SYMBOLIZE_NAMES)) {
    if (name != "gcc_O2" && name != "gcc_dwarf4" && name != "gcc_types" && name != "clang_O2" && name != "clang_split")
      continue;
    std::map<std::string, uint64_t> words = recorded(program(name));
    std::vector<uint64_t> addresses = addresses_of(words);
    std::string bytes = read_bytes(program(name));
    cli::Module module;
    module.path = (folder / "shapes").string();
    size_t results = 0;
    size_t names_found = 0;
    auto job = [&](size_t i) {
      write_bytes(module.path, damaged(bytes, i));
      return encode(cli::read_module_names(module, addresses, {}, {(folder / "none").string(), nullptr}));
    };
    auto take = [&](size_t, const std::string& answer) {
      cli::ModuleNames names;
      REQUIRE(cli::decode(answer, &names));
      REQUIRE(names.frames.size() == addresses.size());
      ++results;
      for (const auto& frames : names.frames) names_found += frames.empty() ? 0 : 1;
    };
    std::vector<size_t> without = cli::run_in_worker(kVariants, limits, job, take);
    INFO(name << ": " << without.size() << " of " << kVariants << " crashed or did not end");
    for (size_t i : without) UNSCOPED_INFO("no result: " << i);
    CHECK(results + without.size() == kVariants);
    CHECK(without.size() == 0);
    CHECK(names_found > 0);
  }
}

TEST_CASE("damaged files end the search for calls soon, and never the run") {
  Folder folder;
  constexpr size_t kVariants = 150;
  cli::WorkerLimits limits;
  limits.job_cpu_s = 20;
  for (const std::string& name : split(SYMBOLIZE_NAMES)) {
    if (name != "gcc_O2" && name != "gcc_dwarf4" && name != "gcc_lto" && name != "clang_O2") continue;
    const std::vector<uint64_t> addresses = addresses_of(recorded(program(name)));
    // Whatever is next to whatever: nothing says that a hostile file's answer to it is none.
    std::vector<cli::CallPair> pairs;
    for (size_t i = 0; i < addresses.size(); ++i) {
      pairs.push_back({0, addresses[i] + 1, 0});
      pairs.push_back({0, addresses[i] + 1, addresses[addresses.size() - 1 - i] + 1});
    }
    std::sort(pairs.begin(), pairs.end());
    const std::string bytes = read_bytes(program(name));
    cli::Module module;
    module.path = (folder / "shapes").string();
    size_t results = 0;
    size_t asked = 0;
    const auto job = [&](size_t i) {
      write_bytes(module.path, damaged(bytes, i));
      return encode(cli::read_module_names(module, addresses, pairs, {(folder / "none").string(), nullptr}));
    };
    const auto take = [&](size_t, const std::string& answer) {
      cli::ModuleNames names;
      REQUIRE(cli::decode(answer, &names));
      REQUIRE(names.inferred.size() <= pairs.size());
      ++results;
      asked += names.inferred.size();
    };
    const std::vector<size_t> without = cli::run_in_worker(kVariants, limits, job, take);
    INFO(name << ": " << without.size() << " of " << kVariants << " crashed or did not end");
    for (const size_t i : without) UNSCOPED_INFO("no result: " << i);
    CHECK(results == kVariants);
    CHECK(asked > kVariants);
  }
}

TEST_CASE("an answer that was cut short anywhere is none") {
  cli::ModuleNames names;
  names.frames = {{{"f", "/a.c", 1, true}, {"g", "/a.c", 2, false}}, {}};
  names.calls = {{5, 6}, {}};
  names.inferred[{0, 7, 0}] = {{8, {{"h", "/a.c", 3, false}}}};
  names.inferred[{0, 7, 9}] = {};
  const std::string whole = encode(names);
  cli::ModuleNames read;
  REQUIRE(cli::decode(whole, &read));
  CHECK(read.frames == names.frames);
  CHECK(read.calls == names.calls);
  CHECK(read.inferred == names.inferred);
  for (size_t size = 0; size < whole.size(); ++size) {
    cli::ModuleNames part;
    CHECK_FALSE(cli::decode(whole.substr(0, size), &part));
  }
}

TEST_CASE("debug information that leads in circles comes to an end") {
  fs::path file = program("contradictory");
  if (!fs::exists(file)) {
    WARN("skipped: not an x86-64 machine");
    return;
  }
  std::map<std::string, uint64_t> words = recorded(file);
  REQUIRE(words.size() == 2);
  Symbolized found = symbolize_file(file, words);
  CHECK(found.report.unreadable_modules.empty());
  // The inlined copy has no name, as its origin is itself; the function's name comes from the symbol.
  REQUIRE(found.frames["cyclic"].size() == 2);
  CHECK(found.frames["cyclic"][0].function.empty());
  CHECK(found.frames["cyclic"][0].inlined);
  CHECK(found.frames["cyclic"][1].function == "cyclic");
  // A function without a size reaches to the next one.
  REQUIRE(found.frames["unsized"].size() == 1);
  CHECK(found.frames["unsized"][0].function == "unsized");
}

TEST_CASE("a result that was cut short or altered is refused") {
  cli::ModuleNames names;
  names.frames = {{{"f", "a.cc", 1, true}, {"main", "a.cc", 2, false}}, {}};
  names.state = cli::DebugFileState::kOpen;
  std::string bytes = encode(names);
  cli::ModuleNames copy;
  REQUIRE(cli::decode(bytes, &copy));
  REQUIRE(copy.frames.size() == 2);
  REQUIRE(copy.frames[0].size() == 2);
  CHECK(copy.frames[0][0].function == "f");
  CHECK(copy.frames[0][1].file == "a.cc");
  CHECK(copy.frames[0][0].line == 1);
  CHECK(copy.frames[0][0].inlined);
  for (size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(cli::decode(bytes.substr(0, size), &copy));
  CHECK_FALSE(cli::decode(bytes + "x", &copy));
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string altered = bytes;
    altered[random() % altered.size()] = static_cast<char>(random());
    cli::decode(altered, &copy);  // whatever it says, it reads no further than the bytes go
  }
}
