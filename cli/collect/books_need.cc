// cli/collect/books_need.cc: see collector_parts.h.
#include "cli/collect/collector_parts.h"
#include "cli/collect/recorded_parts.h"

#include <algorithm>

namespace heapprof::cli {

namespace {

// The bytes that are needed from the recording to the written profile: measured with a million sites of four million
// nodes, plus a quarter.
constexpr uint64_t kFinishBytes = 8 << 20;
constexpr uint64_t kFinishSiteBytes = 640;
constexpr uint64_t kFinishNodeBytes = 80;
constexpr uint64_t kFinishLocationBytes = 1500;  // its names, twice
constexpr uint64_t kFinishStayBytes = kRecordedStaysOfSite * (sizeof(RecordedStay) + 2 * sizeof(Stay));  // likewise
constexpr uint64_t kFinishStepBytes = sizeof(RecordedStep) + 2 * sizeof(SiteStep);  // recorded, of a site, of a sum
// An event or block of the trace takes memory in the recording, in the profile, and in the tables that number the
// memory that it is about.
constexpr uint64_t kFinishTraceBytes = 320;
constexpr uint64_t kFinishScopes = 3;  // their books again as recorded, when sorted, and in the profile

}  // namespace

MemoryNeed books_need(const BooksKept& books) {
  const Ledger& ledger = *books.ledger;
  const uint64_t sites = books.tree->site_count();
  const uint64_t nodes = books.tree->nodes().size();
  const uint64_t locations = books.modules == nullptr ? 0 : books.modules->locations().size();
  const uint64_t stays_bytes = ledger.bounds().bounds().empty() ? 0 : sites * kFinishStayBytes;
  const uint64_t scopes_bytes = ledger.scopes().bytes() + ledger.launches().bytes() + ledger.gpu_times().bytes();
  const TraceBook& trace = ledger.devices().trace();
  const uint64_t traced = trace.size() + std::min<uint64_t>(trace.size() + trace.older(), kMostTraceBlocks);
  MemoryNeed need;
  need.freeable_bytes = books.questions->bytes() + ledger.host_sites().phase_bytes() + books.samples->bytes() +
                        ledger.snapshots().bytes() + scopes_bytes + ledger.block_bytes() + ledger.devices_bytes() +
                        books.tree->slot_bytes() + nodes * sizeof(StackNode) +
                        sites * (sizeof(SiteKey) + sizeof(SiteEntry)) + locations * sizeof(Location);
  need.finish_bytes = kFinishBytes + sites * kFinishSiteBytes + nodes * kFinishNodeBytes +
                      locations * kFinishLocationBytes + kFinishScopes * scopes_bytes + ledger.snapshots().bytes() +
                      kFinishStepBytes * ledger.snapshots().steps() + kFinishTraceBytes * traced + stays_bytes;
  return need;
}

}  // namespace heapprof::cli
