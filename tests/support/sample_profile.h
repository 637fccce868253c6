// tests/support/sample_profile.h: recordings whose numbers are right, because a small program is played through a
// ledger of its own: the unit tests, the golden files and the viewer's test are made from these.
//
// The ledger here is written to be plain, not fast, and shares no code with cli/collect.
#pragma once

#include "cli/model/profile/assemble.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/symbols.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace heapprof::test {

using namespace heapprof::cli;  // NOLINT(google-build-using-namespace)

struct Sample {
  Recording recording;
  SymbolTable symbols;
};

// Plays allocations on one device and fills its sites, totals and timeline.
class Ledger {
 public:
  Ledger(RecordedDevice* device, uint64_t bucket_ns) : device_(device) { device_->timeline.bucket_ns = bucket_ns; }

  struct Block {
    uint32_t site = 0;
    uint64_t size_bytes = 0;
    uint64_t birth_ns = 0;
  };

  uint32_t add_site(uint32_t stack) {
    device_->sites.push_back({stack, false, {}});
    live_.push_back({});
    return static_cast<uint32_t>(device_->sites.size() - 1);
  }

  Block allocate(uint32_t site, uint64_t size_bytes, uint64_t now_ns) {
    SiteNumbers& n = device_->sites[site].numbers;
    Live& live = live_[site];
    save_peak(site);
    n.smallest_bytes = n.total_blocks == 0 ? size_bytes : std::min(n.smallest_bytes, size_bytes);
    n.largest_bytes = std::max(n.largest_bytes, size_bytes);
    n.total_bytes += size_bytes;
    n.total_blocks += 1;
    uint32_t& sizes_row = device_->sites[site].sizes_row;
    if (sizes_row == 0) device_->sizes.emplace_back();
    if (sizes_row == 0) sizes_row = static_cast<uint32_t>(device_->sizes.size());
    ++device_->sizes[sizes_row - 1][static_cast<size_t>(size_bucket(size_bytes))];
    live.bytes += size_bytes;
    live.blocks += 1;
    if (live.bytes > n.max_bytes) {
      n.max_bytes = live.bytes;
      n.max_blocks = live.blocks;
    }
    DeviceTotals& totals = device_->totals;
    totals.total_bytes += size_bytes;
    totals.total_blocks += 1;
    device_live_.bytes += size_bytes;
    device_live_.blocks += 1;
    if (device_live_.bytes > totals.peak_bytes) {
      totals.peak_bytes = device_live_.bytes;
      totals.peak_blocks = device_live_.blocks;
      totals.peak_ns = now_ns;
      ++epoch_;
    }
    if (device_live_.blocks > totals.max_blocks) {
      totals.max_blocks = device_live_.blocks;
      totals.max_blocks_ns = now_ns;
    }
    show(now_ns);
    return {site, size_bytes, now_ns};
  }

  void free(const Block& block, uint64_t now_ns, bool is_temporary) {
    SiteNumbers& n = device_->sites[block.site].numbers;
    save_peak(block.site);
    live_[block.site].bytes -= block.size_bytes;
    live_[block.site].blocks -= 1;
    device_live_.bytes -= block.size_bytes;
    device_live_.blocks -= 1;
    n.lifetime_ns += now_ns - block.birth_ns;
    if (is_temporary) {
      n.temporary_blocks += 1;
      device_->totals.temporary_blocks += 1;
    }
    show(now_ns);
  }

  // `leaked` are the blocks that were never freed.
  void finish(const std::vector<Block>& leaked, uint64_t now_ns) {
    show(now_ns);
    for (uint32_t site = 0; site < live_.size(); ++site) {
      SiteNumbers& n = device_->sites[site].numbers;
      const bool saved = live_[site].epoch == epoch_;
      n.peak_bytes = saved ? live_[site].peak_bytes : live_[site].bytes;
      n.peak_blocks = saved ? live_[site].peak_blocks : live_[site].blocks;
      n.leaked_bytes = live_[site].bytes;
      n.leaked_blocks = live_[site].blocks;
      n.first_leak_ns = n.leaked_blocks == 0 ? 0 : UINT64_MAX;
    }
    for (const Block& block : leaked) {
      SiteNumbers& n = device_->sites[block.site].numbers;
      n.lifetime_ns += now_ns - block.birth_ns;
      n.first_leak_ns = std::min(n.first_leak_ns, block.birth_ns);
      n.last_leak_ns = std::max(n.last_leak_ns, block.birth_ns);
    }
    device_->totals.leaked_bytes = device_live_.bytes;
    device_->totals.leaked_blocks = device_live_.blocks;
  }

 private:
  struct Live {
    uint64_t bytes = 0;
    uint64_t blocks = 0;
    uint64_t epoch = UINT64_MAX;
    uint64_t peak_bytes = 0;
    uint64_t peak_blocks = 0;
  };

