// cli/write/report/report_sections.h: the parts of which the text report and the summary are made, each in a file of
// its own.
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

// ---- device_text.cc: what is known of each device of a report, in cells

// Their facts in columns; what does not fit goes on below.
std::string device_lines(const Profile& profile, const PlaceTree& tree, const std::vector<const Device*>& devices,
                         bool exact_bytes, size_t columns);

// The same without what else is known of a device: drivers, identity, what was resident.
std::string device_facts(const Profile& profile, const std::vector<const Device*>& devices, bool exact_bytes,
                         size_t columns);

// What the process had resident at most, and what of that is known; with its end of line. Empty: not sampled.
std::string resident_lines(const DeviceTotals& totals, size_t columns);

// ---- names_text.cc: what the program named of a device's memory, and what it left out, in words

// In pieces that may go on a line of their own; none where the program named nothing.
std::vector<std::string> name_cells(const Profile& profile, const Device& device, bool exact_bytes);

// What the program allocated in pauses, and is in no other number; of the host alone, none where there was nothing.
std::vector<std::string> left_out_cells(const Profile& profile, const Device& device, bool exact_bytes);

// ---- inside_text.cc: what of the host's and the mapped memory other allocators have: tensors of the CPU, and arenas
// of Python's small objects

// Lines about those of the devices that have any; empty: there is nothing to say.
std::string inside_text(const Profile& profile, const std::vector<const Device*>& devices, bool exact_bytes,
                        size_t columns);

// ---- segments_text.cc: reserved against allocated: what PyTorch's allocator took from a CUDA device, what tensors
// have of it, and how large a tensor would still fit

// Pieces of lines, each line to be broken between them; empty: the device has no tensors.
std::vector<std::vector<std::string>> segments_lines(const Device& device, const Profile& profile, bool exact_bytes);

// ---- held_text.cc: what the driver says of a device's memory, in words: held for pools and graphs, and in use
//
// Each line comes in pieces that may go on a line of their own.

// One for pools and one for graphs; none where there is nothing.
std::vector<std::vector<std::string>> held_lines(const HeldMemory& held, bool exact_bytes);
// What is in use by NVML's count, and what of it is known; or why it is not known. Empty: it was not asked for.
std::vector<std::string> use_line(const DeviceUse& use, const UnseenMemory& unseen, bool exact_bytes);

// ---- packages_text.cc: whose code asked for the memory, in words: a line below a device, and the table of --packages

struct PackagesLook {
  size_t top = 10;
  bool exact_bytes = false;
  size_t columns = 80;
  Metric metric = Metric::kPeak;
};

// "by package: numpy 63 %," "pandas 20 %," "(your code) 10 %": what has a hundredth of the peak, five at most. Empty
// of mapped memory (whose pieces anybody takes), and where there is nothing but one package.
std::vector<std::string> package_cells(const Profile& profile, const PlaceTree& tree, const Device& device);
// The same in lines of so many columns.
std::string package_lines(const Profile& profile, const PlaceTree& tree, const Device& device, size_t columns);

// A line each: peak and its share, live at exit, allocations and their bytes. Empty if all is of one.
std::string packages_table(const Profile& profile, const PlaceTree& tree, const Device& device,
                           const PackagesLook& look);

// ---- processes_text.cc: the other processes of the run, as the profile of the program that was started has them, and
// where their profiles are
//
// Guarantees
//  - No line is wider than `columns`, but for numbers and for calls that can be pasted.
//  - Both are empty if the profile knows of no others.

// The largest of the others, if it had more memory than this one: it is what the reader looks for.
std::string larger_process_line(const Profile& profile, const ReportView& view, size_t columns);

// A line or two for each of the largest, the rest counted.
std::string processes_text(const Profile& profile, const ReportView& view, size_t columns);

// ---- ranks_text.cc: a merged profile's ranks: who had how much where, and how a place differs among them
//
// Guarantees
//  - No line is wider than `columns`, from 80 on; in narrower ones rows are as in the narrowest that hold them.
//  - All are empty where the profile has no ranks.

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

// How the merged processes ended: "all exit 0    "; empty where that is not known.
std::string ends_text(const Profile& profile);

// How the bytes at the peak of a place's largest site differ among the processes that have it: "in 62 of 64 ranks, 1.20
// MiB to 3.40 MiB, average 2.00 MiB, most in rank 17".
std::string spread_text(const Profile& profile, const Device& device, const Place& place, bool exact_bytes);

// The place's site with the most at the peak whose spread is known; none: no such site.
std::optional<uint32_t> largest_spread_site(const Device& device, const Place& place);
// The input's first entry. pre: the profile has it
const MergedPart& part_of_input(const Profile& profile, uint32_t input);

// ---- threads_text.cc: what each thread of the program allocated on the heap

struct ThreadsLook {
  size_t top = 0;  // how many threads
  bool exact_bytes = false;
  size_t columns = 80;
};

// The largest threads, each with its bytes, their share, what it allocated and freed, its name and number, and the rest
// in one line. Empty if the profile has no threads.
std::string threads_text(const Profile& profile, const ThreadsLook& look);

// Threads of the profile, with those that it only sums.
uint64_t count_threads(const RunInfo& run);

// ---- api_text.cc: what the calls of the GPU's API cost the host, by kind and place, on all devices
//
//   GPU CALLS   1.20 s of the host's time in 41,204 calls; 812,004 kernels launched
//   812 ms  66.2 %  4,118 × allocate  1.20 GiB  upload  src/gpu.cu:140  ← main

