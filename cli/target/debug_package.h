// cli/target/debug_package.h: which package of this system a file is of, and how to install its debug symbols.
//
// Guarantees
//  - Commands are given only if they should work: apt knows a package of symbols, and, if it lists build ids, the
//    file's is among them; or it knows no such package, and Debian's archive of symbols is next to one that it knows.
//    For other systems, their own tools decide.
//  - Nothing is installed or fetched: the package managers' own files are asked.
// Context:  starts dpkg-query, rpm, pacman, apt-cache, as far as they exist, each for 3 s at most.
// Trust:    the path may come from anyone's profile: it is an argument, never part of a command line.
// Cost:     dpkg-query 0.15 s, apt-cache 0.3 to 0.8 s.
#pragma once

#include <string>

namespace heapprof::cli {

struct DebugPackage {
  std::string package;  // that the file came with; empty: unknown
  std::string install;  // the commands that install its debug symbols; empty: unknown
};

// build_id: of the file, in hexadecimal. pre: the file is there.
DebugPackage find_debug_package(const std::string& path, const std::string& build_id);

// The servers that this system suggests for debuginfod: "/etc/debuginfod/*.urls", if there is such a file; else empty.
std::string suggested_servers();

}  // namespace heapprof::cli
