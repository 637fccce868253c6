// cli/model/profile/device_facts.h: facts about a device besides its memory by site: its identity, allocations it
// refused, and the owners of lost memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// Kinds of devices, by name. "mapped" and "mapped:…" are pages that the program mapped itself. Those of
// "mapped:reserved" are mapped without access. Those of "mapped:file" are pages of files; the kernel can drop clean
// ones if memory is short.
inline bool is_file_device(const std::string& name) { return name == "mapped:file"; }
inline bool is_mapped_device(const std::string& name) { return name == "mapped" || name.rfind("mapped:", 0) == 0; }
inline bool is_reserved_device(const std::string& name) { return name == "mapped:reserved"; }
// Devices whose memory lies inside another device's memory: Python objects, and tensors on a CUDA device. Their bytes
// must not be added to those of the other device.
inline constexpr const char* kPythonDevice = "python";
inline bool is_inner_device(const std::string& name) { return name == kPythonDevice || name.ends_with("/tensors"); }

struct DeviceIdentity {
  std::string uuid;           // as nvidia-smi writes it, "GPU-…"; in this struct, empty is unknown
  std::string pci_id;         // "0000:01:00.0"
  std::string product;        // "NVIDIA H200"
  uint64_t memory_bytes = 0;  // as the driver reports
};

// Device memory that the driver reserves for its pools and graphs, as it reports whenever the agent queries it. All 0:
// none.
struct HeldMemory {
  uint64_t pools_bytes = 0;  // at the last report
  uint64_t pools_peak_bytes = 0;
  uint64_t pools_used_bytes = 0;  // of those, in use according to heapprof's records; at the end
  uint64_t pools_used_peak_bytes = 0;
  uint64_t pools_idle_peak_bytes = 0;  // the most at any moment that was reserved and not in use
  uint64_t graphs_bytes = 0;
  uint64_t graphs_peak_bytes = 0;
  uint64_t graphs_used_bytes = 0;
  uint64_t graphs_used_peak_bytes = 0;
  bool is_partial = false;  // there were more pools than the agent queried
};

bool has_any(const HeldMemory& held);
// Adds all numbers, as for processes that run at the same time.
void add_held(HeldMemory* sum, const HeldMemory& more);

// Used device memory as NVML reports it whenever it is queried. These numbers are estimates, for comparison with the
// allocations that were recorded.
struct DeviceUse {
  uint64_t samples = 0;
  uint64_t max_bytes = 0;          // the largest sample
  uint64_t seen_at_max_bytes = 0;  // recorded as live at that time, plus unused memory of pools and graphs
  bool is_of_all = false;          // of all processes on the device, because NVML does not report this one's
  std::string
      missing;  // why there is no sample (in a sum: of some processes); empty: all is well, or it was not requested
};
inline constexpr const char* kNothingSaid = "NVML had said nothing by then";  // of DeviceUse::missing
inline bool has_any(const DeviceUse& use) { return use.samples != 0 || !use.missing.empty(); }
// Used device memory that no recorded allocation explains.
inline uint64_t unattributed_bytes(const DeviceUse& use) {
  return use.max_bytes > use.seen_at_max_bytes ? use.max_bytes - use.seen_at_max_bytes : 0;
}
// For two processes: amounts of the processes add up; of two amounts for all processes on the device, the larger
// counts.
void add_use(DeviceUse* sum, const DeviceUse& more);

// A site with live memory on the device when the device refused an allocation.
struct LiveSite {
  uint32_t node = 0;  // the stack that allocated it: as in the device's sites
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
};

// Allocations of one stack that failed because memory ran out, with the state at the last of them.
struct Refusal {
  uint32_t node = 0;  // the stack that asked
  uint64_t count = 0;
  uint64_t by_limit_count = 0;  // how many of them `heapprof run --limit` refused, not the device
  uint64_t first_ns = 0;        // since the start
  uint64_t last_ns = 0;
  uint64_t size_bytes = 0;             // requested size
  std::optional<uint64_t> free_bytes;  // on the device, or within the limit; nullopt: unknown
  uint64_t live_bytes = 0;             // of the process on the device
  uint64_t live_blocks = 0;
  std::vector<LiveSite> live_sites;  // the largest, by live_bytes
};

inline constexpr size_t kMostLiveSites = 10;

