// cli/top/snapshot_job.h: a snapshot that is taken while the view goes on: by a process of its own, as the collector's
// answer may take long.
#pragma once

#include "cli/base/fd.h"

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

class SnapshotJob {
 public:
  SnapshotJob() = default;
  ~SnapshotJob();  // what is asked for is written all the same
  SnapshotJob(const SnapshotJob&) = delete;
  SnapshotJob& operator=(const SnapshotJob&) = delete;

  bool is_running() const { return words_.is_open(); }
  // pre: !is_running(). path: absolute; where it is taken, another is found
  void start(pid_t of, const std::string& path);
  int fd() const { return words_.get(); }  // readable when take() has something to say; -1: nothing runs
  // What came of it, in a line.
  std::string take();

 private:
  UniqueFd words_;
  pid_t asker_ = 0;
};

}  // namespace heapprof::cli
