// agent/process/image_check.h: checks whether a program that is about to be started can load the agent.
//
// If it cannot, the loader would complain on the program's stderr, musl's would exit with 127, a sanitizer would refuse
// to start or crash. So the agent's variables have to be removed then. What such a program starts in turn is not
// followed.
//
// Guarantees
//  - At most some twenty system calls, all of them reads; nothing is allocated; errno is as before.
//  - No thread of the program sees a file that is opened here, nor are its record locks on that file released
//    (libc/own_file_table.h).
// Not provided: certainty. What the kernel will really start may have changed a moment later.
// Context:  anywhere, vfork children and signal handlers included.
// Trust:    the file is hostile; paths may be invalid addresses.
// Cost:     in a child that was made to become the program about 10 µs, else 120 µs; an exec takes 300 µs and more.
//           Stack: 2 KiB.
#pragma once

#include "shared/wire.h"

#include <fcntl.h>

namespace heapprof::agent {

// The program that will be started. A relative `path` begins at `folder`, which is itself relative to `folder_fd`; if
// `folder` is nullptr, it begins at `folder_fd`. is_link: the file is open, as `folder_fd`. path: nullptr if it was not
// found, so that nothing will start.
struct ImagePlace {
  int folder_fd = AT_FDCWD;
  const char* path = nullptr;
  bool is_link = false;          // the path is the descriptor's link in /proc
  const char* folder = nullptr;  // the child changes to this folder first
  bool is_unknown = false;       // the child's folder is unknown
};

// What prevents the program from loading the agent. kUnread: the file could not be read, so nothing is known of it. If
// a file does not exist, or is not a regular file, the kernel will refuse it, and the result is kNone.
wire::ImageObstacle check_image(const ImagePlace& image);

// The path of the link in /proc to an open file. The link opens the file even if the file has no name (any more). It
// belongs to the thread that follows it: a thread may have a file table of its own, and the first thread's table is
// gone when that thread has ended.
struct DescriptorLink {
  explicit DescriptorLink(int fd);
  char path[40] = "/proc/thread-self/fd/";
};
// Returns what the link leads to, written to `memory` (`bytes` long), or `link` itself if it cannot be read.
const char* read_link(const char* link, char* memory, unsigned long bytes);

// Finds `file` as execvp does: `file` itself if it has a slash, else the first executable file of that name in PATH,
// written to `memory` (`bytes` long). nullptr: not found, or `file` or PATH cannot be read.
const char* find_in_path(const char* file, char* memory, unsigned long bytes);
// How long `memory` has to be for that; 0: nothing will be found.
unsigned long search_bytes(const char* file);

}  // namespace heapprof::agent
