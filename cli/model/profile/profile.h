// cli/model/profile/profile.h: a profile, the form that is written, read, shown and compared: numbers by named stack.
//
// Made by cli/model/profile/assemble.h from a recording, or by cli/read from a file (ours, Valgrind's or dhat-rs').
#pragma once

#include "cli/model/profile/merged_part.h"
#include "cli/model/profile/recording.h"
#include "cli/model/profile/run.h"
#include "cli/model/profile/scopes.h"
#include "cli/model/profile/site_spread.h"
#include "cli/model/profile/snapshots.h"
#include "cli/model/profile/stays.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// A frame is identified by its text: frames with the same text are one frame.
struct Frame {
  uint64_t svma = 0;     // inside the call (return address − 1), as in the ELF file; 0 if unknown
  std::string function;  // empty: unknown
  std::string file;      // empty: unknown
  uint32_t line = 0;
  uint32_t module = kNoModule;  // index into Profile::modules
  bool inlined = false;
  bool inferred = false;  // was not in the stack, but inferred from the frames around it (inferred_calls.h)
};

// The tree of named stacks: node 0 is the root, every other node's parent has a smaller index; outermost frames are
// children of the root.
struct FrameNode {
  uint32_t parent = 0;
  uint32_t frame = 0;
};

struct SizedNumbers : SiteNumbers {
  SizeHistogram sizes;  // blocks ever, by size
};

struct Site {
  uint32_t node = 0;  // FrameNode of the innermost frame; 0: [no stack]
  SizedNumbers numbers;
#define SITE_FLAG(member) bool member = false;
#include "cli/model/profile/site_numbers.def"
#undef SITE_FLAG
  uint64_t grouped_stacks = 0;       // > 0: this row is the sum of so many small sites that share these frames
  std::vector<uint64_t> live_bytes;  // at the device's moments; empty: less than 4 KiB at each of them
  std::vector<SiteStep> steps;       // amounts at the snapshots
  std::vector<Stay> stays;           // by begin, then end
  std::vector<SiteSpread> spread;    // in a sum of profiles one element; empty: unknown
  uint32_t suppressed_by =
      0;  // > 0: number, from 1, of the rule that suppresses its leaks (suppressions.h); never in a file
};

struct Device {
  std::string name;
  DeviceTotals totals;
  std::vector<Site> sites;  // in the deterministic order of man/heapprof-format.5
  Timeline timeline;
  DeviceIdentity identity;
  HeldMemory held;
  DeviceUse use;
  uint64_t limit_bytes = 0;             // of `heapprof run --limit`; 0: none
  std::vector<Refusal> refusals;        // nodes: FrameNode; the latest first
  std::vector<LostOwners> lost_owners;  // nodes: FrameNode; the largest first; only of the host; may be empty
  std::vector<Holder> held_by;          // nodes: FrameNode; only of the host; empty: nothing known to be reachable
  Fragmentation fragmentation;          // nodes: FrameNode; only of the host, and of a single run
  Untouched untouched;                  // the same
  UnseenMemory unseen;                  // nodes: FrameNode
  SegmentsUse segments;                 // of tensors in a CUDA device
  std::vector<NamedMemory> names;       // nodes: FrameNode; the largest maximum first
  std::vector<uint64_t> moments_ns;     // times of the numbers in Site::live_bytes; empty: unknown
  std::vector<uint64_t> bounds_ns;      // for Site::stays: from 0, ascending, to the end of the run; empty: unknown
};

struct ProfileModule {
  std::string path;
  std::string build_id;
};

// Whether a function is a wrapper around the allocator, whose allocations are attributed to its callers
// (cli/model/analysis/folding.h).
enum class FrameFold : uint8_t {
  kNot,
  kKnown,       // by name
  kAsked,       // by a rule of the user
  kRecognised,  // by its observed behaviour
  kUndone       // it is a wrapper, but is shown as a function of the program: folding is switched off
};

// Whose code a frame is, by a rule of the user.
enum class CodeOwner : uint8_t { kUnsaid, kUser, kLibrary };

enum class Dialect { kHeapprof, kValgrind, kDhatRs };

struct Profile {
  Dialect dialect = Dialect::kHeapprof;
  bool has_lifetimes = true;      // DHAT "bklt"
  std::string time_unit = "ns";   // unit of numbers named _ns: Valgrind counts instructions ("instrs")
  bool has_coarse_sizes = false;  // blocks are counted by powers of four: a file of an older version
  RunInfo run;
  std::vector<ProfileModule> modules;
  std::vector<Frame> frames;
  std::vector<FrameFold> folds;        // by frame; empty: mark_folded() was not called. Never in a file
  std::vector<CodeOwner> code_owners;  // by frame; empty: there are no such rules (mark_folded()). Never in a file
  bool shows_libraries = false;        // places may be library frames (mark_folded()). Never in a file
  std::vector<FrameNode> nodes;
  std::vector<Device> devices;  // [0] is host
  DeviceApi api;                // nodes: FrameNode
  Scopes scopes;
  Snapshots snapshots;             // nodes: FrameNode
  DeviceTrace trace;               // nodes: FrameNode; empty in a sum of profiles
  bool is_moment = false;          // made from one snapshot of a profile (keep_moment()). Never in a file
  std::vector<MergedPart> merged;  // the inputs, if this is a sum of profiles; their peaks are at different moments
};

// Calls visit(uint32_t& node) for every reference to a stack except those of sites, in a profile or a recording.
template <typename AnyProfile, typename Visit>
void for_each_other_node(AnyProfile& profile, const Visit& visit) {
  for (auto& device : profile.devices) {
    for (auto& refusal : device.refusals) {
      visit(refusal.node);
      for (auto& live_site : refusal.live_sites) visit(live_site.node);
    }
    for (auto& owners : device.lost_owners) {
      for (auto& part : owners.parts) visit(part.node);
    }
    for (auto& holder : device.held_by) {
      for (auto& part : holder.parts) visit(part.node);
    }
    for (auto& part : device.fragmentation.pinning) visit(part.node);
    for (auto& part : device.untouched.parts) visit(part.node);
    for (auto& estimate : device.unseen.estimates) visit(estimate.node);
    for (auto& named : device.names) {
      for (auto& site : named.sites) visit(site.node);
    }
  }
  for (auto& call : profile.api.calls) visit(call.node);
  for (auto& snapshot : profile.snapshots.snapshots) {
    for (auto& device : snapshot.devices) {
      for (auto& block : device.largest) visit(block.node);
    }
    for (auto& tensors : snapshot.tensors) {
      for (auto& site : tensors.sites) visit(site.node);
      for (auto& tensor : tensors.largest) visit(tensor.node);
    }
  }
  for (auto& memory : profile.trace.memory) visit(memory.node);
}

}  // namespace heapprof::cli
