// cli/top/snapshot_job.h: takes a snapshot while the view goes on: in a separate process, as the collector's answer may
// take long.
#pragma once

#include "cli/base/fd.h"

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

class SnapshotJob {
 public:
  SnapshotJob() = default;
  ~SnapshotJob();  // a requested snapshot is written all the same
  SnapshotJob(const SnapshotJob&) = delete;
  SnapshotJob& operator=(const SnapshotJob&) = delete;

  bool is_running() const { return words_.is_open(); }
  // pre: !is_running(). path: absolute; if it exists, another is chosen
  void start(pid_t of, const std::string& path);
  int fd() const { return words_.get(); }  // readable when take() has a result; -1: not running
  // The result, in a line.
  std::string take();

 private:
  UniqueFd words_;
  pid_t asker_ = 0;
};

}  // namespace heapprof::cli
