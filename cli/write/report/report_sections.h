// cli/write/report/report_sections.h: the parts of the text report and the summary, each in a separate file.
#pragma once

#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/places.h"
#include "cli/model/analysis/source_lines.h"
#include "cli/model/profile/profile.h"
#include "cli/write/report/report_view.h"
#include "cli/write/text/place_text.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct ScopesLook;

// ---- device_text.cc: the facts about each device of a report, in cells

// The devices' facts in columns; facts that do not fit continue on the lines below.
std::string device_lines(const Profile& profile, const PlaceTree& tree, const std::vector<const Device*>& devices,
                         bool exact_bytes, size_t columns);

// The same without the further facts (drivers, identity, resident memory).
std::string device_facts(const Profile& profile, const std::vector<const Device*>& devices, bool exact_bytes,
                         size_t columns);

// The largest resident set of the process, and its known parts; with a line end. Empty: not sampled.
std::string resident_lines(const DeviceTotals& totals, size_t columns);

// ---- names_text.cc: the memory that the program named, and what it allocated while recording was paused, in words

// Pieces of text that may be broken onto new lines; empty if the program named nothing.
std::vector<std::string> name_cells(const Profile& profile, const Device& device, bool exact_bytes);

// What the program allocated while it had paused recording; no other number includes it. For the host only; empty if
// there was nothing.
std::vector<std::string> left_out_cells(const Profile& profile, const Device& device, bool exact_bytes);

// ---- inside_text.cc: the part of the host's and the mapped memory that other allocators manage: tensors of the CPU,
// and arenas of Python's small objects

// Lines for those of the devices that have such memory; empty: nothing to report.
std::string inside_text(const Profile& profile, const std::vector<const Device*>& devices, bool exact_bytes,
                        size_t columns);

// ---- segments_text.cc: reserved against allocated: what PyTorch's allocator took from a CUDA device, the tensors'
// part of it, and the largest tensor that would still fit

// Each line comes in pieces, and may be broken between them. Empty: the device has no tensors.
std::vector<std::vector<std::string>> segments_lines(const Device& device, const Profile& profile, bool exact_bytes);

// ---- held_text.cc: what the driver says about a device's memory, in words: held for pools and graphs, and in use
//
// Each line comes in pieces that may be broken onto new lines.

// A line for pools and one for graphs, if they hold memory.
std::vector<std::vector<std::string>> held_lines(const HeldMemory& held, bool exact_bytes);
// The memory in use by NVML's count, and its known part; or why the count is unknown. Empty: it was not requested.
std::vector<std::string> use_line(const DeviceUse& use, const UnseenMemory& unseen, bool exact_bytes);

// ---- packages_text.cc: whose code asked for the memory, in words: a line below a device, and the table of --packages

struct PackagesLook {
  size_t top = 10;
  bool exact_bytes = false;
  size_t columns = 80;
  Metric metric = Metric::kPeak;
};

// "by package: numpy 63 %," "pandas 20 %," "(your code) 10 %": those with a hundredth of the peak, five at most. Empty
// for mapped memory, of which any code takes pieces, and if there is only one package.
std::vector<std::string> package_cells(const Profile& profile, const PlaceTree& tree, const Device& device);
// The same in lines of at most `columns`.
std::string package_lines(const Profile& profile, const PlaceTree& tree, const Device& device, size_t columns);

// A line each: peak and its share, live at exit, allocations and their bytes. Empty if there is only one package.
std::string packages_table(const Profile& profile, const PlaceTree& tree, const Device& device,
                           const PackagesLook& look);

// ---- processes_text.cc: the other processes of the run, from the profile of the program that was started, and the
// paths of their profiles
//
// Guarantees
//  - No line is wider than `columns`, except for numbers and calls that can be pasted.
//  - Both functions return an empty text if the profile has no other processes.

// The largest other process, if it had more memory than this one: probably the process that the reader looks for.
std::string larger_process_line(const Profile& profile, const ReportView& view, size_t columns);

