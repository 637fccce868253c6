// tests/targets/cuda/cuda_tensors.cc: a caching allocator as PyTorch's is: it takes segments from the driver (device 0:
// allocations; device 1: one segment that grows by mappings), cuts tensors out of them, and reports each to libc10.
//
// usage: cuda_tensors FORM SEED [blocks|kill]      FORM: 16, 17, 110, 20: the function's type in that version
// It prints its own books, a line each:
//   tensors N total_bytes total_count peak_bytes left_bytes left_count
//   peak|end N reserved_bytes allocated_bytes segments empty largest_gap_bytes
//   named N bytes count                the tensors that it calls weights: every third of those at the end
//   told N ROLE bytes count            the tensors that it tells of, before a snapshot
//   reached CALLS REACHED
// With "blocks" it works in the scopes train > step, and prints what is live, too; with "kill" a signal ends it then:
//   segment N address bytes
//   block N address bytes
#include "heapprof/heapprof.h"
#include "tests/fake_cuda/fake_c10.h"
#include "tests/fake_cuda/fake_cuda.h"

#include <heapprof/heapprof.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <vector>

namespace {

constexpr uint64_t kRound = 512;
constexpr uint64_t kSegmentBytes = 2 << 20;
constexpr int kDevices = 2;

int g_form = 20;
uint64_t g_calls = 0;

void check(int result) {
  if (result == kSuccess) return;
  fprintf(stderr, "the driver said %d\n", result);
  exit(80);
}

struct Segment {
  uint64_t bytes;
  std::map<uint64_t, uint64_t> tensors;  // by address: bytes
};
struct Moment {
  uint64_t reserved = 0, allocated = 0, segments = 0, empty = 0, largest_gap = 0;
};

class Allocator {
 public:
  explicit Allocator(int device) : device_(device) {
    check(cuCtxCreate_v2(&context_, 0, device));
    if (device == 1) {
      enter();
      check(cuMemAddressReserve(&reserved_, 4096 * kSegmentBytes, 0, 0, 0));
    }
  }

  uint64_t allocate(uint64_t size_bytes) {
    size_bytes = (size_bytes + kRound - 1) / kRound * kRound;
    uint64_t address = find(size_bytes);
    if (address == 0) {
      grow(size_bytes);
      address = find(size_bytes);
    }
    segment_of(address)->second.tensors[address] = size_bytes;
    sizes_[address] = size_bytes;
    total_ += size_bytes;
    ++count_;
    live_ += size_bytes;
    peak_ = std::max(peak_, live_);
    report(address, static_cast<int64_t>(size_bytes));
    return address;
  }

  void free(uint64_t address) {
    const uint64_t size_bytes = sizes_.at(address);
    live_ -= size_bytes;
    report(address, -static_cast<int64_t>(size_bytes));
    sizes_.erase(address);
    segment_of(address)->second.tensors.erase(address);
  }

  // Gives back what has no tensor; of the segment that grows, nothing.
  void empty_cache() {
    if (device_ == 1) return;
    enter();
    for (auto at = segments_.begin(); at != segments_.end();) {
      if (!at->second.tensors.empty()) {
        ++at;
        continue;
      }
      if (reserved_bytes() == peak_reserved_ && looked_ != peak_reserved_) {
        looked_ = peak_reserved_;
        at_peak_ = look();
      }
      check(cuMemFree_v2(at->first));
      at = segments_.erase(at);
    }
  }

  void run_out(uint64_t size_bytes) {
    ++g_calls;
    const c10::Device device = {1, static_cast<int8_t>(device_)};
    const auto size = static_cast<int64_t>(size_bytes);
    if (g_form == 110) return c10::reportOutOfMemoryToProfiler(size, int64_t(live_), int64_t(reserved_bytes()), device);
    if (g_form == 17)
      return c10::reportOutOfMemoryToProfiler(size_bytes, size_t(live_), size_t(reserved_bytes()), device);
    c10::reportOutOfMemoryToProfiler(size, size_t(live_), size_t(reserved_bytes()), device);
  }

