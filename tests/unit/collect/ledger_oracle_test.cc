// tests/unit/collect/ledger_oracle_test.cc: random stories on several threads, in order and stamped the wrong way
// round, against reference books that share no code.
#include "cli/collect/books/ledger.h"
#include "tests/support/heap_story.h"

#include <catch2/catch.hpp>

namespace heapprof::cli {
namespace {

using test::HeapStory;
using test::StoryEvent;
using test::StoryKind;
using test::StoryOptions;

EventKind kind_of(StoryKind kind) {
  switch (kind) {
    case StoryKind::kMalloc: return EventKind::kMalloc;
    case StoryKind::kFree: return EventKind::kFree;
    case StoryKind::kReallocBegin: return EventKind::kReallocBegin;
    case StoryKind::kReallocEnd: return EventKind::kReallocEnd;
    case StoryKind::kReallocCancel: return EventKind::kReallocCancel;
    case StoryKind::kReallocFree: return EventKind::kReallocFree;
  }
  return EventKind::kMalloc;
}

// Slot n + 1 is story thread n, site n + 1 story site n.
void play(const std::vector<StoryEvent>& events, uint32_t threads, uint32_t sites, uint64_t end_stamp,
          ThreadTable* table, Ledger* ledger) {
  for (uint32_t i = 0; i < threads; ++i) table->enter(1000 + i);
  ledger->grow_sites(sites + 1);
  ledger->start(0);
  for (const StoryEvent& event : events) {
    const bool has_site = event.kind == StoryKind::kMalloc || event.kind == StoryKind::kReallocEnd;
    ledger->apply(Event{event.stamp, event.address, event.size_bytes, has_site ? event.site + 1 : 0,
                        pack_thread(event.thread + 1, kind_of(event.kind))},
                  event.thread);
  }
  ledger->finish(end_stamp);
  for (const std::string& error : ledger->check()) FAIL_CHECK(error);
}

void compare_order_free(const HeapStory& story, const Ledger& ledger) {
  const auto& totals = ledger.sites().totals();
  REQUIRE(ledger.sites().total().bytes == story.books.total_bytes);
  REQUIRE(ledger.sites().total().blocks == story.books.total_blocks);
  REQUIRE(totals.live.bytes == story.books.live_bytes);
  REQUIRE(totals.live.blocks == story.books.live_blocks);
  REQUIRE(ledger.counts().frees == story.frees);
  REQUIRE(ledger.counts().foreign == story.foreign);
  REQUIRE(ledger.counts().reallocs == story.reallocs);
  REQUIRE(ledger.counts().failed_reallocs == story.failed_reallocs);
  REQUIRE(ledger.counts().unseen_frees == 0);
  for (const auto& [key, site] : story.books.sites) {
    const SiteEntry& entry = ledger.sites()[key + 1];
    REQUIRE(entry.total.bytes == site.total_bytes);
    REQUIRE(entry.total.blocks == site.total_blocks);
    SizeCounts sizes{};
    for (const uint64_t size_bytes : site.sizes) ++sizes[static_cast<size_t>(size_bucket(size_bytes))];
    REQUIRE(ledger.sites().sizes(key + 1) == SizeHistogram(sizes));
  }
}

TEST_CASE("the ledger agrees with the reference books to the byte") {
  const uint32_t threads = GENERATE(1u, 2u, 7u);
  const uint32_t seed = GENERATE(range(1u, 6u));
  StoryOptions options;
  options.threads = threads;
  options.seed = seed;
  const HeapStory story(options);
  ThreadTable table;
  Ledger ledger(&table, Ledger::TimeSource::kStamps);
  ledger.set_repair_window(GENERATE(0u, 500u));  // foreign frees wait for nothing; nothing is reordered
  play(story.events, threads, options.sites, story.end_stamp, &table, &ledger);

  compare_order_free(story, ledger);
  const auto& totals = ledger.sites().totals();
  CHECK(ledger.counts().reordered == 0);
  CHECK(totals.peak.bytes == story.books.peak_bytes);
  CHECK(totals.peak.blocks == story.books.peak_blocks);
  CHECK(totals.peak_ticks == story.books.peak_time);
  CHECK(totals.max_blocks == story.books.max_blocks);
  CHECK(totals.max_blocks_ticks == story.books.max_blocks_time);
  CHECK(totals.temporary_blocks == story.books.temporary_blocks);
  for (const auto& [key, site] : story.books.sites) {
    const SiteEntry& entry = ledger.sites()[key + 1];
    const auto at = story.books.at_peak.find(key);
    const uint64_t peak_bytes = at == story.books.at_peak.end() ? 0 : at->second.bytes;
    const uint64_t peak_blocks = at == story.books.at_peak.end() ? 0 : at->second.blocks;
    REQUIRE(ledger.sites().at_peak(key + 1).bytes == peak_bytes);
    REQUIRE(ledger.sites().at_peak(key + 1).blocks == peak_blocks);
    REQUIRE(entry.live.bytes == site.live_bytes);
    REQUIRE(entry.live.blocks == site.live_blocks);
    REQUIRE(entry.max.bytes == site.max_bytes);
    REQUIRE(entry.max.blocks == site.max_blocks);
    REQUIRE(entry.temporary_blocks == site.temporary_blocks);
    REQUIRE(entry.lifetime_low_ticks == site.lifetime);
    REQUIRE(entry.lifetime_high_ticks == 0);
  }
  size_t live = 0;
  ledger.for_each_live([&](const Block& block) {
    ++live;
    const auto at = story.books.blocks.find(block.address);
    REQUIRE(at != story.books.blocks.end());
    REQUIRE(at->second.size_bytes == block.size_bytes);
    REQUIRE(at->second.birth == block.birth);
  });
  CHECK(live == story.books.blocks.size());
}

// Stamps the wrong way round within the window: what does not depend on the order is still exact, nothing is left over,
// and the peak is within what the disorder can hide.
TEST_CASE("events stamped the wrong way round are put right") {
  const uint32_t seed = GENERATE(range(1u, 21u));
  StoryOptions options;
  options.threads = 2 + seed % 7;
  options.seed = seed;
  const HeapStory story(options);
  const uint64_t reach = GENERATE(5u, 60u);
  const std::vector<StoryEvent> events = with_inversions(story.events, options.threads, reach, seed + 1000);
  ThreadTable table;
  Ledger ledger(&table, Ledger::TimeSource::kStamps);
  ledger.set_repair_window(4 * reach + 4 * options.largest_step);
  play(events, options.threads, options.sites, story.end_stamp, &table, &ledger);
  compare_order_free(story, ledger);
  CHECK(ledger.counts().reordered != 0);
}

}  // namespace
}  // namespace heapprof::cli