  // A site's live bytes are about to change: were they still those of the latest peak?
  void save_peak(uint32_t site) {
    Live& live = live_[site];
    if (live.epoch == epoch_) return;
    live.peak_bytes = live.bytes;
    live.peak_blocks = live.blocks;
    live.epoch = epoch_;
  }

  void show(uint64_t now_ns) {
    auto& buckets = device_->timeline.buckets;
    const size_t bucket = now_ns / device_->timeline.bucket_ns;
    while (buckets.size() <= bucket) buckets.push_back({shown_bytes_, shown_bytes_});
    shown_bytes_ = device_live_.bytes;
    buckets[bucket].min_bytes = std::min(buckets[bucket].min_bytes, shown_bytes_);
    buckets[bucket].max_bytes = std::max(buckets[bucket].max_bytes, shown_bytes_);
  }

  RecordedDevice* device_;
  std::vector<Live> live_;
  Live device_live_;
  uint64_t epoch_ = 0;
  uint64_t shown_bytes_ = 0;
};

inline RunInfo sample_run() {
  RunInfo run;
  run.command = {"./render", "--quality", "very high", "scene's.usd"};
  run.executable = "/opt/app/render";
  run.pid = 31337;
  run.parent_pid = 31336;
  run.start_unix_ns = 1'795'198'380'123'456'789;
  run.duration_ns = 41'812'345'678;
  run.end = {EndKind::kExited, 0};
  run.machine = {"Example CPU 9000", 2, 25'000'000'000, "Linux 6.1.0 x86_64", "glibc 2.36"};
  run.coverage.agent_version = "0.1.0";
  run.coverage.allocator = "libc.so.6";
  run.coverage.clock = "tsc";
  run.coverage.unwinder = "heapprof";
  run.coverage.bypassing_modules = {"libodd.so.1"};
  run.coverage.unprofiled_programs = {{"/bin/busybox", "statically linked", 3, false}};
  run.counters.allocations = 12;
  run.counters.frees = 9;
  run.cost = {123'456'789, 45'000'000, 7'000'000, 6'000'000, 5'000'000, 4'194'304};
  run.threads = {{31337, "render", 8, 9000, 7}, {31340, "worker", 4, 3000, 2}};
  run.other_threads_count = 2;
  run.other_threads = {0, "", 3, 250, 1};
  return run;
}

// A small program by hand: inlined frames, a stripped library, a site without a stack, a truncated one, a second
// device.
inline Sample small_sample() {
  Sample sample;
  Recording& r = sample.recording;
  r.run = sample_run();
  r.modules = {{"/opt/app/render", "c0ffee", 0x555500000000, nullptr},
               {"/usr/lib/libtile.so.2", "", 0x7f0000000000, nullptr},
               {"/usr/lib/x86_64-linux-gnu/libc.so.6", "abba", 0x7f1000000000, nullptr},
               {"/opt/app/render", "c0ffee", 0x566600000000, nullptr}};  // the executable again, at another address
  r.locations = {{0, 0x1140}, {0, 0x11a5}, {1, 0x9f21}, {2, 0x2724b}, {3, 0x1140}, {kNoModule, 0x7fff00001001}};
  sample.symbols.frames = {{{"main", "/src/main.cc", 31, false}},
                           {{"std::vector<int, std::allocator<int> >::push_back(int const&)",
                             "/usr/include/c++/12/bits/stl_vector.h", 1287, true},
                            {"build_index(Scene const&)", "/src/index.cc", 212, false}},
                           {},
                           {{"__libc_start_call_main", "", 0, false}},
                           {{"main", "/src/main.cc", 31, false}},
                           {{"jit::loop", "", 0, false}}};
  //           0 root   1 libc    2 main   3 index  4 main'  5 index' 6 tile   7 jit
  r.stacks = {{0, 0}, {0, 3}, {1, 0}, {2, 1}, {1, 4}, {4, 1}, {2, 2}, {0, 5}};
  RecordedDevice host;
  Ledger ledger(&host, 1'000'000'000);
  const uint32_t index = ledger.add_site(3);
  const uint32_t index_again = ledger.add_site(5);  // reads as the one before
  const uint32_t tile = ledger.add_site(6);
  const uint32_t jit = ledger.add_site(7);
  const uint32_t none = ledger.add_site(0);
  host.sites[jit].truncated = true;
  const auto a = ledger.allocate(index, 4096, 1'000'000'001);
  const auto b = ledger.allocate(tile, 1235, 2'000'000'002);
  ledger.free(a, 3'000'000'003, false);
  const auto c = ledger.allocate(index_again, 8000, 4'000'000'004);
  const auto d = ledger.allocate(jit, 0, 5'000'000'005);
  const auto e = ledger.allocate(none, 77, 6'000'000'006);
  ledger.free(e, 6'000'000'500, true);
  ledger.free(b, 7'000'000'007, false);
  const auto f = ledger.allocate(tile, 1236, 8'000'000'008);
  ledger.free(c, 9'000'000'009, false);
  ledger.finish({d, f}, r.run.duration_ns);
  host.totals.resident_at_peak_bytes = 5'000'000;
  host.totals.resident_max_bytes = 6'000'000;
  host.totals.live_at_resident_max_bytes = 9'000;
  host.totals.mapped_at_resident_max_bytes = 4'000'000;
  RecordedDevice gpu;
  gpu.name = "cuda:0";
  Ledger gpu_ledger(&gpu, 1'000'000'000);
  const uint32_t upload = gpu_ledger.add_site(6);
  gpu_ledger.finish({gpu_ledger.allocate(upload, 1 << 20, 2'500'000'000)}, r.run.duration_ns);
  r.devices = {std::move(host), std::move(gpu)};
  return sample;
}

struct RandomShape {
  uint32_t seed = 1;
  size_t sites = 100;
  size_t depth = 25;
  size_t locations = 2000;
};

// Random stacks in which neighbours share most of their frames, as real ones do, and random allocations.
inline Sample random_sample(const RandomShape& shape) {
  Sample sample;
  Recording& r = sample.recording;
  r.run = sample_run();
  std::mt19937_64 random(shape.seed);
  const auto below = [&](size_t limit) { return static_cast<uint32_t>(random() % limit); };
  r.modules = {{"/opt/app/render", "c0ffee", 0, nullptr}, {"/usr/lib/libstripped.so.1", "feed", 0, nullptr}};
  for (uint32_t i = 0; i < shape.locations; ++i) {
    const bool is_stripped = below(10) == 0;
    r.locations.push_back({is_stripped ? 1u : 0u, 0x1000 + uint64_t{i} * 16});
    sample.symbols.frames.emplace_back();
    if (is_stripped) continue;
    const std::string name = "ns" + std::to_string(i % 40) + "::function_" + std::to_string(i) + "(int, char const*)";
    const std::string file = "/src/part_" + std::to_string(i % 97) + ".cc";
    if (below(4) == 0)
      sample.symbols.frames.back().push_back({"inlined_" + std::to_string(i) + "()", file, below(900) + 1, true});
    sample.symbols.frames.back().push_back({name, file, below(900) + 1, false});
  }
  r.stacks.push_back({});
  RecordedDevice host;
  Ledger ledger(&host, 500'000'000);
  std::vector<uint32_t> path = {0};
  for (size_t i = 0; i < shape.sites; ++i) {
    const size_t keep = path.size() > 4 ? path.size() - below(std::min<size_t>(6, path.size() - 1)) : 1;
    path.resize(std::max<size_t>(keep, 1));
    const size_t depth = shape.depth - below(std::max<size_t>(shape.depth / 3, 1));
    while (path.size() <= depth) {
      r.stacks.push_back({path.back(), below(shape.locations)});
      path.push_back(static_cast<uint32_t>(r.stacks.size() - 1));
    }
    ledger.add_site(path.back());
  }
  std::vector<Ledger::Block> live;
  const size_t events = 4 * shape.sites;
  for (size_t i = 0; i < events; ++i) {
    const uint64_t now_ns = r.run.duration_ns / events * i;
    if (live.size() > 8 && below(2) == 0) {
      std::swap(live[below(live.size())], live.back());
      ledger.free(live.back(), now_ns, below(3) == 0);
      live.pop_back();
    } else {
      const auto site = i < shape.sites ? static_cast<uint32_t>(i) : below(shape.sites);
      live.push_back(ledger.allocate(site, uint64_t{1} << below(20) | below(512), now_ns));
    }
  }
  ledger.finish(live, r.run.duration_ns);
  r.devices = {std::move(host)};
  return sample;
}

// Names that would break a page, a terminal or a parser.
inline Sample hostile_sample() {
  Sample sample = small_sample();
  Recording& r = sample.recording;
  r.run.command = {"./a\x1b[31m", "\xff\xfe", "\"quoted\\\"", "</script><script>alert(1)</script>", "",
                   "new\nline",   "it's"};
  r.modules[1].path = "/tmp/lib (in) (x.cc:1)\n\x80.so";
  sample.symbols.frames[0] = {{"main (in /bin/sh)", "/src/a (b).cc", 31, false}};
  sample.symbols.frames[1] = {{"\"inlined\"\\ \x01\x7f", "/src/\xe2\x80\xae\xe2\x80\xa8.cc", 7, true},
                              {std::string("nul\0name", 8), "in file", 0, false}};
  sample.symbols.frames[3] = {{"0x12: ??? (in there:3)", "", 0, false}};
  sample.symbols.frames[5] = {{"???", "", 0, false}};
  return sample;
}

inline Profile assembled(const Sample& sample) { return assemble(sample.recording, sample.symbols); }

}  // namespace heapprof::test
