// cli/serve/snapshot_store.h: takes snapshots of processes, and keeps each while another request may use it.
//
// Guarantees
//  - A snapshot is valid for a second, or for as long as it took if that was longer. One snapshot of a process is taken
//    at a time.
//  - A snapshot is read through a descriptor that was checked: a regular file of the process's user. The file's name is
//    removed when it has been opened, so a file is left behind only if the server is killed while a snapshot is being
//    written.
// Context:  the server's thread; workers ask the collectors.
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
  int64_t unix_ns = 0;  // when it was requested
  uint64_t monotonic_ns = 0;
};

// A snapshot, or why it failed.
struct SnapshotOutcome {
  std::shared_ptr<const StoredSnapshot> snapshot;
  int status = 200;
  std::string words;  // a problem, as printed
};

class SnapshotStore {
 public:
  // Makes the folder in which snapshots are written. The destructor removes it.
  static Result<std::unique_ptr<SnapshotStore>> open(Workers* workers);
  ~SnapshotStore();
  SnapshotStore(const SnapshotStore&) = delete;
  SnapshotStore& operator=(const SnapshotStore&) = delete;

  using Done = std::function<void(const SnapshotOutcome&)>;
  // Gets a snapshot that was begun at not_before_ns or later, by monotonic_ns(). Calls `done` once, now or later.
  void get(pid_t pid, uint64_t not_before_ns, Done done);
  // Starts snapshots that had to wait, and drops outdated ones.
  void serve();
  // When serve() has a snapshot to start; UINT64_MAX: there is none.
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
