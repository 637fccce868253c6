// cli/base/atomic_file.h: a file that appears whole under its name, or not at all.
//
// Guarantees
//  - Until commit() nobody sees a byte under the destination's name, and what was there before stays.
//  - A file that is not committed (an error, a full disk, a destructor) leaves no temporary behind, nor does kill -9
//    where the file system has files without a name (O_TMPFILE). Where it has none, kill -9 may leave .NAME.XXXXXX.
//  - The new file has mode 0600: a profile tells much about a program; unless it keeps that of the one it replaces.
//  - A symbolic link is followed, but for those of others in folders that all may write to (trusted_output.h); what is
//    no regular file (a pipe, /dev/null) is written to as it is, not replaced.
//  - While it waits for a pipe's reader, a signal ends the process, even one that a run has blocked.
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
  // Makes the temporary beside `path`, so that a bad destination is known before the work and not after it.
  static Result<AtomicFile> create(const std::string& path);

  // `path`, else path with .2, .3 … before its extension: the first that does not exist.
  static std::string free_name(const std::string& path);
  // Gives a file the first of these names that nothing has; returns it. Empty: it keeps the one that it had.
  static std::string rename_to_free_name(const std::string& from, const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile() override;

  void write(std::string_view bytes) override;

  // The file takes over from the one that it replaces, as far as the kernel lets us: its owner, and who may read and
  // write it.
  void keep_owner_and_mode();

  // Gives the file its name, in place of what had it. Returns the path.
  Result<std::string> commit();

  // Gives the file a name that nobody has: `path`, else path with .2, .3 … before its extension. Returns the path.
  Result<std::string> commit_without_overwriting();

 private:
  AtomicFile(UniqueFd fd, std::string path, std::string target, std::string temporary);
  int flush();
  int give_name();
  Result<std::string> give_up(int error);

  UniqueFd fd_;
  std::string path_;       // as the user gave it
  std::string target_;     // where links lead
  std::string temporary_;  // empty: written in place, or without a name so far
  std::string template_;   // of the temporary's name, where it has none so far; empty: it has, or needs none
  std::string buffer_;
  int error_ = 0;
};

}  // namespace heapprof::cli