// Merges refusals of the same stack, and puts the latest first.
void merge_refusals(std::vector<Refusal>* refusals);

// Blocks of one stack among the owners of lost memory.
struct OwnerPart {
  uint32_t node = 0;  // the stack that allocated them: as in the device's sites
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// Lost memory that `run --leak-check` found: blocks of one stack that no pointer points to; or cycles of blocks that
// point to each other, all of the same stacks, and that nothing else points to.
struct LostOwners {
  bool is_cycle = false;
  uint64_t owners = 0;  // blocks, or cycles
  uint64_t bytes = 0;   // of the owners and of all that only they reach; memory that several owners reach counts for
                        // one of them
  uint64_t blocks = 0;
  std::vector<OwnerPart> parts;  // the largest first; not all, if a cycle has many stacks; empty: this is the sum of
                                 // all other owners
};

// What points to memory that was still reachable at the end (`run --leak-check`). Memory that several kinds reach
// counts for the first of them.
enum class HolderKind : uint8_t {
  kVariable,     // of the program or a library
  kThreadLocal,  // storage of threads
  kMapped,       // pages that the program mapped itself
  kStack,        // stacks and registers of threads
  kOther         // memory of unknown use
};

// Memory that is reachable from each of these variables and from no other variable, or from another kind of holder.
struct Holder {
  HolderKind kind = HolderKind::kVariable;
  bool is_shared = false;          // reachable from several variables
  std::vector<std::string> names;  // of the variables; empty: too many, or data without names
  std::string module;              // path of their file; empty: several files, or not a variable
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  std::vector<OwnerPart> parts;  // the largest first, not all of them
};

// The holder's name in a sentence: "g_sessions", "stacks of threads".
std::string holder_words(const Holder& holder);

// Merges holders with the same kind, names and file, and puts the largest first.
void merge_holders(std::vector<Holder>* all);

// Whether a part of measured memory is large enough for reports and diffs: at least 8 MiB, and at least a quarter of
// the whole.
inline bool is_large_part(uint64_t part_bytes, uint64_t whole_bytes) {
  return part_bytes >= 8 << 20 && part_bytes >= whole_bytes / 4;
}

// Heap pages that stayed resident after most of the heap was freed, at the last measurement.
// (cli/collect/fragmentation.h)
struct Fragmentation {
  uint64_t from_ns = 0;            // since the start: the heap was at half of its peak or below from then to the end
  uint64_t seen_ns = 0;            // since the start: time of the measurement; 0: none, or the heap was in use again
  uint64_t resident_bytes = 0;     // resident pages of the heap
  uint64_t empty_bytes = 0;        // of pages without a block …
  uint64_t empty_pieces = 0;       // … which are so many separate pieces, with blocks between them
  uint64_t sparse_bytes = 0;       // free bytes of pages that are less than half in use
  std::vector<OwnerPart> pinning;  // stacks with blocks in these pages, and their share; the largest first, not all

  bool has_any() const { return seen_ns != 0; }
  uint64_t unused_bytes() const { return empty_bytes + sparse_bytes; }
  bool is_worth_a_line() const { return is_large_part(unused_bytes(), resident_bytes); }
};

// Large blocks of one stack with pages that were never used.
struct UntouchedPart {
  uint32_t node = 0;             // the stack that allocated them
  uint64_t untouched_bytes = 0;  // whole pages
  uint64_t bytes = 0;            // of all large blocks of the stack that were live then
  uint64_t blocks = 0;
};

// Pages of large live blocks that the program had not used, at the moment when they were most.
// (cli/collect/untouched.h)
struct Untouched {
  uint64_t seen_ns = 0;  // since the start; 0: nearly all was used, or not measured
  uint64_t untouched_bytes = 0;
  uint64_t bytes = 0;                // bytes of all large blocks
  std::vector<UntouchedPart> parts;  // the largest first, not all

  bool has_any() const { return seen_ns != 0; }
  bool is_worth_a_line() const { return is_large_part(untouched_bytes, bytes); }
};

// Merges parts with the same stack, and puts the largest first.
void settle_parts(std::vector<OwnerPart>* parts);
void settle_parts(std::vector<UntouchedPart>* parts);

// Merges owners with the same stacks, and puts the largest first.
void merge_owners(std::vector<LostOwners>* all);

}  // namespace heapprof::cli
