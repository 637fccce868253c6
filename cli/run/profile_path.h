// cli/run/profile_path.h: the names of the profiles of one run.
//
//   FILE                     the last image of the program that was started
//   FILE.exec1, .exec2 …     (before the extension) earlier images of that program, replaced by exec
//   FILE.PID                 (before the extension) processes that it started
//
// Without FILE, profiles go to the current folder, where the program may not expect new files. So while the program
// runs, their names begin with a dot, which *.json and ls skip.
//
// If FILE has %p, %n, %r or %t, each process gets the name that they give. .PID is added only if another process has
// that name already.
//
// Guarantees
//  - No two profiles of one run have the same name, even if pids are reused.
#pragma once

#include "cli/base/result.h"

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>

namespace heapprof::cli {

// heapprof.PROGRAM.PID.json in the current folder.
std::string default_profile_path(const std::string& program, uint64_t pid);

// heapprof.PROGRAM.PID.snapshot.json in the current folder, as an absolute path. It never has the name of the run's own
// profile.
std::string default_snapshot_path(pid_t pid);

// The values of the directives.
struct NameFacts {
  uint64_t pid = 0;           // %p
  std::string program = {};   // %n
  std::string rank = {};      // %r
  int64_t start_unix_ns = 0;  // %t, as 20261121-183059 in local time
};

// Returns a usage error for an unknown directive.
Result<Done> check_name_pattern(const std::string& pattern);
bool has_directive(const std::string& pattern);  // other than %%
// pre: check_name_pattern
std::string expand_name(const std::string& pattern, const NameFacts& facts);

struct ImageName {
  bool is_root = false;
  bool is_last = false;
  uint32_t image = 0;
  NameFacts facts;
};

// The name without the dot.
std::string shown_path(const std::string& hidden);

class ProfileNames {
 public:
  // pre: check_name_pattern. The root's own name is reserved from the start. is_hidden: names begin with a dot.
  ProfileNames(std::string pattern, const NameFacts& root, bool is_hidden = false);

  const std::string& root_path() const { return root_path_; }
  // Each call returns a new name, except for the root's last image, whose name is always FILE.
  std::string next(const ImageName& image);

 private:
  std::string pattern_;
  std::string root_path_;
  std::set<std::string> taken_;
};

}  // namespace heapprof::cli
