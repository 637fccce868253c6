// cli/collect/books_need.h: how much memory the books of a process take, and how much more its profile will.
#pragma once

#include "cli/collect/books/ledger.h"
#include "cli/collect/books/live_samples.h"
#include "cli/collect/memory/memory_budget.h"
#include "cli/collect/questions.h"
#include "cli/collect/rings/call_tree.h"
#include "cli/collect/rings/module_map.h"

namespace heapprof::cli {

struct BooksKept {
  const Ledger* ledger;
  const CallTree* tree;
  const ModuleMap* modules;  // nullptr: none yet
  const LiveSamples* samples;
  const QuestionDesk* questions;
};

MemoryNeed books_need(const BooksKept& books);

}  // namespace heapprof::cli
