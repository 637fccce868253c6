// cli/target/title_watch.h: finds the title that a process gives itself. nginx, postgres and Python's setproctitle
// write a title over the process's command line, often after its first allocation.
//
// Guarantees
//  - The collector does not wait for a process. To show a command line, the kernel takes the process's mmap lock, which
//    others may hold for a long time. So a separate thread reads command lines, and the destructor does not wait for
//    that thread.
//  - A title is that of the process and image that were added, provided that /proc shows an exec. If the stack
//    addresses in /proc are hidden, only a process that has not called exec since it was forked gets a title.
//  - If a process only cuts its first word (as dirname does), or changes other words, that is not taken for a title.
// Context:  one thread calls add(), and any thread calls get(). A forked copy of the process calls none of these, and
//           does not destroy the TitleWatch.
// Trust:    the process chooses the title's text; kMostBytes of it at most are kept.
// Cost:     each look takes 50 µs, in the other thread. The first look comes at once, the second after 20 ms, and each
//           further one after twice that time, but at most 10 s. A title that is set after the last look is missed.
#pragma once

#include "cli/target/process_identity.h"

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>

namespace heapprof::cli {

// The title that a process has, if its first word is now `first_word` and was `before`. Empty: no title.
std::string title_of(const std::string& first_word, const std::string& before);

class WatchedTitle {
 public:
  static constexpr size_t kMostBytes = 256;

  // is_fork: the image began by a fork and not by an exec.
  WatchedTitle(pid_t pid, const ProcessLook& look, bool is_fork, std::string first_word)
      : pid_(pid), look_(look), is_fork_(is_fork), before_(std::move(first_word)) {}
  std::string get() const;  // empty: no title so far
  void look();              // reads the title now, unless it is just being written or the process is gone

 private:
  bool is_same(const ProcessLook& now) const;

  const pid_t pid_;
  const ProcessLook look_;  // as it was when added
  const bool is_fork_;
  const std::string before_;
  mutable std::mutex lock_;
  std::string title_;
};

class TitleWatch {
 public:
  TitleWatch();
  ~TitleWatch();
  TitleWatch(const TitleWatch&) = delete;
  TitleWatch& operator=(const TitleWatch&) = delete;

  // Watches the process until the returned object is destroyed. nullptr: there is no memory or no thread for it.
  std::shared_ptr<const WatchedTitle> add(pid_t pid, const ProcessLook& look, bool is_fork, std::string first_word);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace heapprof::cli
