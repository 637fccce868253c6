// cli/model/profile/device_facts.h: what is known of a device besides its memory: its identity, the allocations it
// refused, and the owners of lost memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// By the device's name: pages that the program mapped itself, and those of them that are mapped without access.
// Pages of files: clean ones cost nothing where memory is short.
inline bool is_file_device(const std::string& name) { return name == "mapped:file"; }
inline bool is_mapped_device(const std::string& name) { return name == "mapped" || name.rfind("mapped:", 0) == 0; }
inline bool is_reserved_device(const std::string& name) { return name == "mapped:reserved"; }
// Devices whose memory lies inside that of other devices, and adds no bytes: Python objects, tensors in a CUDA device.
inline constexpr const char* kPythonDevice = "python";
inline bool is_inner_device(const std::string& name) { return name == kPythonDevice || name.ends_with("/tensors"); }

struct DeviceIdentity {
  std::string uuid;           // as nvidia-smi writes it, "GPU-…"; empty: unknown, as all below
  std::string pci_id;         // "0000:01:00.0"
  std::string product;        // "NVIDIA H200"
  uint64_t memory_bytes = 0;  // what the driver says it has
};

// What the driver reports that it holds of a device for its pools and graphs, whenever the agent asks; all 0: nothing.
struct HeldMemory {
  uint64_t pools_bytes = 0;  // the last reported
  uint64_t pools_peak_bytes = 0;
  uint64_t pools_used_bytes = 0;  // of those, in use by the ledger; at the end
  uint64_t pools_used_peak_bytes = 0;
  uint64_t pools_idle_peak_bytes = 0;  // held beyond use, the most at any moment
  uint64_t graphs_bytes = 0;
  uint64_t graphs_peak_bytes = 0;
  uint64_t graphs_used_bytes = 0;
  uint64_t graphs_used_peak_bytes = 0;
  bool is_partial = false;  // there were more pools than were asked
};

bool has_any(const HeldMemory& held);
// As for processes that run at the same time: everything adds up.
void add_held(HeldMemory* sum, const HeldMemory& more);

// What NVML reports as used of a device, whenever it is asked: estimates, next to what was seen to be allocated.
struct DeviceUse {
  uint64_t samples = 0;
  uint64_t max_bytes = 0;          // the largest sample
  uint64_t seen_at_max_bytes = 0;  // live by the ledger at that time, plus what pools and graphs hold beyond it
  bool is_of_all = false;          // by every process on the device: NVML does not report this one's
  std::string
      missing;  // why there is no sample, or none of some of several processes; empty: not asked for, or all is well
};
inline constexpr const char* kNothingSaid = "NVML had said nothing by then";  // of DeviceUse::missing
inline bool has_any(const DeviceUse& use) { return use.samples != 0 || !use.missing.empty(); }
// In use, and not seen.
inline uint64_t unattributed_bytes(const DeviceUse& use) {
  return use.max_bytes > use.seen_at_max_bytes ? use.max_bytes - use.seen_at_max_bytes : 0;
}
// For two processes: what each had in use adds up; of what all processes had, the larger counts.
void add_use(DeviceUse* sum, const DeviceUse& more);

// A site that had memory of the device when the device refused an allocation.
struct LiveSite {
  uint32_t node = 0;  // the stack that allocated it: as in the device's sites
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
};

// Allocations of one stack that failed because memory ran out, with the state at the last of them.
struct Refusal {
  uint32_t node = 0;  // the stack that asked
  uint64_t count = 0;
  uint64_t by_limit_count = 0;  // of them by `heapprof run --limit`, not by the device
  uint64_t first_ns = 0;        // since the start
  uint64_t last_ns = 0;
  uint64_t size_bytes = 0;             // what it asked for
  std::optional<uint64_t> free_bytes;  // on the device, or within the limit; none: not known
  uint64_t live_bytes = 0;             // what the process held
  uint64_t live_blocks = 0;
  std::vector<LiveSite> live_sites;  // the largest, by live_bytes
};

