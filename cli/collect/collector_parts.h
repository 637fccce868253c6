// cli/collect/collector_parts.h: functions of the process collector that each have their own file.
#pragma once

#include "cli/collect/books/ledger.h"
#include "cli/collect/books/live_samples.h"
#include "cli/collect/memory/memory_budget.h"
#include "cli/collect/process_collector.h"
#include "cli/collect/questions.h"
#include "cli/collect/rings/call_tree.h"
#include "cli/collect/rings/module_map.h"
#include "cli/model/profile/device_facts.h"
#include "shared/wire.h"

#include <cstdint>

namespace heapprof::cli {

// ---- control_options.cc ----

// Writes the options that the agent has to know before it starts into the control page. pre: no agent has the arena yet
void write_options(const CollectorOptions& options, wire::Control* control);

// ---- device_use_books.cc ----

// Notes how much of a device's memory is in use according to its driver, next to what the books have. bytes: the
// driver's count now, for this process or for all; seen_bytes: what the books have of that device now.
void note_use(uint64_t bytes, bool is_of_all, uint64_t seen_bytes, DeviceUse* use);

// ---- books_need.cc ----

// How much memory the books of a process take, and how much more its profile will.
struct BooksKept {
  const Ledger* ledger;
  const CallTree* tree;
  const ModuleMap* modules;  // nullptr: none yet
  const LiveSamples* samples;
  const QuestionService* questions;
};
MemoryNeed books_need(const BooksKept& books);

}  // namespace heapprof::cli
