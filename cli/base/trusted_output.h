// cli/base/trusted_output.h: where heapprof writes nothing, because somebody else may have chosen the place.
//
// In a folder that all users may write to (/tmp), another user can put a link, a pipe or a file where heapprof will
// write. The kernel refuses to follow or to open these, if the system's settings say so (fs.protected_symlinks,
// fs.protected_regular, fs.protected_fifos: proc(5)). heapprof keeps to the same rule whatever the settings are.
//
// Guarantees
//  - A symbolic link in a sticky folder that all may write to is followed only if it belongs to us or to the folder's
//    owner; so are a file and a pipe there opened.
// Trust:    the path and everything that it leads through.
#pragma once

#include "cli/base/fd.h"
#include "cli/base/result.h"

#include <sys/types.h>

#include <string>

namespace heapprof::cli {

// The links that `path` leads through; and what it leads to, if that is written to in place.
enum class WrittenHow { kReplaced, kOpened };
Result<Done> check_output(const std::string& path, WrittenHow how);

// open(2) for writing in place, after that check. Closed, with errno, where the kernel refuses it.
Result<UniqueFd> open_output(const std::string& path, int flags, mode_t mode);

// The file that `path` means: links at its end followed, also one that points to nothing yet.
std::string follow_links(std::string path);

}  // namespace heapprof::cli
