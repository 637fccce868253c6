// cli/model/profile/recording.h: what the collector passes on at the end of a process: numbers by stack, with addresses
// instead of names.
//
// cli/collect fills it, cli/symbolize names its locations, cli/model/profile/assemble.h turns both into a Profile.
#pragma once

#include "cli/base/fd.h"
#include "cli/model/profile/device_api.h"
#include "cli/model/profile/device_facts.h"
#include "cli/model/profile/device_trace.h"
#include "cli/model/profile/named_memory.h"
#include "cli/model/profile/python_code.h"
#include "cli/model/profile/run.h"
#include "cli/model/profile/scopes.h"
#include "cli/model/profile/segments_use.h"
#include "cli/model/profile/size_histogram.h"
#include "cli/model/profile/snapshots.h"
#include "cli/model/profile/stays.h"
#include "cli/model/profile/unseen_memory.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

inline constexpr uint32_t kNoModule = 0xffffffff;

struct Module {
  std::string path;                // as the loader knows it; the executable's real path for the main program
  std::string build_id;            // lower-case hex; empty: no build id
  uint64_t load_bias = 0;          // avma − svma, at the last load
  std::shared_ptr<UniqueFd> file;  // opened when first seen, because it may be deleted later; may be null
};

// A return address in a module; the call is at svma − 1. If there is no module and svma's highest bit is set, it is a
// Python frame (python_code.h). (For a frame that a signal interrupted, the agent sends the interrupted address + 1, so
// that svma − 1 is always inside the right instruction.)
struct Location {
  uint32_t module = kNoModule;
  uint64_t svma = 0;      // address in the ELF file; the process's address if module is kNoModule
  bool inferred = false;  // not a real return address: see inferred_calls.h
};

// The call tree: node 0 is the root, every other node's parent has a smaller index, and no two nodes have the same
// parent and location.
struct StackNode {
  uint32_t parent = 0;
  uint32_t location = 0;
};

struct SiteNumbers {
#define SITE_NUMBER(member, ...) uint64_t member = 0;
#include "cli/model/profile/site_numbers.def"
#undef SITE_NUMBER
};

struct RecordedSite {
  uint32_t stack = 0;  // StackNode of the innermost frame; 0: no stack
  bool truncated = false;
  SiteNumbers numbers;
  uint32_t live_row = 0;  // row of RecordedDevice::live_bytes, from 1; 0: less than 4 KiB at each moment
  uint32_t sizes_row =
      0;  // row of RecordedDevice::sizes, from 1; 0: all its blocks are in the bucket of its largest one
};

struct RecordedStay {
  uint32_t site = 0;  // index into RecordedDevice::sites
  Stay stay;
};

// What a site has from this snapshot until its next step (SiteStep).
struct RecordedStep {
  uint32_t site = 0;  // index into RecordedDevice::sites
  uint32_t snapshot = 0;
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
};

// Live bytes over time: the smallest and the largest value per bucket. The values are exact at the peak, at the start
// and at the end.
struct Timeline {
  uint64_t bucket_ns = 0;  // width
  struct Bucket {
    uint64_t min_bytes = 0;
    uint64_t max_bytes = 0;
  };
  std::vector<Bucket> buckets;  // from the start of the run, without gaps
};

struct DeviceTotals {
  uint64_t total_bytes = 0;
  uint64_t total_blocks = 0;
  uint64_t peak_bytes = 0;
  uint64_t peak_blocks = 0;  // blocks at the peak of bytes
  uint64_t peak_ns = 0;      // time of the peak of bytes, since the start
  uint64_t max_blocks = 0;   // the peak of the number of blocks, which may be at another time
  uint64_t max_blocks_ns = 0;
  uint64_t leaked_bytes = 0;
  uint64_t leaked_blocks = 0;
  uint64_t temporary_blocks = 0;
  uint64_t resident_at_peak_bytes = 0;  // resident set, sampled; 0: unknown
  uint64_t resident_max_bytes = 0;
  uint64_t live_at_resident_max_bytes = 0;    // of this device at the time of that sample
  uint64_t mapped_at_resident_max_bytes = 0;  // then, of pages that the program mapped itself, with access
};

// Whether the parts of the resident set are known. Older versions did not measure them.
inline bool has_resident_parts(const DeviceTotals& totals) {
  return totals.resident_max_bytes != 0 &&
         (totals.live_at_resident_max_bytes != 0 || totals.mapped_at_resident_max_bytes != 0);
}

struct RecordedDevice {
  std::string name = "host";
  DeviceTotals totals;
  std::vector<RecordedSite> sites;
  Timeline timeline;
  DeviceIdentity identity;
  HeldMemory held;
  DeviceUse use;
  uint64_t limit_bytes = 0;             // of `heapprof run --limit`; 0: none
  std::vector<Refusal> refusals;        // nodes: StackNode
  std::vector<LostOwners> lost_owners;  // nodes: StackNode; only of the host, if leaks were classified
  std::vector<Holder> held_by;          // nodes: StackNode; mangled names until symbols are looked up
  Fragmentation fragmentation;          // nodes: StackNode
  Untouched untouched;                  // nodes: StackNode
  UnseenMemory unseen;                  // nodes: StackNode
  SegmentsUse segments;                 // of tensors in a CUDA device
  std::vector<NamedMemory> names;       // nodes: StackNode
  std::vector<uint64_t> moments_ns;     // when the sites' live bytes were sampled, since the start; may be empty
  std::vector<uint64_t> live_bytes;     // rows of as many numbers as there are moments
  std::vector<SizeCounts> sizes;        // rows for sites whose blocks are in several buckets
  std::vector<RecordedStep> steps;      // by site, then by snapshot
  std::vector<uint64_t> bounds_ns;      // bucket boundaries of stays; empty: unknown
  std::vector<RecordedStay> stays;      // by site, then in the order of Site::stays
};

struct Recording {
  RunInfo run;
  std::vector<Module> modules;
  std::vector<Location> locations;
  std::vector<StackNode> stacks;
  std::vector<RecordedDevice> devices;  // at least host
  DeviceApi api;                        // nodes: StackNode
  PythonCodes python_codes;             // code objects of the Python frames among the locations
  Scopes scopes;
  Snapshots snapshots;                          // nodes: StackNode
  DeviceTrace trace;                            // nodes: StackNode
  std::vector<std::string> consistency_errors;  // numbers that do not agree as they must: a bug in heapprof
};

}  // namespace heapprof::cli
