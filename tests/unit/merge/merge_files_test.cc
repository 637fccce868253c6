// tests/unit/merge/merge_files_test.cc: on all cores the sum is that of one, and of several problems the first is told.
#include "cli/merge/merge_files.h"

#include "cli/base/byte_sink.h"
#include "cli/model/compare/merge_profiles.h"
#include "cli/write/profile/dhat.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

using namespace heapprof::cli;
using namespace heapprof::test;

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/heapprof-merge.XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

std::string bytes_of(const Profile& profile) {
  StringSink sink;
  write_dhat(profile, &sink);
  return sink.text();
}

}  // namespace

TEST_CASE("files are merged on all cores as one after the other") {
  const Folder folder;
  std::vector<std::string> files;
  ProfileMerger merger;
  for (uint32_t i = 0; i < 24; ++i) {
    Profile profile = assembled(random_sample({i % 5, 60, 12, 80}));
    profile.run.pid = 100 + i;
    files.push_back(folder.path + "/rank." + std::to_string(i) + ".json");
    std::ofstream(files.back()) << bytes_of(profile);
    REQUIRE(merger.add(std::move(profile), files.back()));
  }
  size_t calls = 0;
  size_t last = 0;
  const Result<MergedFiles> merged = merge_files(files, [&](size_t done) {
    ++calls;
    last = std::max(last, done);
  });
  REQUIRE(merged);
  CHECK(bytes_of(merged->profile) == bytes_of(merger.take()));
  CHECK(calls == files.size());
  CHECK(last == files.size());
  REQUIRE(merged->files.size() == files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    CHECK(merged->files[i].path == files[i]);
    CHECK(merged->files[i].pid == 100 + i);
  }
}

TEST_CASE("of several files that cannot be read the first is told") {
  const Folder folder;
  std::vector<std::string> files;
  for (int i = 0; i < 8; ++i) {
    files.push_back(folder.path + "/" + std::to_string(i) + ".json");
    std::ofstream(files.back()) << "{";
  }
  const Result<MergedFiles> merged = merge_files({files[0]}, [](size_t) {});
  REQUIRE_FALSE(merged);
  CHECK(merged.problem().what.find("/0.json") != std::string::npos);
  CHECK_FALSE(merge_files(files, [](size_t) {}));
}
