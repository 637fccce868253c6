// tests/unit/run/finisher_test.cc: recordings that wait on disk for their names come back as they were, and every
// process is written.
#include "cli/run/finisher.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <set>

using namespace heapprof::cli;

namespace {

// A folder that is gone at the end.
struct Folder {
  Folder() {
    std::string name = "/tmp/heapprof-unit.XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

// `sites` stacks of one frame each, with 1000 + i bytes.
Recording make_recording(uint64_t pid, uint64_t sites) {
  Recording recording;
  recording.run.pid = pid;
  recording.modules.push_back({"/opt/none", "", 0, nullptr});
  recording.stacks.push_back({});
  RecordedDevice device;
  for (uint64_t i = 0; i < sites; ++i) {
    recording.locations.push_back({0, 4096 + 16 * i});
    recording.stacks.push_back({0, static_cast<uint32_t>(i)});
    RecordedSite site;
    site.stack = static_cast<uint32_t>(i + 1);
    site.numbers.total_bytes = site.numbers.max_bytes = site.numbers.peak_bytes = 1000 + i + pid;
    site.numbers.total_blocks = site.numbers.max_blocks = site.numbers.peak_blocks = 1;
    device.totals.total_bytes += site.numbers.total_bytes;
    device.totals.peak_bytes += site.numbers.peak_bytes;
    ++device.totals.total_blocks;
    ++device.totals.peak_blocks;
    ++device.totals.max_blocks;
    device.sites.push_back(site);
  }
  device.timeline.bucket_ns = 1000;
  device.timeline.buckets = {{0, device.totals.peak_bytes}};
  recording.devices.push_back(device);
  return recording;
}

uint64_t peak_of(uint64_t pid, uint64_t sites) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < sites; ++i) sum += 1000 + i + pid;
  return sum;
}

}  // namespace

TEST_CASE("what waits on disk comes back as it was") {
  Folder folder;
  SpillFile file(folder.path);
  const Recording original = make_recording(7, 333);
  Recording first = original;
  Recording second = make_recording(8, 1);
  SpillFile::Extent first_extent;
  SpillFile::Extent second_extent;
  REQUIRE(file.put(&first, &first_extent));
  REQUIRE(file.put(&second, &second_extent));
  CHECK(spillable_bytes(first) == 0);
  CHECK(std::filesystem::is_empty(folder.path));
  REQUIRE(file.take(second_extent, &second));
  REQUIRE(file.take(first_extent, &first));
  REQUIRE(first.devices[0].sites.size() == 333);
  for (size_t i = 0; i < 333; ++i) {
    CHECK(first.devices[0].sites[i].numbers.total_bytes == original.devices[0].sites[i].numbers.total_bytes);
    CHECK(first.locations[i].svma == original.locations[i].svma);
    CHECK(first.stacks[i + 1].location == original.stacks[i + 1].location);
  }
  CHECK(first.devices[0].timeline.buckets[0].max_bytes == original.devices[0].totals.peak_bytes);
  CHECK(second.devices[0].sites.size() == 1);
}

TEST_CASE("a folder that takes no file leaves a recording whole") {
  SpillFile file("/no/such/folder");
  Recording recording = make_recording(7, 3);
  SpillFile::Extent extent;
  CHECK_FALSE(file.put(&recording, &extent));
  CHECK(recording.devices[0].sites.size() == 3);
}

TEST_CASE("every process is written, also where most of them have to wait on disk") {
  Folder folder;
  FinishOptions options;
  options.most_waiting_bytes = 100'000;  // about one of them
  Finisher finisher(options);
  constexpr uint64_t kProcesses = 40;
  for (uint64_t pid = 1; pid <= kProcesses; ++pid) {
    finisher.submit({make_recording(pid, 301), folder.path + "/" + std::to_string(pid) + ".json", false});
  }
  std::vector<Problem> problems;
  const std::vector<SavedProfile> saved = finisher.collect_saved(&problems);
  CHECK(problems.empty());
  REQUIRE(saved.size() == kProcesses);
  CHECK(finisher.spilled() > 0);
  std::set<uint64_t> pids;
  for (const SavedProfile& profile : saved) {
    pids.insert(profile.pid);
    CHECK(profile.peak_bytes == peak_of(profile.pid, 301));
    CHECK(std::filesystem::file_size(profile.path) == profile.size_bytes);
  }
  CHECK(pids.size() == kProcesses);
}