// Empty if there were none.
std::string api_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, size_t columns);

// ---- call_tree_text.cc: the call tree as lines of text, from the outermost frames inwards, cut at 1 %
//
// Guarantees
//  - The lines of one level, with the line for what was cut, and what the function above allocates itself, sum to that
//    function.
//  - At most kMostTreeLines lines; direct recursion is one line.

inline constexpr size_t kMostTreeLines = 2000;

std::string render_call_tree(const Profile& profile, const PlaceTree& place_tree, const FrameNames& names,
                             const Device& device, const ReportView& view, Metric metric, size_t columns);

// A value of the metric as the view wants it: "1.92 GiB", "18.4 M".
std::string metric_text(const ReportView& view, Metric metric, uint64_t value);

// ---- sizes_text.cc: of what sizes a place's blocks were, as bars

struct SizesLook {
  bool exact_bytes = false;
  bool has_coarse_sizes = false;  // of the profile
  size_t indent = 0;
  size_t columns = 80;
};

// How many blocks of what sizes, and below it, unless all are of one size, a bar for each power of two that has some:
// by size, and where there are many, the least frequent ones in one line.
std::vector<std::string> sizes_lines(const PlaceNumbers& numbers, const SizesLook& look);

// ---- source_text.cc: source with a metric beside its lines (--source)

struct AnnotatedSource {
  SourceLines lines;    // some
  std::string text;     // of the file; empty: it cannot be read, and functions stand in its lines' places
  std::string remarks;  // about the file, a line each; may be empty
};
struct SourceLook {
  Metric metric = Metric::kPeak;
  bool exact_bytes = false;
  bool colored = false;
  size_t columns = 0;  // 0: no terminal's
};
// The lines with numbers, what each asked for itself and with what it called, and three around each.
std::string source_text(const Profile& profile, const FrameNames& names, const Device& device,
                        const AnnotatedSource& source, const SourceLook& look);

// ---- leak_text.cc: what `run --leak-check` found, for the summary and the report
//
// Guarantees
//  - Bytes that are lost by way of others that are lost count as lost: who frees the others well frees these, too.
//  - Why nothing was judged is said; nothing where no check was asked for.

struct LeakView {
  size_t columns = 80;
  bool exact_bytes = false;
  size_t most_places = 5;
  size_t indent = 0;       // of the places
  bool has_small = false;  // holders of less than 1 %, too
};

// "lost       19.6 MiB in 10,000 blocks; still reachable 71.0 KiB in 1", with its end of line, and the place that lost
// most. Empty: it was not asked for.
std::string leak_lines(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const LeakView& view);

// A row for each place that lost something, the largest first, and which of them these are: "top 5 of 7 places".
// Without rows: none did. Where the profile says what owns what is lost, a row is a place of owners, with all that only
// they lead to: "top 5 of 7 owners"; of a cycle it has what else is in it, "with Node::attach (scene.cc:21)".
struct LostPlaces {
  std::string rows;
  std::string remark;
};
LostPlaces lost_places(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       const LeakView& view);

// The same of what leads to memory that is still reachable: "top 5 of 7 holders"; a row is a variable, with the place
// that allocated most of what it holds. Without rows: that is little.
LostPlaces held_places(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                       const LeakView& view);

// ---- refusal_text.cc: what a device refused, and who held its memory at that moment
//
//   cuda:0 ran out of memory at 12.301 s: 2.00 GiB asked for, 1.20 GiB free; the program held 21.3 GiB
//     asked for  2.00 GiB            upload           src/gpu.cu:140  ← main
//     held by    15.1 GiB  70.9 %    load_weights     src/model.cu:20 ← main

struct RefusalView {
  size_t most_refusals;    // places that asked, the latest first
  size_t most_live_sites;  // of each
  size_t columns;
  bool exact_bytes = false;
};

// Empty if nothing was refused.
std::string refusal_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, const Device& device,
                         const RefusalView& view);

// ---- unseen_text.cc: of devices: what was counted at the runtime alone, and estimates of what contexts and modules
// take
//
//   counted at the CUDA runtime, which made no call of the driver that was seen:
//     cuda:0 2.00 MiB in 12 allocations
//   not in these numbers, estimated from what was free before and after:
//     cuda:0  context  ≤ 512 MiB  1 ×  make_context  src/gpu.cc:20 ← main

// Empty if there are no such numbers.
std::string unseen_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names,
                        const std::vector<const Device*>& devices, bool exact_bytes, size_t columns);

// ---- suppressions_text.cc: what each rule took, in words (--list-suppressions)

struct SuppressedRules {
  std::string remark;  // "11 of 45 rules used"
  std::string rows;    // the largest first; of the built-in rules those that took some
};
SuppressedRules suppressed_rules(const ReportView& view, const Device& device, size_t columns, bool colored);

// ---- tensors_text.cc: what the tensors of a snapshot are to the program, and the ten largest

struct TensorsLook {
  size_t columns = 80;
  bool exact_bytes = false;
  std::string device;  // empty: all
};

// A section for each device; empty: the snapshot has none there.
std::string tensors_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, uint32_t snapshot,
                         const TensorsLook& look);
// Those of the last snapshot that has any.
std::string last_tensors_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names,
                              const TensorsLook& look);

// ---- operators_text.cc: the table of PyTorch's operators behind that of scopes

// Empty: the profile has no operators.
std::string operators_text(const Profile& profile, const ScopesLook& look);

}  // namespace heapprof::cli