  void name_weights() const {
    uint64_t index = 0, bytes = 0, count = 0;
    for (const auto& [address, size_bytes] : sizes_) {
      if (index++ % 3 != 0) continue;
      HEAPPROF_NAME_BLOCK(reinterpret_cast<void*>(address), "weights");
      bytes += size_bytes;
      ++count;
    }
    printf("named %d %lu %lu\n", device_, bytes, count);
  }

  // Each is told of in one of the five roles; the snapshot is the caller's.
  void tell_tensors() const {
    const struct heapprof_functions* const functions = heapprof_functions_();
    uint64_t bytes[6] = {}, count[6] = {};
    uint32_t index = 0;
    for (const auto& [address, size_bytes] : sizes_) {
      if (index++ % 7 == 0) continue;  // nobody tells of these
      const uint32_t role = 1 + index % 5;
      if (functions != nullptr) functions->tell_tensor(reinterpret_cast<void*>(address), role, nullptr);
      bytes[role] += size_bytes;
      ++count[role];
    }
    for (int role = 1; role <= 5; ++role) printf("told %d %d %lu %lu\n", device_, role, bytes[role], count[role]);
  }

  void print() const {
    const Moment end = look();
    const Moment& peak = looked_ == peak_reserved_ ? at_peak_ : end;
    printf("tensors %d %lu %lu %lu %lu %zu\n", device_, total_, count_, peak_, live_, sizes_.size());
    for (const auto& [name, moment] : {std::pair("peak", peak), {"end", end}})
      printf("%s %d %lu %lu %lu %lu %lu\n", name, device_, moment.reserved, moment.allocated, moment.segments,
             moment.empty, moment.largest_gap);
  }

  void print_blocks() const {
    for (const auto& [start, segment] : segments_) printf("segment %d %lu %lu\n", device_, start, segment.bytes);
    for (const auto& [address, bytes] : sizes_) printf("block %d %lu %lu\n", device_, address, bytes);
  }

 private:
  void enter() const { check(cuCtxSetCurrent(context_)); }

  std::map<uint64_t, Segment>::iterator segment_of(uint64_t address) {
    return std::prev(segments_.upper_bound(address));
  }

  // visit(address, bytes): each gap.
  template <typename Visitor>
  static void for_each_gap(uint64_t start, const Segment& segment, const Visitor& visit) {
    uint64_t at = start;
    for (const auto& [address, bytes] : segment.tensors) {
      if (address != at) visit(at, address - at);
      at = address + bytes;
    }
    if (at != start + segment.bytes) visit(at, start + segment.bytes - at);
  }

  // The smallest gap that is large enough.
  uint64_t find(uint64_t size_bytes) const {
    uint64_t best = 0, best_bytes = UINT64_MAX;
    for (const auto& [start, segment] : segments_) {
      for_each_gap(start, segment, [&](uint64_t address, uint64_t bytes) {
        if (bytes < size_bytes || bytes >= best_bytes) return;
        best = address;
        best_bytes = bytes;
      });
    }
    return best;
  }

  void grow(uint64_t size_bytes) {
    enter();
    const uint64_t wanted = (size_bytes + kSegmentBytes - 1) / kSegmentBytes;
    if (device_ == 0) {
      CUdeviceptr address = 0;
      check(cuMemAlloc_v2(&address, wanted * kSegmentBytes));
      segments_[address] = {wanted * kSegmentBytes, {}};
    } else {
      for (uint64_t i = 0; i < wanted; ++i) {
        CUhandle handle = 0;
        CudaProperties properties{};
        properties.type = 1;
        properties.location_type = 1;
        properties.location_id = device_;
        Segment& segment = segments_[reserved_];
        check(cuMemCreate(&handle, kSegmentBytes, &properties, 0));
        check(cuMemMap(reserved_ + segment.bytes, kSegmentBytes, 0, handle, 0));
        check(cuMemRelease(handle));
        segment.bytes += kSegmentBytes;
      }
    }
    peak_reserved_ = std::max(peak_reserved_, reserved_bytes());
  }

  uint64_t reserved_bytes() const {
    uint64_t bytes = 0;
    for (const auto& [start, segment] : segments_) bytes += segment.bytes;
    return bytes;
  }

