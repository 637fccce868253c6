// cli/top/snapshot_job.h: takes a snapshot in a separate process, because the collector's answer may take long and the
// view must not wait.
#pragma once

#include "cli/base/fd.h"

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

class SnapshotJob {
 public:
  SnapshotJob() = default;
  ~SnapshotJob();  // a snapshot that was requested is still written by the collector
  SnapshotJob(const SnapshotJob&) = delete;
  SnapshotJob& operator=(const SnapshotJob&) = delete;

  bool is_running() const { return words_.is_open(); }
  // pre: !is_running(). path: absolute; if the file exists, another name is chosen.
  void start(pid_t of, const std::string& path);
  int fd() const { return words_.get(); }  // readable when take() has a result; -1: not running
  // The result, as one line of text.
  std::string take();

 private:
  UniqueFd words_;
  pid_t asker_ = 0;
};

}  // namespace heapprof::cli
