// cli/collect/recorded_parts.h: what each of the books adds to the recording, one source file each.
//
// Trust:  names and code objects are the target's, which may change at any moment: each is copied, then checked.
#pragma once

#include "cli/collect/arena.h"
#include "cli/collect/books/ledger.h"
#include "cli/collect/books/name_book.h"
#include "cli/collect/books/site_book.h"
#include "cli/collect/books/stay_book.h"
#include "cli/collect/clock.h"
#include "cli/collect/leak_watch.h"
#include "cli/collect/leaks/leak_marks.h"
#include "cli/collect/leaks/root_holders.h"
#include "cli/collect/recording_builder.h"
#include "cli/collect/rings/call_tree.h"
#include "cli/model/profile/device_trace.h"
#include "cli/model/profile/named_memory.h"
#include "cli/model/profile/python_code.h"
#include "cli/model/profile/recording.h"
#include "shared/scopes.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapprof::cli {

// ---- recorded_codes.cc: the Python code objects in the stacks, for the recording

PythonCodes recorded_codes(Arena* arena, const std::vector<Location>& locations);

// ---- recorded_names.cc: the books of named memory with the names' texts, for the recording

// If several threads create the same name at the same time, it gets several numbers. But the name has one maximum of
// live bytes, so the books use the first of its numbers.
class SameNames {
 public:
  // names: wire::kMaxNames of them
  uint32_t first_of(uint32_t number, const wire::Name* names);

 private:
  std::unordered_map<uint32_t, uint32_t> first_of_;
  std::map<std::pair<std::string, std::string>, uint32_t> by_text_;
};

// Puts a name of the collector into the program's table, like the program's own, and returns its number. 0: there is no
// room.
uint32_t take_name(std::string_view text, wire::Name* names);

std::vector<NamedMemory> recorded_names(const NameBook& book, const CallTree& tree, const wire::Name* names);

// ---- recorded_owners.cc: the owners of lost memory, and the holders of reachable memory, by stack

// Fills host->lost_owners. If blocks that were judged lost were freed after all, the owners may have more than the
// sites: then no owner is recorded. pre: the host's sites have their lost bytes and blocks
void add_owners(const std::vector<LostOwner>& owners, const CallTree& tree, RecordedDevice* host);
// Fills host->held_by in the same way; if memory runs out, it stays empty.
void add_holders(const LeakWatch& leaks, const CallTree& tree, RecordedDevice* host);

// ---- recorded_snapshots.cc: the books of snapshots for the recording: with names and times, and what each site had at
// each snapshot

// pre: the ledger's snapshots are on
Snapshots recorded_snapshots(const RecordingParts& parts);
// For when there is no memory for the snapshots: states only how many there were.
Snapshots lost_snapshots(const RecordingParts& parts);
// Adds what the sites had at each snapshot. pre: the devices' sites were recorded in the order of their numbers,
// without those that never had a block, and the devices in the order of the ledger's books
void add_site_steps(const RecordingParts& parts, std::vector<RecordedDevice>* devices);

// ---- recorded_stays.cc: the stays (lifetimes by time bucket) of a device's sites, for its recording
// (cli/model/profile/stays.h)

// The limit for one device is kStaysOfDevice stays plus kRecordedStaysOfSite for each site, at about 14 bytes each.
// They make a profile of more than a few sites less than one and a half times as large, and a small profile still has
// room for some marks.
inline constexpr size_t kStaysOfDevice = 1024;
inline constexpr size_t kRecordedStaysOfSite = 8;

// Fills bounds_ns and stays. If there would be too many, bounds are given up, those of the program's marks last.
// pre: the ledger is finished; device->sites are those of `sites` that ever had a block, in their order
void add_stays(const StayBook& book, const StayBounds& bounds, const SiteBook& sites, const TickScale& scale,
               uint64_t end_ticks, RecordedDevice* device);

// ---- recorded_trace.cc: the trace of device memory, and what is live there, with names and times, for the recording

struct TraceParts {
  const Ledger* ledger;  // finished
  const CallTree* tree;
  const wire::Name* names;  // wire::kMaxNames of them
  const TickScale* scale;
};
DeviceTrace recorded_trace(const TraceParts& parts);
// For when there is no memory for the trace: states only the counts.
DeviceTrace lost_trace(const Ledger& ledger);

}  // namespace heapprof::cli
