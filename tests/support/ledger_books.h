// tests/support/ledger_books.h: a ledger, and events for it by hand.
#pragma once

#include "cli/collect/books/ledger.h"

#include <catch2/catch.hpp>

namespace heapprof::test {

using namespace heapprof::cli;  // NOLINT(google-build-using-namespace)

// A ledger with three threads, each with its own ring of the same number.
class Books {
 public:
  explicit Books(uint64_t window = 0) : ledger(&threads, Ledger::TimeSource::kStamps) {
    for (uint32_t i = 0; i < 3; ++i) threads.enter(100 + i);
    ledger.grow_sites(10);
    ledger.start(0);
    ledger.set_repair_window(window);
  }
  // thread 1 … 3, writing ring thread − 1
  void malloc(uint64_t stamp, uint32_t thread, uint64_t address, uint64_t size_bytes, uint32_t site = 1) {
    send(stamp, thread, EventKind::kMalloc, address, size_bytes, site);
  }
  void free(uint64_t stamp, uint32_t thread, uint64_t address) { send(stamp, thread, EventKind::kFree, address); }
  void begin(uint64_t stamp, uint32_t thread, uint64_t address) {
    send(stamp, thread, EventKind::kReallocBegin, address);
  }
  void end(uint64_t stamp, uint32_t thread, uint64_t address, uint64_t size_bytes, uint32_t site = 2) {
    send(stamp, thread, EventKind::kReallocEnd, address, size_bytes, site);
  }
  void cancel(uint64_t stamp, uint32_t thread) { send(stamp, thread, EventKind::kReallocCancel, 0); }
  void free_begun(uint64_t stamp, uint32_t thread) { send(stamp, thread, EventKind::kReallocFree, 0); }
  void leave(uint64_t stamp, uint32_t thread) {
    threads.leave(thread);
    send(stamp, thread, EventKind::kThreadLeft, 0);
  }
  void finish(uint64_t stamp) {
    ledger.finish(stamp);
    for (const std::string& error : ledger.check()) FAIL_CHECK(error);
  }
  const SiteBook::Totals& totals() const { return ledger.sites().totals(); }
  const LedgerCounts& counts() const { return ledger.counts(); }
  const SiteEntry& site(uint32_t index) const { return ledger.sites()[index]; }

  ThreadTable threads;
  Ledger ledger;

 protected:
  void send(uint64_t stamp, uint32_t thread, EventKind kind, uint64_t address, uint64_t size_bytes = 0,
            uint32_t site = 0) {
    ledger.apply(Event{stamp, address, size_bytes, site, pack_thread(thread, kind)}, thread - 1);
  }
};

}  // namespace heapprof::test
