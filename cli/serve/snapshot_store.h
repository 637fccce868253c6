// cli/serve/snapshot_store.h: snapshots of processes, each kept for as long as somebody may want the same one.
//
// Guarantees
//  - A snapshot is good for a second, or for as long as it took; a process has one at a time.
//  - Its file is read by a descriptor that was checked (a plain file of the process's own user), and has no name by
//    then: nothing is left behind but where this process is killed while one is being written.
// Context:  the server's thread; the collectors are asked by workers.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"
#include "cli/serve/worker.h"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heapprof::cli {

struct StoredSnapshot {
  UniqueFd file;  // the profile
  uint64_t size_bytes = 0;
  int64_t unix_ns = 0;  // when it was asked for; likewise
  uint64_t monotonic_ns = 0;
};

// A snapshot, or why there is none.
struct SnapshotOutcome {
  std::shared_ptr<const StoredSnapshot> snapshot;
  int status = 200;
  std::string words;  // a problem, as it is printed
};

class SnapshotStore {
 public:
  // The folder of files that are being written is made now, and removed at the end.
  static Result<std::unique_ptr<SnapshotStore>> open(Workers* workers);
  ~SnapshotStore();
  SnapshotStore(const SnapshotStore&) = delete;
  SnapshotStore& operator=(const SnapshotStore&) = delete;

  using Done = std::function<void(const SnapshotOutcome&)>;
  // Calls back once, at once or later. The snapshot was begun at not_before_ns or later, by monotonic_ns().
  void get(pid_t pid, uint64_t not_before_ns, Done done);
  // Takes snapshots that had to wait, and lets go of what is out of date.
  void serve();
  // When serve() has something to take; UINT64_MAX: nothing.
  uint64_t next_ns() const;

 private:
  struct Entry {
    std::shared_ptr<const StoredSnapshot> snapshot;
    uint64_t good_until_ns = 0;
    bool is_running = false;
    struct Waiting {
      uint64_t not_before_ns;
      Done done;
    };
    std::vector<Waiting> waiting;
  };
  SnapshotStore(Workers* workers, std::string folder) : workers_(*workers), folder_(std::move(folder)) {}
  void take(pid_t pid);

  Workers& workers_;
  std::string folder_;
  std::map<pid_t, Entry> entries_;
  uint64_t last_number_ = 0;
};

}  // namespace heapprof::cli
