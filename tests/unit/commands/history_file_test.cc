// tests/unit/commands/history_file_test.cc: what is appended is what is read, whoever appends at the same time.
#include "cli/read/read_history.h"
#include "cli/write/history/append_history.h"
#include "tests/support/sample_profile.h"

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace heapprof;
using namespace heapprof::cli;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "heapprof-history-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string file() const { return path_ + "/ci.jsonl"; }

 private:
  std::string path_;
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

HistoryEntry record_of(const std::string& name) {
  HistoryEntry entry;
  entry.name = name;
  entry.time_unix_ns = 5;
  entry.metrics[0] = 7;
  return entry;
}

}  // namespace

TEST_CASE("a profile's record reads back as it was made") {
  const TemporaryFolder folder;
  const Profile profile = test::assembled(test::hostile_sample());
  std::vector<HistoryEntry> entries;
  for (const Device& device : profile.devices)
    entries.push_back(make_history_entry(profile, device, "na\"me\n", "c0ffee"));
  entries[1].ok = true;
  REQUIRE(append_history(folder.file(), entries));
  REQUIRE(append_history(folder.file(), entries));
  const Result<History> history = read_history(folder.file());
  REQUIRE(history);
  CHECK(history->warnings.empty());
  REQUIRE(history->entries.size() == 4);
  const HistoryEntry& host = history->entries[2];
  CHECK(host.name == "na\"me\\x0a");
  CHECK(host.device == "host");
  CHECK(host.commit == "c0ffee");
  CHECK(host.time_unix_ns == profile.run.start_unix_ns);
  CHECK_FALSE(host.ok);
  const DeviceTotals& totals = profile.devices[0].totals;
  CHECK(host.metrics[metric_index(Metric::kPeak)] == totals.peak_bytes);
  CHECK(host.metrics[metric_index(Metric::kTotal)] == totals.total_bytes);
  CHECK(host.metrics[metric_index(Metric::kLeaked)] == totals.leaked_bytes);
  CHECK(host.metrics[metric_index(Metric::kAllocations)] == totals.total_blocks);
  CHECK(host.metrics[metric_index(Metric::kTemporary)] == totals.temporary_blocks);
  CHECK(history->entries[3].device == "cuda:0");
  CHECK(history->entries[3].ok == true);
}

TEST_CASE("what a profile does not know is not in its record") {
  Profile profile = test::assembled(test::small_sample());
  profile.merged.emplace_back();
  HistoryEntry entry = make_history_entry(profile, profile.devices[0], "x", "");
  CHECK_FALSE(entry.metrics[metric_index(Metric::kPeak)]);
  CHECK(entry.metrics[metric_index(Metric::kLeaked)]);
  profile.has_lifetimes = false;
  profile.dialect = Dialect::kDhatRs;
  entry = make_history_entry(profile, profile.devices[0], "x", "");
  CHECK_FALSE(entry.metrics[metric_index(Metric::kLeaked)]);
  CHECK_FALSE(entry.metrics[metric_index(Metric::kTemporary)]);
  CHECK(entry.metrics[metric_index(Metric::kTotal)]);
}

TEST_CASE("suppressed leaks are not in an entry") {
  Profile profile = test::assembled(test::small_sample());
  for (Site& site : profile.devices[0].sites) site.suppressed_by = 1;
  CHECK(make_history_entry(profile, profile.devices[0], "x", "").metrics[metric_index(Metric::kLeaked)] == 0);
}

TEST_CASE("below a line that was left half way a new one begins") {
  const TemporaryFolder folder;
  std::ofstream(folder.file()) << "{\"version\":1,\"ti";
  REQUIRE(append_history(folder.file(), std::vector<HistoryEntry>{record_of("x")}));
  CHECK(content(folder.file()) == "{\"version\":1,\"ti\n" + history_line(record_of("x")));
}

TEST_CASE("writers at the same time do not mix their lines") {
  const TemporaryFolder folder;
  constexpr int kWriters = 8;
  constexpr int kRounds = 50;
  const std::string long_name(20'000, 'n');  // more than a pipe's or a page's worth
  for (int i = 0; i < kWriters; ++i) {
    if (::fork() != 0) continue;
    const std::vector<HistoryEntry> entries = {record_of(long_name), record_of(std::to_string(i))};
    for (int round = 0; round < kRounds; ++round) {
      if (!append_history(folder.file(), entries)) ::_exit(1);
    }
    ::_exit(0);
  }
  for (int i = 0; i < kWriters; ++i) {
    int status = 1;
    ::wait(&status);
    CHECK(status == 0);
  }
  const Result<History> history = read_history(folder.file());
  REQUIRE(history);
  CHECK(history->lines_skipped == 0);
  REQUIRE(history->entries.size() == 2 * kWriters * kRounds);
  for (size_t i = 0; i < history->entries.size(); i += 2) {
    CHECK(history->entries[i].name.size() == long_name.size());
    CHECK(history->entries[i + 1].name.size() == 1);
  }
}

TEST_CASE("nothing is added to a file that is no history") {
  const TemporaryFolder folder;
  for (const char* text : {"{\"dhatFileVersion\":2,\"mode\":\"heap\",\"version\":1}",
                           "{\"name\":\"a\",\"version\":\"1.0\"}", "[tool.budget]\nname = \"a\"\n"}) {
    std::ofstream(folder.file(), std::ios::trunc) << text;
    const Result<Done> added = append_history(folder.file(), std::vector<HistoryEntry>{record_of("x")});
    REQUIRE_FALSE(added);
    CHECK(added.problem().id == "HP344");
    std::ifstream file(folder.file());
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == text);
  }
  std::ofstream(folder.file(), std::ios::trunc) << "\n";
  CHECK(append_history(folder.file(), std::vector<HistoryEntry>{record_of("x")}));
}

TEST_CASE("a full disk is a problem, and no half line is left") {
  const Result<Done> added = append_history("/dev/full", std::vector<HistoryEntry>{record_of("x")});
  REQUIRE_FALSE(added);
  CHECK(added.problem().id == "HP136");
  CHECK_FALSE(append_history("/nonexistent/x.jsonl", std::vector<HistoryEntry>{record_of("x")}));
}
