// tests/unit/base/atomic_file_test.cc: whole or not at all.
#include "cli/base/atomic_file.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace heapprof::cli;

namespace {

// A folder of its own, gone afterwards.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/heapprof-atomic-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::string path_;
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

Result<AtomicFile> started(const std::string& path, const std::string& text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  REQUIRE(file.ok());
  file->write(text);
  return file;
}

}  // namespace

TEST_CASE("a file appears at commit, with mode 0600") {
  const Folder folder;
  const std::string path = folder / "x.json";
  Result<AtomicFile> file = started(path, "new");
  CHECK(access(path.c_str(), F_OK) != 0);
  const Result<std::string> name = file->commit();
  REQUIRE(name.ok());
  CHECK(*name == path);
  CHECK(content(path) == "new");
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(folder.entries() == 1);
}

TEST_CASE("commit replaces, and until then the old file stays") {
  const Folder folder;
  const std::string path = folder / "x.json";
  put(path, "old");
  Result<AtomicFile> file = started(path, "new");
  CHECK(content(path) == "old");
  REQUIRE(file->commit().ok());
  CHECK(content(path) == "new");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file that is not committed leaves nothing") {
  const Folder folder;
  put(folder / "x.json", "old");
  { Result<AtomicFile> file = started(folder / "x.json", "new"); }
  CHECK(content(folder / "x.json") == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a name that is taken gets a number") {
  const Folder folder;
  const std::string path = folder / "heapprof.1.json";
  put(path, "first");
  Result<AtomicFile> second = started(path, "second");
  Result<AtomicFile> third = started(path, "third");
  CHECK(*second->commit_without_overwriting() == folder / "heapprof.1.2.json");
  CHECK(*third->commit_without_overwriting() == folder / "heapprof.1.3.json");
  CHECK(content(path) == "first");
  CHECK(content(folder / "heapprof.1.3.json") == "third");
  CHECK(folder.entries() == 3);
  Result<AtomicFile> bare = started(folder / "name", "1");
  Result<AtomicFile> again = started(folder / "name", "2");
  CHECK(*bare->commit_without_overwriting() == folder / "name");
  CHECK(*again->commit_without_overwriting() == folder / "name.2");
}

TEST_CASE("a file is renamed to the first name that nothing has, not even a link that leads nowhere") {
  const Folder folder;
  put(folder / ".x.json", "mine");
  put(folder / "x.json", "theirs");
  REQUIRE(symlink("/nonexistent", (folder / "x.2.json").c_str()) == 0);
  CHECK(AtomicFile::rename_to_free_name(folder / ".x.json", folder / "x.json") == folder / "x.3.json");
  CHECK(content(folder / "x.json") == "theirs");
  CHECK(content(folder / "x.3.json") == "mine");
  CHECK(folder.entries() == 3);
  CHECK(AtomicFile::rename_to_free_name(folder / ".x.json", folder / "y.json").empty());  // it is gone
}

TEST_CASE("a symbolic link is followed, not replaced") {
  const Folder folder;
  std::filesystem::create_directory(folder / "real");
  put(folder / "real/target.json", "old");
  std::filesystem::create_symlink("real/target.json", folder / "link.json");
  REQUIRE(started(folder / "link.json", "new")->commit().ok());
  CHECK(std::filesystem::is_symlink(folder / "link.json"));
  CHECK(content(folder / "real/target.json") == "new");
}

TEST_CASE("a device is written to as it is") {
  REQUIRE(started("/dev/null", "gone")->commit().ok());
  struct stat status {};
  REQUIRE(stat("/dev/null", &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
}

TEST_CASE("a full device is an error, said once") {
  Result<AtomicFile> file = started("/dev/full", std::string(1 << 20, 'x'));
  const Result<std::string> name = file->commit();
  REQUIRE_FALSE(name.ok());
  CHECK(name.problem().id == "HP032");
}

TEST_CASE("a limit on file sizes leaves the old file") {
  const Folder folder;
  put(folder / "x.json", "old");
  rlimit old_limit{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, old_limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  Result<AtomicFile> file = started(folder / "x.json", std::string(1 << 20, 'x'));
  const Result<std::string> name = file->commit();
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  REQUIRE_FALSE(name.ok());
  CHECK(name.problem().id == "HP032");
  CHECK(content(folder / "x.json") == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("bad destinations are known before the work") {
  const Folder folder;
  CHECK(AtomicFile::create("/tmp").problem().id == "HP049");
  CHECK(AtomicFile::create(folder / "").problem().id == "HP049");
  CHECK(AtomicFile::create(folder / "none/x.json").problem().id == "HP031");
  CHECK(AtomicFile::create("/proc/x.json").problem().id == "HP031");
  CHECK(AtomicFile::create(folder / std::string(300, 'n')).problem().id == "HP031");
  CHECK(started(folder / std::string(255, 'n'), "x")->commit().ok());
  CHECK(folder.entries() == 1);
}
