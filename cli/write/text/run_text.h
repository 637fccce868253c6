// cli/write/text/run_text.h: words for what is known about a run: its command line, its end, its moments, its curve.
//
// Trust:    command lines and names are strangers': escaped here.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

std::string signal_name(int signal);                                // "SIGKILL", "signal 99"
std::string command_text(const std::vector<std::string>& command);  // quoted for a shell where that is needed
// A file's name as it can be pasted, also where the terminal shows nothing but ASCII.
std::string pasted_file(const std::string& file, bool utf8);
// A command within `columns`: the program's folder goes first, then the middle.
std::string short_command(const std::vector<std::string>& command, size_t columns);
// What tells a process from others: its title, if it gave itself one.
std::string short_command(const std::vector<std::string>& command, const std::string& title, size_t columns);
std::string command_text(const std::vector<std::string>& command, const std::string& title);
std::string end_text(const RunEnd& end);  // "exit 0", "killed by SIGKILL"
// Of a snapshot or a checkpoint a line that says when it was taken; empty: of a run that has ended.
std::string running_line(const Profile& profile);
// Of a process that ran before it was attached to, a line that says what its numbers leave out; empty: of any other.
std::string attached_line(const Profile& profile);
std::string start_text(int64_t start_unix_ns);                   // "2026-11-20 18:13", local time
std::string moment_text(const Profile& profile, uint64_t time);  // in the profile's unit: "18.204 s", "1,204 instrs"
std::string length_text(const Profile& profile, uint64_t time);  // "41.8 s"

// Eight heights of blocks, as wide as `columns`; each column shows the largest value of its stretch of time, of
// `peak_bytes`. Empty if there is no timeline.
std::string sparkline(const Timeline& timeline, uint64_t duration_ns, uint64_t peak_bytes, size_t columns);

}  // namespace heapprof::cli
