// tests/unit/symbolize/name_store_test.cc: what is kept comes back as it was, while its files are what they were; the
// whole folder stays within its bounds.
#include "cli/symbolize/name_store.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace heapprof::cli {
namespace {

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

constexpr char kId[] = "0123456789abcdef";
constexpr char kOtherId[] = "0126456789abcdef";

KeptNames some_names(const std::string& path, uint64_t count, const std::string& text) {
  KeptNames names;
  names.module = facts_of_path(path);
  for (uint64_t i = 0; i < count; ++i)
    names.frames[i * i] = {{text + std::to_string(i), "/src/a.cc", 7, true}, {"main", "", 0, false}};
  names.frames[UINT64_MAX] = {};  // an address without a name
  for (uint64_t i = 1; i < count; ++i) names.calls[i * i] = {i << 33, i == 2 ? CallKeys::kAllocator : UINT64_MAX - i};
  names.inferred[{0, 4, 0}] = {{77, {{text, "/src/b.cc", 8, true}, {"outer", "/src/b.cc", 9, false}}},
                               {UINT64_MAX, {{"main", "", 0, false}}}};
  names.inferred[{0, 4, UINT64_MAX}] = {};  // nothing was found
  return names;
}

bool is_same(const KeptNames& a, const KeptNames& b) {
  if (a.frames.size() != b.frames.size() || a.calls != b.calls || a.inferred != b.inferred) return false;
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

TEST_CASE("names of a file without debug information hold until there is a debug file") {
  const Folder folder;
  NameStore store(folder.path + "/cache/names");
  const std::string path = folder.file("program", "one");
  KeptNames names = some_names(path, 10, "f");
  names.sought_paths = {folder.path + "/.debug/program.debug", folder.path + "/program.debug"};
  unsetenv("DEBUGINFOD_URLS");
  store.keep(kId, names);
  REQUIRE(store.find(kId, names.module));
  CHECK(store.find(kId, names.module)->sought_paths == names.sought_paths);
  setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1", 1);
  CHECK_FALSE(store.find(kId, names.module));
  unsetenv("DEBUGINFOD_URLS");
  folder.file("program.debug", "debug");
  CHECK_FALSE(store.find(kId, names.module));
}

TEST_CASE("names come back as they were kept, for the same build id and the same files") {
  const Folder folder;
  NameStore store(folder.path + "/cache/names");
  const std::string path = folder.file("program", "one");
  CHECK_FALSE(store.find(kId, facts_of_path(path)));
  KeptNames names = some_names(path, 100, "f");
  names.debug_path = folder.file("program.debug", "debug");
  names.debug = facts_of_path(names.debug_path);
  store.keep(kId, names);
  REQUIRE(store.find(kId, names.module));
  CHECK(is_same(*store.find(kId, names.module), names));
  CHECK(store.find(kId, names.module)->debug_path == names.debug_path);
  for (const std::string other : {"0123456789abcdee", "", "../../etc/passwd"})
    CHECK_FALSE(store.find(other, names.module));
  CHECK_FALSE(store.find(kId, facts_of_path(folder.file("other", "one"))));

  SECTION("a file that changes in place ends them") {
    folder.file("program", "two");
    CHECK_FALSE(store.find(kId, facts_of_path(path)));
  }
  SECTION("so does its debug file") {
    folder.file("program.debug", "gubed");
    CHECK_FALSE(store.find(kId, names.module));
  }
  SECTION("or one that is gone") {
    std::filesystem::remove(names.debug_path);
    CHECK_FALSE(store.find(kId, names.module));
  }
  SECTION("what is said of another debug file than there is, is not kept") {
    std::filesystem::remove_all(folder.path + "/cache");
    KeptNames without = names;
    without.debug = {};
    store.keep(kId, without);
    KeptNames unsaid = names;
    unsaid.debug_path.clear();
    store.keep(kId, unsaid);
    KeptNames nowhere = names;
    nowhere.module = {};
    store.keep(kId, nowhere);
    CHECK_FALSE(std::filesystem::exists(folder.path + "/cache"));
  }
}

TEST_CASE("a change shows in a file's times only if they are a second old") {
  const FileFacts facts = {1, 2, 3, 5'000'000'000, 7'000'000'000};
  CHECK_FALSE(facts.is_settled(7'999'999'999));
  CHECK_FALSE(facts.is_settled(8'000'000'000));
  CHECK(facts.is_settled(8'000'000'001));
  CHECK(FileFacts().is_settled(8'000'000'000));
}

TEST_CASE("no byte of a file of names may be another one") {
  const Folder folder;
  NameStore store(folder.path + "/cache/names");
  const KeptNames names = some_names(folder.file("program", "one"), 3, "f");
  store.keep(kId, names);
  const std::string path = folder.path + "/cache/names/" + kId + ".names";
  std::ifstream file(path);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(!bytes.empty());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string broken = bytes;
    broken[i] = static_cast<char>(broken[i] ^ 0x10);
    std::ofstream(path) << broken;
    REQUIRE_FALSE(store.find(kId, names.module));
    std::ofstream(path) << bytes.substr(0, i);
    REQUIRE_FALSE(store.find(kId, names.module));
  }
  std::ofstream(path) << bytes;
  REQUIRE(store.find(kId, names.module));
  std::ofstream(path) << bytes << '\0';
  CHECK_FALSE(store.find(kId, names.module));
}

TEST_CASE("all names together stay within a bound; what was used last stays") {
  const Folder folder;
  const std::string cache = folder.path + "/cache/names";
  NameStore store(cache, 20'000);
  const KeptNames names = some_names(folder.file("program", "one"), 50, "function");
  const auto id = [](int i) { return "0123456789abcd" + std::to_string(10 + i); };
  uint64_t each_bytes = 0;
  for (int i = 0; i < 30; ++i) {
    store.keep(id(i), names);
    REQUIRE(store.find(id(i), names.module));
    uint64_t sum_bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(cache)) {
      each_bytes = entry.file_size();
      sum_bytes += each_bytes;
      // A second apart, so that their order is known.
      std::filesystem::last_write_time(entry.path(), entry.last_write_time() - std::chrono::seconds(1));
    }
    REQUIRE(sum_bytes <= 20'000);
  }
  CHECK_FALSE(store.find(id(0), names.module));
  CHECK(store.find(id(29), names.module));
  CHECK(store.find(id(28), names.module));
  store.keep(kId, some_names(folder.path + "/program", 20'000 / each_bytes * 60 + 60, "function"));
  CHECK_FALSE(store.find(kId, names.module));
  CHECK(store.find(id(29), names.module));
}

TEST_CASE("nothing is removed but files that are called as ours are") {
  const Folder folder;
  const KeptNames names = some_names(folder.file("program", "one"), 50, "function");
  const std::string cache = folder.path + "/cache/names";
  NameStore(cache).keep(kId, names);
  REQUIRE(std::filesystem::exists(cache + "/" + kId + ".names"));
  const std::vector<std::string> others = {"photo.img",      "x.names",   ".names",
                                           "0123.names.old", "0123names", ".0123.name"};
  for (const std::string& other : others) folder.file("cache/names/" + other, std::string(30'000, 'x'));
  std::filesystem::create_directory(cache + "/0124.names");
  std::filesystem::create_symlink(folder.path + "/program", cache + "/0125.names");
  folder.file("cache/names/.0123.names.a1B2c3", std::string(30'000, 'x'));  // of a writer that was killed
  NameStore store(cache, 20'000);
  store.keep(kOtherId, names);
  CHECK(store.find(kOtherId, names.module));
  for (const std::string& other : others) CHECK(std::filesystem::exists(cache + "/" + other));
  CHECK(std::filesystem::exists(cache + "/0124.names"));
  CHECK(std::filesystem::is_symlink(cache + "/0125.names"));
  CHECK_FALSE(std::filesystem::exists(cache + "/.0123.names.a1B2c3"));
}

TEST_CASE("a folder that is not the user's own, or a link, or that others may write to, is not used") {
  const Folder folder;
  const KeptNames names = some_names(folder.file("program", "one"), 3, "f");
  const std::string own = folder.path + "/cache";
  NameStore store(own + "/names");
  store.keep(kId, names);
  REQUIRE(store.find(kId, names.module));
  SECTION("others may write to the folder itself") {
    ::chmod((own + "/names").c_str(), 0777);
    CHECK_FALSE(store.find(kId, names.module));
  }
  SECTION("or the one around it") {
    ::chmod(own.c_str(), 0770);
    CHECK_FALSE(store.find(kId, names.module));
  }
  SECTION("or the cache folder") {
    ::chmod(folder.path.c_str(), 0707);
    CHECK_FALSE(store.find(kId, names.module));
  }
  SECTION("a link in place of either") {
    const std::string path = GENERATE(std::string("/names"), std::string(""));
    std::filesystem::rename(own + path, folder.path + "/aside");
    std::filesystem::create_symlink(folder.path + "/aside", own + path);
    CHECK_FALSE(store.find(kId, names.module));
    store.keep(kOtherId, names);
    std::filesystem::remove(own + path);
    std::filesystem::rename(folder.path + "/aside", own + path);
    CHECK_FALSE(store.find(kOtherId, names.module));
    CHECK(store.find(kId, names.module));
  }
  SECTION("another user's") {
    if (::geteuid() != 0) return;  // only root can give a folder away
    const std::string path = GENERATE(std::string("/names"), std::string(""), std::string("/.."));
    REQUIRE(::chown((own + path).c_str(), 12345, 12345) == 0);
    CHECK_FALSE(store.find(kId, names.module));
    store.keep(kOtherId, names);
    REQUIRE(::chown((own + path).c_str(), 0, 0) == 0);
    CHECK_FALSE(store.find(kOtherId, names.module));
  }
}

TEST_CASE("a cache folder is made where its parent is the user's own, and nowhere else") {
  const Folder folder;
  const KeptNames names = some_names(folder.file("program", "one"), 3, "f");
  NameStore(folder.path + "/home/.cache/heapprof/names").keep(kId, names);
  CHECK_FALSE(std::filesystem::exists(folder.path + "/home"));
  std::filesystem::create_directory(folder.path + "/home");
  if (::geteuid() == 0) {
    REQUIRE(::chown((folder.path + "/home").c_str(), 12345, 12345) == 0);
    NameStore(folder.path + "/home/.cache/heapprof/names").keep(kId, names);
    CHECK_FALSE(std::filesystem::exists(folder.path + "/home/.cache"));
    REQUIRE(::chown((folder.path + "/home").c_str(), 0, 0) == 0);
  }
  NameStore(folder.path + "/home/.cache/heapprof/names").keep(kId, names);
  CHECK(NameStore(folder.path + "/home/.cache/heapprof/names").find(kId, names.module));
}

TEST_CASE("without a folder nothing is kept") {
  const Folder folder;
  const KeptNames names = some_names(folder.file("program", "one"), 3, "f");
  for (const std::string& path : {std::string(), folder.path + "/program", std::string("/proc/self/names")}) {
    NameStore store(path);
    store.keep(kId, names);
    CHECK_FALSE(store.find(kId, names.module));
  }
}

}  // namespace
}  // namespace heapprof::cli
