// cli/collect/leaks/leak_check.h: checks one process for leaks at its end. The check has its own thread, so that the
// rings of all processes are read in the meantime.
//
//   the constructor → kStopping … kStopped → give(scene) → kSearching
//           … kDone (from kStopping if threads did not stop) → the agent is answered … kEnded
//
// Guarantees
//  - It reaches kDone, with a result or the reason for a missing one, soon after kMostNs at the latest. If the kernel
//    does not answer (a file system that hangs; userfaultfd, where a stopped thread would have to fill in the page),
//    kDone may not be reached. Then is_overdue() is true, and the caller has to let the process go on.
//  - The threads that it stopped run again when it is destroyed; from kEnded on destroying it does not wait.
// Not provided: whether the process was still waiting when the check ended: the agent says so (EndQuestion).
// Context:  the thread that reads the rings. A forked copy of the collector must not destroy a LeakCheck.
// Trust:    what the process says is only used as an address at which its own memory is read.
// Cost:     the process only has to wait: some ms, and about 0.3 s for a million small blocks.
#pragma once

#include "cli/collect/leaks/block_table.h"
#include "cli/collect/leaks/leak_marks.h"
#include "cli/collect/leaks/leak_roots.h"
#include "cli/collect/leaks/root_holders.h"

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace heapprof::cli {

inline constexpr char kTooLong[] = "it took longer than 60 s";

struct LeakQuestion {
  pid_t pid = 0;
  uint32_t exiting_id = 0;  // in its own pid namespace
  LeakThread exiting;
  uint64_t own_pages_avma = 0;  // the agent's table
  uint32_t own_pages_count = 0;
  uint64_t arena_inode = 0;
  std::string allocator;
  bool inherits = false;
};

// What was live when the process asked.
struct LeakScene {
  std::vector<LeakBlock> blocks;
  std::vector<MemoryRange> mapped;  // by the program itself
};

struct LeakResult {
  std::string problem;            // why there is no answer; empty: there is one
  std::vector<LeakBlock> blocks;  // by address, each with its kind
  std::vector<LostOwner> owners;  // from LeakMarks::lost_owners()
  RootHolders holders;            // of the blocks
  uint64_t read_bytes = 0;
  uint64_t unread_bytes = 0;
  uint64_t stopped_threads = 0;
  uint64_t duration_ns = 0;
};

class LeakCheck {
 public:
  static constexpr uint64_t kMostNs = 60'000'000'000;
  static constexpr uint64_t kOverdueNs = 5'000'000'000;

  enum class Phase : uint32_t { kStopping, kStopped, kSearching, kDone, kEnded };

  explicit LeakCheck(const LeakQuestion& question);
  ~LeakCheck();
  LeakCheck(const LeakCheck&) = delete;
  LeakCheck& operator=(const LeakCheck&) = delete;

  Phase phase() const { return phase_.load(std::memory_order_acquire); }
  // pre: kStopped
  void give(LeakScene scene);
  // Makes it reach kDone soon: the result is not wanted any more.
  void abandon() { is_abandoned_.store(true, std::memory_order_relaxed); }
  // Call it now and then until kEnded, as the process may wait for it: see StoppedThreads::bury_dead().
  void help();
  bool is_overdue() const;
  // pre: kDone or kEnded; once
  LeakResult take() { return std::move(result_); }

 private:
  void work();
  bool has_to_stop() const;
  void enter(Phase phase);

  LeakQuestion question_;
  LeakScene scene_;
  LeakResult result_;
  uint64_t start_ns_;
  uint64_t next_help_ns_ = 0;
  std::atomic<Phase> phase_ = Phase::kStopping;
  std::atomic<bool> is_abandoned_ = false;
  std::thread thread_;
};

}  // namespace heapprof::cli
