// tests/unit/base/trusted_output_test.cc: what other users may have put where we write.
#include "cli/base/trusted_output.h"

#include "cli/base/atomic_file.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace heapprof::cli;

namespace {

constexpr uid_t kOther = 65534;

// A sticky folder that all may write to, beside a file that only we may.
class Places {
 public:
  Places() {
    char name[] = "/tmp/heapprof-places-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    path_ = name;
    REQUIRE(mkdir((path_ + "/all").c_str(), 0777) == 0);
    REQUIRE(chmod((path_ + "/all").c_str(), 01777) == 0);
    std::ofstream(path_ + "/own") << "precious";
  }
  ~Places() { std::filesystem::remove_all(path_); }
  std::string all(const std::string& name) const { return path_ + "/all/" + name; }
  std::string own() const { return path_ + "/own"; }
  const std::string& path() const { return path_; }
  std::string kept() const {
    std::string text;
    std::ifstream(own()) >> text;
    return text;
  }

 private:
  std::string path_;
};

std::string id_of(const std::string& path, WrittenHow how = WrittenHow::kReplaced) {
  const Result<Done> checked = check_output(path, how);
  return checked ? "" : checked.problem().id;
}

void give_away(const std::string& path) { REQUIRE(lchown(path.c_str(), kOther, kOther) == 0); }

}  // namespace

TEST_CASE("another user's link in a folder of all is not followed, whatever part of the path it is") {
  if (geteuid() != 0) return;
  const Places places;
  REQUIRE(symlink(places.own().c_str(), places.all("last").c_str()) == 0);
  REQUIRE(symlink(places.path().c_str(), places.all("folder").c_str()) == 0);
  REQUIRE(symlink(places.all("last").c_str(), (places.path() + "/to_it").c_str()) == 0);
  for (const std::string& path : {places.all("last"), places.all("folder/own"), places.path() + "/to_it",
                                  places.path() + "/all/../all//./last"}) {
    CAPTURE(path);
    CHECK(id_of(path) == "");
    if (path.find("folder") == std::string::npos) give_away(places.all("last"));
    if (path.find("folder") != std::string::npos) give_away(places.all("folder"));
    CHECK(id_of(path) == "HP330");
    CHECK(!AtomicFile::create(path));
    CHECK(!open_output(path, O_WRONLY | O_TRUNC, 0600));
    REQUIRE(lchown(places.all("last").c_str(), 0, 0) == 0);
  }
  CHECK(places.kept() == "precious");
}

TEST_CASE("the folder's owner may put links there, and anybody where not all may write") {
  if (geteuid() != 0) return;
  const Places places;
  REQUIRE(symlink(places.own().c_str(), places.all("last").c_str()) == 0);
  give_away(places.all("last"));
  REQUIRE(chmod((places.path() + "/all").c_str(), 0755) == 0);
  CHECK(id_of(places.all("last")) == "");
  REQUIRE(chmod((places.path() + "/all").c_str(), 01777) == 0);
  give_away(places.path() + "/all");
  CHECK(id_of(places.all("last")) == "");
}

TEST_CASE("another user's pipe or file in a folder of all is not opened; a file is replaced") {
  if (geteuid() != 0) return;
  const Places places;
  REQUIRE(mkfifo(places.all("pipe").c_str(), 0666) == 0);
  std::ofstream(places.all("file")) << "theirs";
  CHECK(id_of(places.all("pipe"), WrittenHow::kOpened) == "");
  for (const char* name : {"pipe", "file"}) {
    CAPTURE(name);
    give_away(places.all(name));
    CHECK(id_of(places.all(name), WrittenHow::kOpened) == "HP330");
    CHECK(!open_output(places.all(name), O_WRONLY | O_APPEND, 0600));
  }
  CHECK(!AtomicFile::create(places.all("pipe")));
  Result<AtomicFile> file = AtomicFile::create(places.all("file"));
  REQUIRE(file);
  file->write("ours");
  CHECK(file->commit());
  struct stat facts {};
  REQUIRE(stat(places.all("file").c_str(), &facts) == 0);
  CHECK(facts.st_uid == 0);
}

TEST_CASE("links of our own, loops and paths that do not exist are no fault of others") {
  const Places places;
  REQUIRE(symlink("loop", places.all("loop").c_str()) == 0);
  REQUIRE(symlink("../new", places.all("new").c_str()) == 0);
  CHECK(id_of(places.all("loop")) == "");
  CHECK(id_of(places.all("none/at/all")) == "");
  CHECK(id_of("") == "");
  const Result<UniqueFd> made = open_output(places.all("new"), O_WRONLY, 0600);
  REQUIRE(made);
  CHECK(made->is_open());
  CHECK(access((places.path() + "/new").c_str(), F_OK) == 0);
}
