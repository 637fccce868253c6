// cli/base/trusted_output.h: refuses output destinations that another user may have planted.
//
// In a folder that all users may write to (/tmp), another user can put a link, a pipe or a file where heapprof will
// write. The kernel refuses to follow or open these if the system's settings say so (fs.protected_symlinks,
// fs.protected_regular, fs.protected_fifos: proc(5)). heapprof applies the same rule with any settings.
//
// Guarantees
//  - A symbolic link in a sticky folder that all may write to is followed only if it belongs to us or to the folder's
//    owner. A file or a pipe there is opened under the same condition.
// Trust:    the path and all folders and links on it are untrusted.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

// Checks the links on `path`; and its destination, if that is written in place.
enum class WrittenHow { kReplaced, kOpened };
Result<Done> check_output(const std::string& path, WrittenHow how);

// open(2) for writing in place, after that check. If the kernel refuses that, the descriptor is not open, and errno
// says why.
Result<UniqueFd> open_output(const std::string& path, int flags, mode_t mode);

// Returns the file that `path` refers to: follows symbolic links in the last part of the path, even if the target does
// not exist yet.
std::string follow_links(std::string path);

}  // namespace heapprof::cli