  Moment look() const {
    Moment moment;
    for (const auto& [start, segment] : segments_) {
      moment.reserved += segment.bytes;
      ++moment.segments;
      moment.empty += segment.tensors.empty() ? 1 : 0;
      for (const auto& [address, bytes] : segment.tensors) moment.allocated += bytes;
      for_each_gap(start, segment,
                   [&](uint64_t, uint64_t bytes) { moment.largest_gap = std::max(moment.largest_gap, bytes); });
    }
    return moment;
  }

  void report(uint64_t address, int64_t size_bytes) const {
    ++g_calls;
    const c10::Device device = {1, static_cast<int8_t>(device_)};
    auto* block = reinterpret_cast<void*>(address);
    switch (g_form) {
      case 16: return c10::reportMemoryUsageToProfiler(device, size_bytes);
      case 17: return c10::reportMemoryUsageToProfiler(block, size_bytes, device);
      case 110: return c10::reportMemoryUsageToProfiler(block, size_bytes, int64_t{1}, int64_t{2}, device);
      default: return c10::reportMemoryUsageToProfiler(block, size_bytes, size_t{1}, size_t{2}, device);
    }
  }

  int device_;
  CUcontext context_ = nullptr;
  CUdeviceptr reserved_ = 0;
  std::map<uint64_t, Segment> segments_;
  std::map<uint64_t, uint64_t> sizes_;
  uint64_t total_ = 0, count_ = 0, live_ = 0, peak_ = 0, peak_reserved_ = 0, looked_ = 0;
  Moment at_peak_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  g_form = atoi(argv[1]);
  std::mt19937 random(static_cast<unsigned>(atoi(argv[2])));
  static heapprof_name train = {nullptr, "train", 0};
  static heapprof_name step = {nullptr, "step", 0};
  heapprof_scope scopes[2];
  if (argc > 3) {
    heapprof_scope_begin(&scopes[0], &train);
    heapprof_scope_begin(&scopes[1], &step);
  }
  Allocator allocators[kDevices] = {Allocator(0), Allocator(1)};
  CUdeviceptr other = 0;  // no tensor's; on device 1, whose context was made last
  check(cuMemAlloc_v2(&other, 1000000));
  for (int device = 0; device < kDevices; ++device) {
    std::vector<uint64_t> held;
    for (int i = 0; i < 3000; ++i) {
      const size_t goal = i < 1500 ? 200 : 60;
      if (held.size() < goal / 2 || (held.size() < goal && random() % 2 == 0)) {
        held.push_back(allocators[device].allocate(1 + random() % (random() % 10 == 0 ? 5000000 : 70000)));
      } else {
        std::swap(held[random() % held.size()], held.back());
        allocators[device].free(held.back());
        held.pop_back();
      }
      if (i % 400 == 399) allocators[device].empty_cache();
    }
    // A tensor of the CPU is malloc's block, and none of a device's.
    c10::reportMemoryUsageToProfiler(&held, int64_t{777}, size_t{1}, size_t{1}, c10::Device{0, 0});
    ++g_calls;
  }
  allocators[0].run_out(123 << 20);
  for (const Allocator& allocator : allocators) allocator.name_weights();
  for (const Allocator& allocator : allocators) allocator.tell_tensors();
  static heapprof_name at_end = {nullptr, "at the end", 0};
  if (heapprof_functions_() != nullptr) heapprof_functions_()->snapshot(&at_end, 1);
  for (const Allocator& allocator : allocators) allocator.print();
  printf("reached %lu %lu\n", g_calls, c10::g_reached);
  if (argc > 3) {
    for (const Allocator& allocator : allocators) allocator.print_blocks();
    printf("segment 1 %llu 1000000\nblock 1 %llu 1000000\n", static_cast<unsigned long long>(other),
           static_cast<unsigned long long>(other));
    if (strcmp(argv[3], "kill") == 0) {
      fflush(stdout);
      raise(SIGKILL);
    }
    heapprof_scope_end(&scopes[1]);
    heapprof_scope_end(&scopes[0]);
  }
  return 0;
}
