// cli/collect/leak_watch.h: waits until a process ends, has its live blocks checked, and answers its agent.
//
// Guarantees
//  - An agent that asked is answered, whatever the result of the check.
//  - The blocks that are judged are those of the moment at which the process asked and all its threads were stopped.
//    For a block that was live at the end, judgement_of() returns what was found at that moment, and never the
//    judgement of another block.
// Context:  the thread that reads the rings.
// Trust:    as LeakCheck.
#pragma once

#include "cli/collect/arena.h"
#include "cli/collect/books/ledger.h"
#include "cli/collect/drain.h"
#include "cli/collect/leaks/leak_check.h"
#include "cli/model/profile/run.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heapprof::cli {

class LeakWatch {
 public:
  LeakWatch(Arena* arena, pid_t pid, std::string allocator, bool inherits)
      : arena_(*arena), pid_(pid), allocator_(std::move(allocator)), inherits_(inherits) {}

  // Call it between two rounds.
  void step(Drain* drain, Ledger* ledger);
  // Whether the process waits for the answer, or some of its threads are stopped.
  bool is_asked() const { return check_ != nullptr; }
  // Call it when the process has ended, or is no longer watched. Returns the judgement. is_complete: the books have all
  // events
  LeakJudgement end(bool is_complete);
  // Call it in a forked copy, in which the check's thread does not run.
  void forget() { (void)check_.release(); }

  // pre: end()
  LeakKind judgement_of(const Block& block) const;
  // The owners of the memory that was lost when the blocks were judged (LeakMarks::lost_owners()).
  const std::vector<LostOwner>& owners() const { return result_.owners; }
  // What kept the blocks that were still live at the end reachable when they were judged (RootHolders::sum()).
  std::vector<HeldBlocks> holders() const { return result_.holders.sum(result_.blocks); }

 private:
  void ask();
  void give(Ledger* ledger);
  void answer();
  void leave_out_moving();

  Arena& arena_;
  pid_t pid_;
  std::string allocator_;
  bool inherits_;
  std::unique_ptr<LeakCheck> check_;
  uint64_t stopped_ns_ = 0;  // when the process's threads were stopped; 0: they are not
  bool is_answered_ = false;
  // Blocks that a stopped thread was about to resize: realloc may have moved them already. A few at most.
  std::vector<uint64_t> moving_;
  std::string problem_;  // the collector's own; empty: none
  LeakResult result_;
};

}  // namespace heapprof::cli
