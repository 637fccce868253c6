// tests/unit/target/device_use_watch_test.cc: what a helper says, of any kind: the scripts here stand for
// heapprof-nvml.
#include "cli/target/device_use_watch.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace heapprof::cli {
namespace {

class Helper {
 public:
  explicit Helper(const std::string& script) {
    path_ = std::filesystem::temp_directory_path() / ("heapprof-helper-" + std::to_string(getpid()));
    std::ofstream(path_) << "#!/bin/sh\n" << script;
    REQUIRE(chmod(path_.c_str(), 0700) == 0);
  }
  ~Helper() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Until there is something to look at; a helper of ten seconds is one that hangs.
template <typename IsDone>
std::vector<DeviceUseSample> take_until(DeviceUseWatch* watch, const IsDone& is_done) {
  std::vector<DeviceUseSample> samples;
  for (int i = 0; i < 10'000 && !is_done(samples); ++i) {
    for (DeviceUseSample& sample : watch->take()) samples.push_back(std::move(sample));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return samples;
}
std::string missing_of(const std::string& script) {
  const Helper helper(script);
  DeviceUseWatch watch(helper.path());
  watch.look_at("GPU-a");
  take_until(&watch, [&watch](const auto&) { return !watch.missing("GPU-a").empty(); });
  return watch.missing("GPU-a");
}

TEST_CASE("nothing is started before a device is looked at") {
  const Helper helper("touch \"$0.started\"");
  {
    DeviceUseWatch watch(helper.path());
    CHECK(watch.take().empty());
    CHECK(watch.missing("GPU-a").empty());
  }
  CHECK_FALSE(std::filesystem::exists(helper.path() + ".started"));
}

TEST_CASE("a helper gets each device once, and its samples come back whole") {
  const Helper helper(R"(read first; read second
echo "device $first 1000"; echo "process 12 700"; echo "process 13 300"; echo end
printf 'device '; sleep 0.05; echo "$second 5"; echo end
read nothing
)");
  DeviceUseWatch watch(helper.path());
  for (const char* uuid : {"GPU-a", "GPU-a", "two\nlines", "GPU-b"}) watch.look_at(uuid);
  const auto samples = take_until(&watch, [](const auto& taken) { return taken.size() == 2; });
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].uuid == "GPU-a");
  CHECK(samples[0].all_bytes == 1000);
  CHECK(samples[0].processes == std::map<pid_t, uint64_t>{{12, 700}, {13, 300}});
  CHECK(samples[1].uuid == "GPU-b");
  CHECK(samples[1].processes.empty());
  CHECK(watch.missing("GPU-a").empty());
}

TEST_CASE("lines that are none are left out") {
  const Helper helper(R"(read first
echo "device GPU-a"; echo "device GPU-a -1"; echo end; echo "device GPU-other 7"; echo end; head -c 5000 /dev/zero; echo
echo "device GPU-a 99999999999999999999999"; echo "process x 1"; echo end
echo "device GPU-a 7"; echo "process 0 1"; echo "process -3 1"; echo "process 5 x"; echo "process 5"; echo; echo "end of it"; echo end
read nothing
)");
  DeviceUseWatch watch(helper.path());
  watch.look_at("GPU-a");
  const auto samples = take_until(&watch, [](const auto& taken) { return !taken.empty(); });
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].all_bytes == 7);
  CHECK(samples[0].processes.empty());
}

TEST_CASE("why nothing is known is said") {
  CHECK(missing_of("read first; echo missing a driver") == "a driver");
  CHECK(missing_of("exit 3") == "heapprof-nvml has ended");
  DeviceUseWatch absent("");
  absent.look_at("GPU-a");
  CHECK(absent.missing("GPU-a") == "heapprof-nvml is not installed beside the agent");
  DeviceUseWatch gone("/nowhere/heapprof-nvml");
  gone.look_at("GPU-a");
  CHECK(gone.missing("GPU-a") == "heapprof-nvml: no such file or directory");
  gone.look_at("GPU-b");
  CHECK(gone.take().empty());
}

TEST_CASE("of one device nothing may be known") {
  const Helper helper(R"(read first; read second
echo ready; echo "unknown GPU-a Not Supported"; echo unknown; echo "unknown GPU-c"; echo "device GPU-b 5"; echo end
read nothing
)");
  DeviceUseWatch watch(helper.path());
  watch.look_at("GPU-a");
  watch.look_at("GPU-b");
  CHECK(take_until(&watch, [](const auto& taken) { return !taken.empty(); }).size() == 1);
  CHECK(watch.missing("GPU-a") == "Not Supported");
  CHECK(watch.missing("GPU-b").empty());
}

TEST_CASE("a watch that has stopped starts again with the next device") {
  const Helper helper("echo run >>\"$0.runs\"; read first; echo \"device $first 5\"; echo end; read nothing");
  DeviceUseWatch watch(helper.path());
  for (int run = 1; run <= 2; ++run) {
    watch.look_at("GPU-a");
    CHECK(take_until(&watch, [](const auto& taken) { return !taken.empty(); }).size() == 1);
    watch.stop();
    CHECK(watch.take().empty());
  }
  std::ifstream runs(helper.path() + ".runs");
  CHECK(std::string(std::istreambuf_iterator<char>(runs), {}) == "run\nrun\n");
  std::filesystem::remove(helper.path() + ".runs");
}

TEST_CASE("NVML is tried: it starts, says why not, dies or hangs") {
  const auto tried = [](const std::string& script) {
    const Helper helper(script);
    return DeviceUseWatch(helper.path()).try_nvml(script.find("sleep") == std::string::npos ? 10'000 : 50);
  };
  CHECK(tried("echo ready; read nothing").empty());
  CHECK(tried("echo missing a driver") == "a driver");
  CHECK(tried("kill -ABRT $$") == "heapprof-nvml has ended");
  CHECK(tried("exec sleep 100") == "NVML does not answer");
}

TEST_CASE("a helper that hangs is waited for by nobody, and ends with its watch") {
  const Helper helper("echo $$ >\"$0.new\"; mv \"$0.new\" \"$0.pid\"; trap '' TERM HUP; exec sleep 100");
  const auto start = std::chrono::steady_clock::now();
  {
    DeviceUseWatch watch(helper.path());
    for (int i = 0; i < 100'000; ++i) watch.look_at("GPU-" + std::to_string(i));  // more than a socket takes
    CHECK(watch.take().empty());
    take_until(&watch, [&](const auto&) { return std::filesystem::exists(helper.path() + ".pid"); });
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
  pid_t pid = 0;
  std::ifstream(helper.path() + ".pid") >> pid;
  REQUIRE(pid > 0);
  bool has_ended = false;
  for (int i = 0; i < 10'000 && !has_ended; ++i) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    status >> number >> name >> state;
    has_ended = !status || state == "Z";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(has_ended);
  std::filesystem::remove(helper.path() + ".pid");
}

}  // namespace
}  // namespace heapprof::cli
