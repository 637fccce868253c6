// cli/model/profile/device_facts.h: what is known of a device besides its memory: what it is, what it refused, and what
// owns memory of it that is lost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// By its name: pages that the program mapped itself, and of them those that no access is given to.
// Pages of files: clean ones cost nothing where memory is short.
inline bool is_file_device(const std::string& name) { return name == "mapped:file"; }
inline bool is_mapped_device(const std::string& name) { return name == "mapped" || name.rfind("mapped:", 0) == 0; }
inline bool is_reserved_device(const std::string& name) { return name == "mapped:reserved"; }
// What lies inside of other devices' memory, and is no new bytes: objects of Python, tensors in a CUDA device.
inline constexpr const char* kPythonDevice = "python";
inline bool is_inner_device(const std::string& name) { return name == kPythonDevice || name.ends_with("/tensors"); }

struct DeviceIdentity {
  std::string uuid;           // as nvidia-smi writes it, "GPU-…"; empty: unknown, as all below
  std::string pci_id;         // "0000:01:00.0"
  std::string product;        // "NVIDIA H200"
  uint64_t memory_bytes = 0;  // what the driver says it has
};

// What the driver says that it holds of a device for its pools and graphs, as often as the agent asked; all 0: nothing.
struct HeldMemory {
  uint64_t pools_bytes = 0;  // the last that it said
  uint64_t pools_peak_bytes = 0;
  uint64_t pools_used_bytes = 0;  // of those: in use, by the ledger; at the end
  uint64_t pools_used_peak_bytes = 0;
  uint64_t pools_idle_peak_bytes = 0;  // held beyond use, the most at any moment
  uint64_t graphs_bytes = 0;
  uint64_t graphs_peak_bytes = 0;
  uint64_t graphs_used_bytes = 0;
  uint64_t graphs_used_peak_bytes = 0;
  bool is_partial = false;  // there were more pools than were asked
};

bool has_any(const HeldMemory& held);
// As of processes at one time: everything adds up.
void add_held(HeldMemory* sum, const HeldMemory& more);

// What NVML says that is in use of a device, as often as it was asked: estimates, beside what was seen to be allocated.
struct DeviceUse {
  uint64_t samples = 0;
  uint64_t max_bytes = 0;          // the largest sample
  uint64_t seen_at_max_bytes = 0;  // live by the ledger at that time, and held beyond it for pools and graphs
  bool is_of_all = false;          // by every process on the device: NVML does not say this one's
  std::string
      missing;  // why there is no sample, or, of several processes, none of some; empty: nobody asked, or all is well
};
inline constexpr const char* kNothingSaid = "NVML had said nothing by then";  // of DeviceUse::missing
inline bool has_any(const DeviceUse& use) { return use.samples != 0 || !use.missing.empty(); }
// In use, and not seen.
inline uint64_t unattributed_bytes(const DeviceUse& use) {
  return use.max_bytes > use.seen_at_max_bytes ? use.max_bytes - use.seen_at_max_bytes : 0;
}
// Of two processes: what each had in use adds up; what all had is the larger.
void add_use(DeviceUse* sum, const DeviceUse& more);

// Who had memory of the device when it refused some.
struct LiveSite {
  uint32_t node = 0;  // the stack that allocated it: as in the sites beside
  uint64_t live_bytes = 0;
  uint64_t live_blocks = 0;
};

// Allocations of one stack that failed for want of memory. What the last of them saw is kept.
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

// Makes those of one stack one, and puts the latest first.
void merge_refusals(std::vector<Refusal>* refusals);

// Blocks of one stack among those that own what is lost.
struct OwnerPart {
  uint32_t node = 0;  // the stack that allocated them: as in the sites beside
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// Of what `run --leak-check` found to be lost: blocks of one stack that no pointer leads to; or cycles of blocks that
// point to each other, all of the same stacks, and that nothing else leads to.
struct LostOwners {
  bool is_cycle = false;
  uint64_t owners = 0;  // blocks, or cycles
  uint64_t bytes = 0;   // of them and of all that only they lead to; what several lead to counts with one of them
  uint64_t blocks = 0;
  std::vector<OwnerPart> parts;  // the largest first; of a cycle with many stacks some; empty: of all others
};

// What leads to memory that was still reachable at the end, by `run --leak-check`. Each kind has what none before it
// leads to.
enum class HolderKind : uint8_t {
  kVariable,     // of the program or a library
  kThreadLocal,  // storage of threads
  kMapped,       // pages that the program mapped itself
  kStack,        // stacks and registers of threads
  kOther         // memory of unknown use
};

// Blocks that these variables lead to, each of them and no other; or what another kind leads to.
struct Holder {
  HolderKind kind = HolderKind::kVariable;
  bool is_shared = false;          // several variables
  std::vector<std::string> names;  // of them, if they are few; empty: of too many, or of data without names
  std::string module;              // path of their file; empty: of several, or it is no variable
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  std::vector<OwnerPart> parts;  // the largest first, not all of them
};

// What a sentence calls it: "g_sessions", "stacks of threads".
std::string holder_words(const Holder& holder);

// Makes those of one kind, names and file one, and puts the largest first.
void merge_holders(std::vector<Holder>* all);

// What stayed resident of the heap when most of it was freed, as it was last seen; in bytes.
// (cli/collect/fragmentation.h)
struct Fragmentation {
  uint64_t from_ns = 0;            // since the start: the heap had fallen to half of its peak, to the end
  uint64_t seen_ns = 0;            // since the start: of when the rest is; 0: it was not looked at, or was in use again
  uint64_t resident_bytes = 0;     // of the heap's pages
  uint64_t empty_bytes = 0;        // of pages without a block …
  uint64_t empty_pieces = 0;       // … which are so many pieces, with blocks between them
  uint64_t sparse_bytes = 0;       // that no block has of pages that are less than half in use
  std::vector<OwnerPart> pinning;  // whose blocks lie in these: how many, and their share; the largest first, not all

  bool has_any() const { return seen_ns != 0; }
  uint64_t unused_bytes() const { return empty_bytes + sparse_bytes; }
};

// Large blocks of one stack of which pages were never used.
struct UntouchedPart {
  uint32_t node = 0;             // the stack that allocated them
  uint64_t untouched_bytes = 0;  // whole pages
  uint64_t bytes = 0;            // of all its large blocks that were live then
  uint64_t blocks = 0;
};

// What of large live blocks the program had not used at one moment, when that was most. (cli/collect/untouched.h)
struct Untouched {
  uint64_t seen_ns = 0;  // since the start; 0: nearly all was used, or it was not looked at
  uint64_t untouched_bytes = 0;
  uint64_t bytes = 0;                // of all large blocks
  std::vector<UntouchedPart> parts;  // the largest first, not all

  bool has_any() const { return seen_ns != 0; }
};

// Makes parts of the same stack one, and puts the largest first.
void settle_parts(std::vector<OwnerPart>* parts);
void settle_parts(std::vector<UntouchedPart>* parts);

// Makes those of the same stacks one, and puts the largest first.
void merge_owners(std::vector<LostOwners>* all);

}  // namespace heapprof::cli