// Two lines for each of the largest processes; the rest are counted.
std::string processes_text(const Profile& profile, const ReportView& view, size_t columns);

// ---- ranks_text.cc: a merged profile's ranks: how much each had and where, and how a place differs among them
//
// Guarantees
//  - If `columns` is 80 or more, no line is wider. Below 80, rows have the narrowest width that holds them.
//  - All functions return an empty text if the profile has no ranks.

struct RanksLook {
  size_t rows = 10;
  bool exact_bytes = false;
  size_t columns = 80;
};

struct RankRows {
  std::string rows;
  std::string remark;  // "64 ranks of Slurm on 4 hosts, top 10 of 128"
};
// A line for each rank and device, the largest peak first: rank, host, card, device, peak, and its largest place.
RankRows rank_rows(const Profile& profile, const RanksLook& look);

// How the merged processes ended: "all exit 0    "; empty if unknown.
std::string ends_text(const Profile& profile);

// How the bytes at the peak of a place's largest site differ among the processes that have it: "in 62 of 64 ranks, 1.20
// MiB to 3.40 MiB, average 2.00 MiB, most in rank 17".
std::string spread_text(const Profile& profile, const Device& device, const Place& place, bool exact_bytes);

// Among the place's sites with a known spread, the one with the most at the peak; nullopt: no such site.
std::optional<uint32_t> largest_spread_site(const Device& device, const Place& place);
// The profile's first entry for the input. pre: it has one
const MergedPart& part_of_input(const Profile& profile, uint32_t input);

// ---- threads_text.cc: what each thread of the program allocated on the heap

struct ThreadsLook {
  size_t top = 0;  // how many threads
  bool exact_bytes = false;
  size_t columns = 80;
};

// The largest threads, each with its bytes, their share, what it allocated and freed, its name and number; the rest is
// in one line. Empty if the profile has no threads.
std::string threads_text(const Profile& profile, const ThreadsLook& look);

// Number of threads, including those for which the profile has only a sum.
uint64_t count_threads(const RunInfo& run);

// ---- api_text.cc: the host's cost of GPU API calls, by kind and place, on all devices
//
//   GPU CALLS   1.20 s of the host's time in 41,204 calls; 812,004 kernels launched
//   812 ms  66.2 %  4,118 × allocate  1.20 GiB  upload  src/gpu.cu:140  ← main

// Empty without such calls.
std::string api_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, size_t columns);

// ---- call_tree_text.cc: the call tree as lines of text, from the outermost frames inwards, cut at 1 %
//
// Guarantees
//  - A function's number is the sum of the lines of its callees, the line for cut callees, and what the function
//    allocates itself.
//  - At most kMostTreeLines lines; direct recursion is one line.

inline constexpr size_t kMostTreeLines = 2000;

std::string render_call_tree(const Profile& profile, const PlaceTree& place_tree, const FrameNames& names,
                             const Device& device, const ReportView& view, Metric metric, size_t columns);

// A value of the metric in the view's format: "1.92 GiB", "18.4 M".
std::string metric_text(const ReportView& view, Metric metric, uint64_t value);

// ---- sizes_text.cc: the sizes of a place's blocks, as bars

struct SizesLook {
  bool exact_bytes = false;
  bool has_coarse_sizes = false;  // of the profile
  size_t indent = 0;
  size_t columns = 80;
};

// The number of blocks and their sizes. Below, unless all blocks have one size, a bar for each power of two that has
// blocks, in the order of sizes. If there are many bars, the least frequent sizes share one.
std::vector<std::string> sizes_lines(const PlaceNumbers& numbers, const SizesLook& look);

// ---- source_text.cc: source with a metric beside its lines (--source)

struct AnnotatedSource {
  SourceLines lines;    // not empty
  std::string text;     // of the file; empty: it cannot be read, and functions are shown instead of its lines
  std::string remarks;  // about the file, a line each; may be empty
};
struct SourceLook {
  Metric metric = Metric::kPeak;
  bool exact_bytes = false;
  bool colored = false;
  size_t columns = 0;  // 0: no terminal
};
// The lines with numbers (what each asked for itself, and including its callees), and three lines around each.
std::string source_text(const Profile& profile, const FrameNames& names, const Device& device,
                        const AnnotatedSource& source, const SourceLook& look);

