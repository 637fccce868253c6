// cli/base/atomic_file.h: a file that appears complete under its name, or not at all.
//
// Guarantees
//  - Until commit() no byte is visible under the destination's name, and a previous file stays.
//  - A file that is not committed (an error, a full disk, a destructor) leaves no temporary file. After kill -9 the
//    same holds if the file system supports unnamed files (O_TMPFILE); otherwise .NAME.XXXXXX may be left.
//  - The new file has mode 0600, because a profile reveals much about a program. keep_owner_and_mode() gives it the
//    mode of the file that it replaces, unless the new file cannot get that file's group.
//  - A symbolic link is followed, except another user's link in a folder that all may write to (trusted_output.h). A
//    file that is not regular (a pipe, /dev/null) is written in place, not replaced.
//  - During a wait for a pipe's reader, a signal ends the process, even if a run has blocked that signal.
// Not provided: survival of a power cut (no fsync).
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/base/fd.h"
#include "cli/base/result.h"

#include <string>
#include <string_view>

namespace heapprof::cli {

class AtomicFile : public ByteSink {
 public:
  // Creates the temporary file next to `path`, so that a bad destination is known before the work and not after it.
  static Result<AtomicFile> create(const std::string& path);

  // Returns the first of these names that does not exist: `path`, then `path` with .2, .3 … before its extension.
  static std::string free_name(const std::string& path);
  // Renames `from` to the first of these names that does not exist, and returns that name. If it cannot, `from` keeps
  // its name, and the result is empty.
  static std::string rename_to_free_name(const std::string& from, const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile() override;

  void write(std::string_view bytes) override;

  // The file gets the owner and permissions of the one that it replaces, as far as the kernel allows.
  void keep_owner_and_mode();

  // Gives the file its name, replacing any previous file. Returns the path.
  Result<std::string> commit();

  // Gives the file an unused name: `path`, else path with .2, .3 … before its extension. Returns the path.
  Result<std::string> commit_without_overwriting();

 private:
  AtomicFile(UniqueFd fd, std::string path, std::string target, std::string temporary);
  int flush();
  int give_name();
  Result<std::string> give_up(int error);

  UniqueFd fd_;
  std::string path_;       // as the user gave it
  std::string target_;     // with links followed
  std::string temporary_;  // empty: written in place, or not named yet
  std::string template_;   // beginning of the name that the temporary file may get; empty: it has a name, or needs none
  std::string buffer_;
  int error_ = 0;
};

}  // namespace heapprof::cli
