// tests/unit/symbolize/name_store_test.cc: what is kept comes back as it was, while its files are what they were; the
// whole folder stays within its bounds.
#include "cli/symbolize/name_store.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace heapprof::cli {
namespace {

constexpr uint64_t kLater = UINT64_MAX;  // when names are read: any file is older

struct Folder {
  Folder() {
    char name[] = "/tmp/heapprof-names.XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path + "/" + name) << text;
    return path + "/" + name;
  }
  std::string path;
};

Module module_of(const std::string& path, const std::string& build_id) { return {path, build_id, 0, nullptr}; }

KeptNames some_names(const Module& module, uint64_t count, const std::string& text) {
  KeptNames names;
  names.module = NameStore::facts_of(module);
  for (uint64_t i = 0; i < count; ++i)
    names.frames[i * i] = {{text + std::to_string(i), "/src/a.cc", 7, true}, {"main", "", 0, false}};
  names.frames[UINT64_MAX] = {};  // an address without a name
  return names;
}

bool is_same(const KeptNames& a, const KeptNames& b) {
  if (a.frames.size() != b.frames.size()) return false;
  for (const auto& [svma, chain] : a.frames) {
    const auto other = b.frames.find(svma);
    if (other == b.frames.end() || other->second.size() != chain.size()) return false;
    for (size_t i = 0; i < chain.size(); ++i) {
      const SourceFrame& x = chain[i];
      const SourceFrame& y = other->second[i];
      if (x.function != y.function || x.file != y.file || x.line != y.line || x.inlined != y.inlined) return false;
    }
  }
  return true;
}

TEST_CASE("names come back as they were kept, for the same build id and the same files") {
  const Folder folder;
  const NameStore store(folder.path + "/cache/names");
  const Module module = module_of(folder.file("program", "one"), "0123456789abcdef");
  CHECK_FALSE(store.find(module));
  KeptNames names = some_names(module, 100, "f");
  names.debug_path = folder.file("program.debug", "debug");
  store.keep(module, names, kLater);
  REQUIRE(store.find(module));
  CHECK(is_same(*store.find(module), names));
  CHECK(store.find(module)->debug_path == names.debug_path);
  CHECK_FALSE(store.find(module_of(module.path, "0123456789abcdee")));
  CHECK_FALSE(store.find(module_of(module.path, "")));
  CHECK_FALSE(store.find(module_of(module.path, "../../etc/passwd")));
  CHECK_FALSE(store.find(module_of(folder.file("other", "one"), module.build_id)));

  SECTION("a file that changes in place ends them") {
    folder.file("program", "two");
    CHECK_FALSE(store.find(module));
  }
  SECTION("so does its debug file") {
    folder.file("program.debug", "gubed");
    CHECK_FALSE(store.find(module));
  }
  SECTION("or one that is gone") {
    std::filesystem::remove(names.debug_path);
    CHECK_FALSE(store.find(module));
  }
  SECTION("a file that is only as old as its times keeps nothing") {
    std::filesystem::remove_all(folder.path + "/cache");
    const FileFacts facts = NameStore::facts_of(module);
    store.keep(module, names, facts.changed_ns + 999'999'999);
    CHECK_FALSE(store.find(module));
    store.keep(module, names, kLater);
    CHECK(store.find(module));
  }
  SECTION("nor one that has changed since its names were read") {
    std::filesystem::remove_all(folder.path + "/cache");
    folder.file("program", "two");
    store.keep(module, names, kLater);
    CHECK_FALSE(store.find(module));
  }
}

TEST_CASE("no byte of a file of names may be another one") {
  const Folder folder;
  const NameStore store(folder.path);
  const Module module = module_of(folder.file("program", "one"), "0123456789abcdef");
  const KeptNames names = some_names(module, 3, "f");
  store.keep(module, names, kLater);
  const std::string path = folder.path + "/0123456789abcdef.names";
  std::ifstream file(path);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(!bytes.empty());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string broken = bytes;
    broken[i] = static_cast<char>(broken[i] ^ 0x10);
    std::ofstream(path) << broken;
    REQUIRE_FALSE(store.find(module));
    std::ofstream(path) << bytes.substr(0, i);
    REQUIRE_FALSE(store.find(module));
  }
  std::ofstream(path) << bytes;
  REQUIRE(store.find(module));
  std::ofstream(path) << bytes << '\0';
  CHECK_FALSE(store.find(module));
}

TEST_CASE("all names together stay within a bound; what was used last stays") {
  const Folder folder;
  const std::string cache = folder.path + "/cache";
  const NameStore store(cache, 20'000);
  const std::string path = folder.file("program", "one");
  uint64_t each_bytes = 0;
  for (int i = 0; i < 30; ++i) {
    const Module module = module_of(path, "0123456789abcd" + std::to_string(10 + i));
    store.keep(module, some_names(module, 50, "function"), kLater);
    REQUIRE(store.find(module));
    uint64_t sum_bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(cache)) {
      each_bytes = entry.file_size();
      sum_bytes += each_bytes;
      // A second apart, so that their order is known.
      std::filesystem::last_write_time(entry.path(), entry.last_write_time() - std::chrono::seconds(1));
    }
    REQUIRE(sum_bytes <= 20'000);
  }
  CHECK_FALSE(store.find(module_of(path, "0123456789abcd10")));
  CHECK(store.find(module_of(path, "0123456789abcd39")));
  CHECK(store.find(module_of(path, "0123456789abcd38")));
  const Module large = module_of(path, "0123456789abcdff");
  store.keep(large, some_names(large, 20'000 / each_bytes * 60 + 60, "function"), kLater);
  CHECK_FALSE(store.find(large));
  CHECK(store.find(module_of(path, "0123456789abcd39")));
}

TEST_CASE("without a folder nothing is kept") {
  const Folder folder;
  const Module module = module_of(folder.file("program", "one"), "0123456789abcdef");
  for (const std::string& place : {std::string(), folder.path + "/program", std::string("/proc/self/names")}) {
    const NameStore store(place);
    store.keep(module, some_names(module, 3, "f"), kLater);
    CHECK_FALSE(store.find(module));
  }
}

}  // namespace
}  // namespace heapprof::cli
