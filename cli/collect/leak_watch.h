// cli/collect/leak_watch.h: waits for a process to come to its end, has the check made, and answers its agent.
//
// Guarantees
//  - An agent that asked is answered, whatever the check comes to.
//  - The blocks that are judged are those of the moment at which the process asked and all its threads were stopped;
//    judgement_of() says of a block that was live at the end what was found of it then, and nothing of another block.
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

  // Between two rounds.
  void step(Drain* drain, Ledger* ledger);
  // The process waits for the answer, or some of its threads are held still.
  bool is_asked() const { return check_ != nullptr; }
  // The process has ended, or is watched no more: what there is to say of it. is_complete: the books have all events
  LeakJudgement end(bool is_complete);
  // In a forked copy, in which the thread does not run.
  void forget() { (void)check_.release(); }

  // pre: end()
  LeakKind judgement_of(const Block& block) const;
  // What owns what was lost at that moment: as LeakMarks has it.
  const std::vector<LostOwner>& owners() const { return result_.owners; }
  // What leads to blocks that were live at the end, and reachable at that moment: as RootHolders has it.
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
  uint64_t stopped_ns_ = 0;  // when the process's threads stood still; 0: they do not
  bool is_answered_ = false;
  // Blocks that a thread which was stopped was about to resize: they may be elsewhere by then. A few at most.
  std::vector<uint64_t> moving_;
  std::string problem_;  // of ours: empty: none
  LeakResult result_;
};

}  // namespace heapprof::cli