TEST_CASE("a profile that cannot be written leaves what is known of its process") {
  Folder folder;
  Finisher finisher({});
  Recording recording = make_recording(7, 3);
  recording.run.command = {"sort"};
  recording.devices[0].name = "host";
  recording.devices[0].totals.resident_max_bytes = 5'000'000;
  RecordedDevice mapped;
  mapped.name = "mapped";
  mapped.totals.peak_bytes = 1 << 20;
  recording.devices.push_back(mapped);
  finisher.submit({std::move(recording), folder.path + "/none/7.json", false, 4});
  std::vector<Problem> problems;
  const std::vector<SavedProfile> saved = finisher.collect_saved(&problems);
  CHECK(problems.size() == 1);
  REQUIRE(saved.size() == 1);
  CHECK(saved[0].path.empty());
  CHECK(saved[0].entry == 4);
  CHECK(saved[0].command == std::vector<std::string>{"sort"});
  CHECK(saved[0].peak_bytes == peak_of(7, 3) + (1 << 20));
  CHECK(saved[0].resident_bytes == 5'000'000);
}

TEST_CASE("what is known last is in the profile, and is asked for before it is written") {
  Folder folder;
  Finisher finisher({});
  const std::string path = folder.path + "/7.json";
  const Result<Finished> finished = finisher.finish({make_recording(7, 3), path, false}, [&](Profile* profile) {
    CHECK_FALSE(std::filesystem::exists(path));
    profile->run.processes.push_back({8, 7, 0, {"sort"}, "7.8.json", 1, 2});
  });
  REQUIRE(finished.ok());
  CHECK(finished->profile->run.processes.size() == 1);
  CHECK(std::filesystem::file_size(path) == finished->saved.size_bytes);
}

TEST_CASE("what is done beside the writing may mark the profile, and the file is the same") {
  Folder folder;
  Finisher finisher({});
  const std::string alone = folder.path + "/alone.json";
  const std::string beside = folder.path + "/beside.json";
  const auto bytes_of = [](const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto same_times = [](Profile* profile) { profile->run.cost = {}; };
  REQUIRE(finisher.finish({make_recording(7, 60'000), alone, false}, same_times).ok());
  bool is_called = false;  // so many sites that rows are made of the small ones, in a second thread too
  const Result<Finished> finished =
      finisher.finish({make_recording(7, 60'000), beside, false}, same_times, [&](Profile* profile) {
        profile->folds.assign(profile->frames.size(), FrameFold::kAsked);
        for (Site& site : profile->devices[0].sites) site.suppressed_by = 1;
        is_called = true;
      });
  REQUIRE(finished.ok());
  CHECK(is_called);
  CHECK(finished->profile->devices[0].sites[0].suppressed_by == 1);
  CHECK(bytes_of(alone) == bytes_of(beside));
}

TEST_CASE("a profile that cannot be written is a problem also where something is done beside") {
  Folder folder;
  Finisher finisher({});
  const Result<Finished> finished =
      finisher.finish({make_recording(7, 3), folder.path + "/none/7.json", false}, {}, [](Profile*) {});
  REQUIRE_FALSE(finished.ok());
  CHECK(finished.problem().id == "HP031");
}

TEST_CASE("what is thrown beside the writing comes out when the file is whole") {
  Folder folder;
  Finisher finisher({});
  const std::string path = folder.path + "/7.json";
  CHECK_THROWS_AS(
      finisher.finish({make_recording(7, 20'000), path, false}, {}, [](Profile*) { throw std::bad_alloc(); }),
      std::bad_alloc);
  CHECK(std::filesystem::file_size(path) > 100'000);
}

TEST_CASE("processes that have the same file hold one descriptor of it between them") {
  Folder folder;
  Finisher finisher({});
  std::shared_ptr<UniqueFd> first;  // as a module of a running process would have it
  for (uint64_t pid = 1; pid <= 3; ++pid) {
    Recording recording = make_recording(pid, 1);
    recording.modules[0].file = std::make_shared<UniqueFd>(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    if (pid == 1) first = recording.modules[0].file;
    const std::weak_ptr<UniqueFd> file = recording.modules[0].file;
    finisher.submit({std::move(recording), folder.path + "/" + std::to_string(pid) + ".json", false});
    CHECK(file.expired() == (pid != 1));
  }
  std::vector<Problem> problems;
  CHECK(finisher.collect_saved(&problems).size() == 3);
}
