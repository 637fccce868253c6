// tests/support/scene_profile.h: a profile as a renderer might leave it, for tests of what people see: large numbers,
// two devices, C++ templates, paths that need cutting.
#pragma once

#include "cli/model/profile/canonical.h"
#include "cli/model/profile/node_table.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::test {

using namespace heapprof::cli;  // NOLINT(google-build-using-namespace)

inline constexpr uint64_t kMiB = 1 << 20;
inline constexpr uint64_t kSecondNs = 1'000'000'000;

// Makes sites whose sums are their device's totals.
class ScenePlan {
 public:
  ScenePlan() {
    profile_.modules = {{"/opt/render/bin/render", "c0ffee"},
                        {"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "abba"},
                        {"/usr/lib/x86_64-linux-gnu/libc.so.6", "beef"}};
    profile_.nodes.emplace_back();
    RunInfo& run = profile_.run;
    run.command = {"./render", "scene.usd"};
    run.executable = "/opt/render/bin/render";
    run.pid = 31337;
    run.start_unix_ns = 1'795'198'380'123'456'789;
    run.duration_ns = 41'812'345'678;
    run.end = {EndKind::kExited, 0};
    run.coverage.clock = "tsc";
  }

  // Innermost first. A file makes it the renderer's own code; without one the frame lies in libc.
  struct Step {
    std::string function;
    std::string file;
    uint32_t line = 0;
  };

  void add_device(const std::string& name) {
    profile_.devices.emplace_back();
    profile_.devices.back().name = name;
  }

  void add_site(const std::vector<Step>& steps, const SizedNumbers& numbers) {
    NodeTable table(&profile_.nodes);
    uint32_t node = 0;
    for (size_t i = steps.size(); i-- > 0;) node = table.intern(node, frame(steps[i]));
    Device& device = profile_.devices.back();
    Site site;
    site.node = node;
    site.numbers = numbers;
    const uint64_t mean_bytes = numbers.total_bytes / numbers.total_blocks;
    if (numbers.largest_bytes == 0) {
      site.numbers.smallest_bytes = numbers.total_blocks == 1 ? mean_bytes : mean_bytes / 2;
      site.numbers.largest_bytes = numbers.total_blocks == 1 ? mean_bytes : mean_bytes * 2;
    }
    // Half of them of the mean's size, the rest halved to each side; unless their sizes are given.
    uint64_t left = numbers.sizes == SizeHistogram() ? numbers.total_blocks : 0;
    for (const uint64_t size_bytes : {site.numbers.smallest_bytes, site.numbers.largest_bytes, mean_bytes}) {
      const uint64_t blocks = size_bytes == mean_bytes ? left : left / 4;
      SizeHistogram& sizes = site.numbers.sizes;
      sizes.set(size_bucket(size_bytes), sizes[size_bucket(size_bytes)] + blocks);
      left -= blocks;
    }
    site.numbers.max_bytes = numbers.peak_bytes > numbers.leaked_bytes ? numbers.peak_bytes : numbers.leaked_bytes;
    device.sites.push_back(site);
    DeviceTotals& totals = device.totals;
    totals.total_bytes += numbers.total_bytes;
    totals.total_blocks += numbers.total_blocks;
    totals.peak_bytes += numbers.peak_bytes;
    totals.peak_blocks += numbers.peak_blocks;
    totals.leaked_bytes += numbers.leaked_bytes;
    totals.leaked_blocks += numbers.leaked_blocks;
    totals.temporary_blocks += numbers.temporary_blocks;
    profile_.run.counters.allocations += numbers.total_blocks;
  }

  // A hump with its highest point at `peak_ns`.
  void add_timeline(uint64_t peak_ns) {
    Device& device = profile_.devices.back();
    device.totals.peak_ns = peak_ns;
    device.timeline.bucket_ns = kSecondNs / 2;
    const uint64_t end_ns = profile_.run.duration_ns;
    for (uint64_t at = 0; at <= end_ns; at += device.timeline.bucket_ns) {
      const uint64_t peak = device.totals.peak_bytes / 1000;
      const uint64_t value =
          at <= peak_ns ? peak * (at * 1000 / peak_ns) : peak * ((end_ns - at) * 1000 / (end_ns - peak_ns));
      device.timeline.buckets.push_back({value, value});
    }
    device.timeline.buckets[peak_ns / device.timeline.bucket_ns].max_bytes = device.totals.peak_bytes;
  }

  Profile take() { return std::move(profile_); }
  Profile& profile() { return profile_; }

 private:
  uint32_t frame(const Step& step) {
    Frame frame;
    frame.function = step.function;
    frame.file = step.file;
    frame.line = step.line;
    frame.module = step.file.empty() ? 2 : 0;
    frame.svma = 0x1000 + 16 * profile_.frames.size();
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
      const Frame& known = profile_.frames[i];
      if (known.function == frame.function && known.file == frame.file && known.line == frame.line) return i;
    }
    profile_.frames.push_back(frame);
    return static_cast<uint32_t>(profile_.frames.size() - 1);
  }

