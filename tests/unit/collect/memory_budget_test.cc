// tests/unit/collect/memory_budget_test.cc: how much memory the collector may take: of its own, and by control groups
// of both versions, in a /proc of our own.
#include "cli/collect/memory/memory_budget.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace heapprof::cli {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// A /proc and a /sys of our own.
class FakeRoot {
 public:
  FakeRoot() {
    char name[] = "/tmp/heapprof-budget.XXXXXX";
    path_ = mkdtemp(name);
    write("/proc/self/statm", "5000 3000 1000 100 0 2000 0\n");
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = path_ + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void add_group(const FakeRoot& root, const std::string& folder, bool is_v2, const std::string& limit,
               uint64_t used_bytes, uint64_t cache_bytes) {
  root.write(folder + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes"), limit + "\n");
  root.write(folder + (is_v2 ? "/memory.current" : "/memory.usage_in_bytes"), std::to_string(used_bytes) + "\n");
  root.write(folder + "/memory.stat",
             "anon 1\n" + std::string(is_v2 ? "inactive_file " : "inactive_file 7\ntotal_inactive_file ") +
                 std::to_string(cache_bytes) + "\n");
}

TEST_CASE("a budget of our own counts resident private memory") {
  const FakeRoot root;
  const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const MemoryBudget budget(3000 * page_bytes, root.path());
  CHECK_FALSE(budget.shortage({0, 1000 * page_bytes}));
  const auto shortage = budget.shortage({0, 1000 * page_bytes + 1});
  REQUIRE(shortage);
  CHECK(shortage->limit == "--max-memory");
  CHECK(shortage->limit_bytes == 3000 * page_bytes);
}

TEST_CASE("the limit of a control group of version 2 counts, and that of the groups above it") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "0::/slice/job\n");
  root.write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  add_group(root, "/sys/fs/cgroup/slice/job", true, "max", 90 * kMiB, 0);
  add_group(root, "/sys/fs/cgroup/slice", true, std::to_string(100 * kMiB), 90 * kMiB, 20 * kMiB);
  const MemoryBudget budget(0, root.path());
  CHECK_FALSE(budget.shortage({50 * kMiB, 30 * kMiB}));  // 20 MiB of files are no obstacle
  const auto shortage = budget.shortage({50 * kMiB, 31 * kMiB});
  REQUIRE(shortage);
  CHECK(shortage->limit == "the control group");
  CHECK(shortage->limit_bytes == 100 * kMiB);
  CHECK_FALSE(budget.shortage({12 * kMiB, 31 * kMiB}));  // the program has filled it, not we

  root.write("/sys/fs/cgroup/slice/memory.high", std::to_string(50 * kMiB) + "\n");
  const MemoryBudget throttled(0, root.path());
  CHECK(throttled.shortage({50 * kMiB, 1}));
  root.write("/sys/fs/cgroup/slice/memory.high", "max\n");  // lifted while we run
  CHECK_FALSE(throttled.shortage({50 * kMiB, 1}));
}

TEST_CASE("the limit of a control group of version 1 counts, below the root that a container sees") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/77/inner\n0::/\n");
  root.write("/proc/self/mountinfo",
             "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
             "32 23 0:28 /docker/77 /sys/fs/cgroup/my\\040memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n");
  add_group(root, "/sys/fs/cgroup/my memory/inner", false, "9223372036854771712", 70 * kMiB, 0);
  add_group(root, "/sys/fs/cgroup/my memory", false, std::to_string(80 * kMiB), 70 * kMiB, 5 * kMiB);
  const MemoryBudget budget(0, root.path());
  CHECK_FALSE(budget.shortage({50 * kMiB, 15 * kMiB}));
  REQUIRE(budget.shortage({50 * kMiB, 16 * kMiB}));
  CHECK(budget.shortage({50 * kMiB, 16 * kMiB})->limit_bytes == 80 * kMiB);
}

TEST_CASE("what cannot be read is no limit") {
  const FakeRoot root;
  root.write("/proc/self/cgroup", "nonsense\n0::/../outside\n");
  root.write("/proc/self/mountinfo", "x\n30 23 0:26 / /sys/fs/cgroup rw - cgroup2\n - cgroup2 a b\n");
  CHECK_FALSE(MemoryBudget(0, root.path()).shortage({50 * kMiB, 1}));
  CHECK_FALSE(MemoryBudget(0, "/nowhere").shortage({50 * kMiB, 1}));
}

}  // namespace
}  // namespace heapprof::cli
