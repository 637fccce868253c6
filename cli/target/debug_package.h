// cli/target/debug_package.h: finds the package of this system that a file belongs to, and how to install its debug
// symbols.
//
// Guarantees
//  - Commands are given only if they should work. On Debian, apt must know a package of symbols that lists the file's
//    build id, or that lists no build ids. If apt knows no such package, Debian's archive of symbols must be next to an
//    archive that apt uses. On other systems, their own tools decide.
//  - Nothing is installed or downloaded: the package managers are only asked about their local data.
// Context:  starts dpkg-query, rpm and apt-cache, if they exist; each is ended after 3 s.
// Trust:    the path may come from a profile that anyone wrote. It is passed as an argument, never as part of a shell
//           command.
// Cost:     dpkg-query 0.15 s, apt-cache 0.3 to 0.8 s.
#pragma once

#include <string>

namespace heapprof::cli {

struct DebugPackage {
  std::string package;  // the package that has the file; empty: unknown
  std::string install;  // the commands that install its debug symbols; empty: unknown
};

// build_id: the file's build id, in hexadecimal. pre: the file exists.
DebugPackage find_debug_package(const std::string& path, const std::string& build_id);

// The pattern "/etc/debuginfod/*.urls" if there is such a file, in which this system suggests debuginfod servers; else
// empty.
std::string suggested_servers();

}  // namespace heapprof::cli