  Profile profile_;
};

inline Profile scene_profile() {
  ScenePlan plan;
  using Step = ScenePlan::Step;
  const Step start{"__libc_start_call_main", "", 0};
  const Step main_{"main", "/home/me/render/src/main.cc", 31};
  const Step load{"load_scene(Scene const&)", "/home/me/render/src/scene.cc", 90};
  const Step worker{"pool::Worker::run()", "/home/me/render/src/pool/worker.cc", 17};
  const Step thread{"start_thread", "", 0};
  const Step push{"std::vector<Index, std::allocator<Index> >::push_back(Index const&)",
                  "/usr/include/c++/12/bits/stl_vector.h", 1287};
  plan.add_device("host");
  SizedNumbers n;
  n.total_bytes = 3000 * kMiB, n.total_blocks = 1'204'118, n.peak_bytes = 1241 * kMiB, n.peak_blocks = 20'010;
  plan.add_site({push, {"build_index(Scene const&)", "/home/me/render/src/index.cc", 212}, load, main_, start}, n);
  n = {};
  n.total_bytes = 900 * kMiB, n.total_blocks = 4'000, n.peak_bytes = 402 * kMiB, n.peak_blocks = 3'500,
  n.temporary_blocks = 12;
  plan.add_site(
      {{"render::Tile<render::Rgba<float>, std::allocator<render::Rgba<float> > >::decode(unsigned char const*)",
        "/home/me/render/src/tiles/formats/openexr/decode_tiles.cc", 88},
       worker,
       thread},
      n);
  n = {};
  n.total_bytes = 800 * kMiB, n.total_blocks = 66, n.peak_bytes = 152 * kMiB, n.peak_blocks = 66;
  plan.add_site(
      {{"resize_pass", "/home/me/render/src/resize.cc", 41}, {"main", "/home/me/render/src/main.cc", 44}, start}, n);
  n = {};
  n.total_bytes = 5'760'000, n.total_blocks = 120'000, n.temporary_blocks = 100'000;
  plan.add_site(
      {{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::reserve(unsigned long)", "",
        0},
       {"csv::parse_row(char const*)", "/home/me/render/src/csv.cc", 11},
       load,
       main_,
       start},
      n);
  n = {};
  n.total_bytes = 3'418'000, n.total_blocks = 40, n.peak_bytes = 1'200'000, n.peak_blocks = 14,
  n.leaked_bytes = 3'418'000;
  n.leaked_blocks = 40, n.first_leak_ns = 1'204'000'000, n.last_leak_ns = 41'790'000'000;
  plan.add_site({{"leak_cache", "/home/me/render/src/cache.cc", 40}, main_, start}, n);
  n = {};
  n.total_bytes = 64 * kMiB, n.total_blocks = 12'000, n.peak_bytes = 30 * kMiB, n.peak_blocks = 9'000;
  plan.add_site({{"strdup", "", 0},
                 {"intern(char const*)", "/home/me/render/src/names.cc", 9},
                 {"read_a", "/home/me/render/src/a.cc", 5},
                 main_,
                 start},
                n);
  plan.add_site({{"strdup", "", 0},
                 {"intern(char const*)", "/home/me/render/src/names.cc", 9},
                 {"read_b", "/home/me/render/src/b.cc", 6},
                 main_,
                 start},
                n);
  plan.add_site({{"strdup", "", 0},
                 {"intern(char const*)", "/home/me/render/src/names.cc", 9},
                 {"read_c", "/home/me/render/src/c.cc", 7},
                 main_,
                 start},
                n);
  n = {};
  n.total_bytes = 72'704, n.total_blocks = 1, n.peak_bytes = 72'704, n.peak_blocks = 1;
  plan.add_site({}, n);
  plan.profile().devices[0].totals.resident_at_peak_bytes = 2160 * kMiB;
  plan.add_timeline(18'204'000'000);
  plan.add_device("cuda:0");
  n = {};
  n.total_bytes = 8000 * kMiB, n.total_blocks = 4'118, n.peak_bytes = 6461 * kMiB, n.peak_blocks = 900,
  n.temporary_blocks = 80;
  plan.add_site({{"upload_textures", "/home/me/render/src/gpu.cu", 140}, load, main_, start}, n);
  plan.add_timeline(22'871'000'000);
  HeldMemory& held = plan.profile().devices.back().held;
  held.pools_bytes = 512 * kMiB, held.pools_peak_bytes = 7168 * kMiB;
  held.pools_used_peak_bytes = 6400 * kMiB, held.pools_idle_peak_bytes = 900 * kMiB;
  held.graphs_peak_bytes = 96 * kMiB, held.graphs_used_peak_bytes = 90 * kMiB;
  return plan.take();
}

}  // namespace heapprof::test