inline constexpr size_t kMostLiveSites = 10;

// Merges those with the same stack, and puts the latest first.
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
  uint64_t bytes = 0;   // of them and of all that only they reach; what several reach counts with one of them
  uint64_t blocks = 0;
  std::vector<OwnerPart> parts;  // the largest first; of a cycle with many stacks some; empty: the sum of all others
};

// What points to memory that was still reachable at the end, by `run --leak-check`. Each kind has what no kind before
// it reaches.
enum class HolderKind : uint8_t {
  kVariable,     // of the program or a library
  kThreadLocal,  // storage of threads
  kMapped,       // pages that the program mapped itself
  kStack,        // stacks and registers of threads
  kOther         // memory of unknown use
};

// Blocks that are reachable from each of these variables and from no other; or from another kind of holder.
struct Holder {
  HolderKind kind = HolderKind::kVariable;
  bool is_shared = false;          // several variables
  std::vector<std::string> names;  // of the variables, if they are few; empty: too many, or data without names
  std::string module;              // path of their file; empty: several files, or not a variable
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  std::vector<OwnerPart> parts;  // the largest first, not all of them
};

// Its name in a sentence: "g_sessions", "stacks of threads".
std::string holder_words(const Holder& holder);

// Merges those with the same kind, names and file, and puts the largest first.
void merge_holders(std::vector<Holder>* all);

// Whether reports and diffs show a part of measured memory: 8 MiB and a quarter of it, or more.
inline bool is_large_part(uint64_t part_bytes, uint64_t whole_bytes) {
  return part_bytes >= 8 << 20 && part_bytes >= whole_bytes / 4;
}

// What stayed resident of the heap after most of it was freed, at the last measurement; in bytes.
// (cli/collect/fragmentation.h)
struct Fragmentation {
  uint64_t from_ns = 0;            // since the start: the heap was at half of its peak or below from then to the end
  uint64_t seen_ns = 0;            // since the start: time of the measurement; 0: none, or the heap was in use again
  uint64_t resident_bytes = 0;     // of the heap's pages
  uint64_t empty_bytes = 0;        // of pages without a block …
  uint64_t empty_pieces = 0;       // … which are so many separate pieces, with blocks between them
  uint64_t sparse_bytes = 0;       // free bytes of pages that are less than half in use
  std::vector<OwnerPart> pinning;  // blocks in these pages: how many, and their share; the largest first, not all

  bool has_any() const { return seen_ns != 0; }
  uint64_t unused_bytes() const { return empty_bytes + sparse_bytes; }
  bool is_worth_a_line() const { return is_large_part(unused_bytes(), resident_bytes); }
};

// Large blocks of one stack of which pages were never used.
struct UntouchedPart {
  uint32_t node = 0;             // the stack that allocated them
  uint64_t untouched_bytes = 0;  // whole pages
  uint64_t bytes = 0;            // of all its large blocks that were live then
  uint64_t blocks = 0;
};

// What the program had not used of large live blocks, at the moment when that was most. (cli/collect/untouched.h)
struct Untouched {
  uint64_t seen_ns = 0;  // since the start; 0: nearly all was used, or it was not measured
  uint64_t untouched_bytes = 0;
  uint64_t bytes = 0;                // of all large blocks
  std::vector<UntouchedPart> parts;  // the largest first, not all

  bool has_any() const { return seen_ns != 0; }
  bool is_worth_a_line() const { return is_large_part(untouched_bytes, bytes); }
};

// Merges parts with the same stack, and puts the largest first.
void settle_parts(std::vector<OwnerPart>* parts);
void settle_parts(std::vector<UntouchedPart>* parts);

// Merges those with the same stacks, and puts the largest first.
void merge_owners(std::vector<LostOwners>* all);

}  // namespace heapprof::cli