// ---- leak_text.cc: what `run --leak-check` found, for the summary and the report
//
// Guarantees
//  - Bytes that only lost blocks point to (indirectly lost) count as lost: freeing the lost blocks properly frees
//    these, too.
//  - If nothing was judged, the reason is shown; without a leak check, nothing is shown.

struct LeakView {
  size_t columns = 80;
  bool exact_bytes = false;
  size_t most_places = 5;
  size_t indent = 0;       // of the places
  bool has_small = false;  // also holders of less than 1 %
};

// "lost       19.6 MiB in 10,000 blocks; still reachable 71.0 KiB in 1", with a line end, and the place that lost most.
//             Empty: no leak check.
std::string leak_lines(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const LeakView& view);

// A row for each place that lost something, the largest first, and a remark on the selection: "top 5 of 7 places".
// Without rows: no place lost any. If the profile knows the owners of lost memory, a row is a place of owners, with
// everything that is reachable through them only: "top 5 of 7 owners". For a cycle it names the other places in it,
// "with Node::attach (scene.cc:21)".
struct LostPlaces {
  std::string rows;
  std::string remark;
};
LostPlaces lost_places(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       const LeakView& view);

// The same for holders of memory that is still reachable: "top 5 of 7 holders"; a row is a variable, with the place
// that allocated most of what it holds. Without rows: no holder has 1 % of the reachable memory (with has_small: any).
LostPlaces held_places(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       const LeakView& view);

// ---- refusal_text.cc: what a device refused, and which places held its memory at that moment
//
//   cuda:0 ran out of memory at 12.301 s: 2.00 GiB asked for, 1.20 GiB free; the program held 21.3 GiB
//     asked for  2.00 GiB            upload           src/gpu.cu:140  ← main
//     held by    15.1 GiB  70.9 %    load_weights     src/model.cu:20 ← main

struct RefusalView {
  size_t most_refusals;    // places with refused requests, the latest first; if a limit refused, the earliest first
  size_t most_live_sites;  // for each refusal
  size_t columns;
  bool exact_bytes = false;
};

// Empty if nothing was refused.
std::string refusal_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                         const RefusalView& view);

// ---- unseen_text.cc: memory of devices that was counted only at the CUDA runtime, and estimates for contexts and
// modules
//
//   counted at the CUDA runtime, which made no call of the driver that was seen:
//     cuda:0 2.00 MiB in 12 allocations
//   not in these numbers, estimated from what was free before and after:
//     cuda:0  context  ≤ 512 MiB  1 ×  make_context  src/gpu.cc:20 ← main

// Empty if there are no such numbers.
std::string unseen_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names,
                        const std::vector<const Device*>& devices, bool exact_bytes, size_t columns);

// ---- suppressions_text.cc: what each rule suppressed, in words (--list-suppressions)

struct SuppressedRules {
  std::string remark;  // "11 of 45 rules used"
  std::string rows;    // the largest first; built-in rules only if they matched
};
SuppressedRules suppressed_rules(const ReportView& view, const Device& device, size_t columns, bool colored);

// ---- tensors_text.cc: the roles of a snapshot's tensors, and the ten largest

struct TensorsLook {
  size_t columns = 80;
  bool exact_bytes = false;
  std::string device;  // empty: all
};

// A section for each device; empty: the snapshot has no tensors there.
std::string tensors_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, uint32_t snapshot,
                         const TensorsLook& look);
// The tensors of the last snapshot that has any.
std::string last_tensors_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names,
                              const TensorsLook& look);

// ---- operators_text.cc: the table of PyTorch's operators after that of scopes

// Empty: the profile has no operators.
std::string operators_text(const Profile& profile, const ScopesLook& look);

}  // namespace heapprof::cli
