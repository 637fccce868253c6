// tests/unit/target/device_memory_test.cc: what a helper answers, of any kind: the scripts here stand for
// heapprof-nvml.
#include "cli/target/device_memory.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace heapprof::cli {
namespace {

constexpr int kLongMs = 60'000;

Result<DeviceMemory> measured_by(const std::string& script, int patience_ms = kLongMs) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("heapprof-memory-" + std::to_string(getpid()));
  std::ofstream(path) << "#!/bin/sh\n" << script;
  REQUIRE(chmod(path.c_str(), 0700) == 0);
  const Result<DeviceMemory> memory = measure_device(path.string(), 3, patience_ms);
  std::filesystem::remove(path);
  return memory;
}
std::string reason_of(const Result<DeviceMemory>& memory) {
  REQUIRE_FALSE(memory.ok());
  CHECK(memory.problem().id == "HP198");
  CHECK(memory.problem().exit_code == 3);
  const std::string& what = memory.problem().what;
  const std::string start = "cuda:3 has to be measured, and cannot be: ";
  REQUIRE(what.compare(0, start.size(), start) == 0);
  return what.substr(start.size());
}

TEST_CASE("the helper is asked for the device, and its answer is taken") {
  const Result<DeviceMemory> memory = measured_by("[ \"$*\" = 'free 3' ] && echo 'free 70 100 20 NVIDIA H200 x'");
  REQUIRE(memory.ok());
  CHECK(memory->free_bytes == 70);
  CHECK(memory->total_bytes == 100);
  CHECK(memory->context_bytes == 20);
  CHECK(memory->product == "NVIDIA H200 x");
}

TEST_CASE("a context that nobody measured is not known, and none is no error") {
  const Result<DeviceMemory> memory = measured_by("printf 'free 70 '; sleep 0.05; printf '100 - '");
  REQUIRE(memory.ok());
  CHECK_FALSE(memory->context_bytes.has_value());
  CHECK(memory->product.empty());
}

TEST_CASE("why nothing is measured is said") {
  CHECK(reason_of(measured_by("echo 'missing no CUDA-capable device is detected'")) ==
        "no CUDA-capable device is detected");
  CHECK(reason_of(measured_by("printf 'missing \\033[31mred'")) == "\\x1b[31mred");
  CHECK(reason_of(measure_device("", 3)) == "heapprof-nvml is not installed beside the agent");
  CHECK(reason_of(measure_device("/nonexistent/helper", 3)) == "heapprof-nvml: no such file or directory");
}

TEST_CASE("an answer that is none is not believed") {
  for (const char* answer :
       {"", "free", "free 70", "free 70 100", "free 70 100 x name", "free -1 100 - name", "free 101 100 - name",
        "free 7x 100 - name", "free 99999999999999999999999 100 - name", "ready", "free  70 100 - name"}) {
    INFO(answer);
    CHECK(reason_of(measured_by(std::string("echo '") + answer + "'")) == "heapprof-nvml ended without an answer");
  }
  CHECK(reason_of(measured_by("head -c 100000 /dev/zero")) == "heapprof-nvml ended without an answer");
  CHECK(reason_of(measured_by("kill -SEGV $$")) == "heapprof-nvml ended without an answer");
}

TEST_CASE("a driver that hangs is left behind") {
  CHECK(reason_of(measured_by("exec sleep 1000", 50)) == "the driver does not answer");
}

}  // namespace
}  // namespace heapprof::cli
