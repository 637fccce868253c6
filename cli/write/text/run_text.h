// cli/write/text/run_text.h: texts about a run: its command line, its end, its moments, its curve.
//
// Trust:    command lines and names are not trusted: they are escaped here.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

std::string signal_name(int signal);                                // "SIGKILL", "signal 99"
std::string command_text(const std::vector<std::string>& command);  // quoted for a shell if needed
// A file's name that can be pasted, even from a terminal that shows only ASCII.
std::string pasted_file(const std::string& file, bool utf8);
// A command within `columns`: the program's folder is cut first, then the middle.
std::string short_command(const std::vector<std::string>& command, size_t columns);
// The title of a process if it gave itself one, else its command.
std::string short_command(const std::vector<std::string>& command, const std::string& title, size_t columns);
std::string command_text(const std::vector<std::string>& command, const std::string& title);
std::string end_text(const RunEnd& end);  // "exit 0", "killed by SIGKILL"
// For a snapshot or a checkpoint, a line that says when it was taken; empty for a run that has ended.
std::string running_line(const Profile& profile);
// For a process that ran before the attach, a line that says what its numbers leave out; empty for any other.
std::string attached_line(const Profile& profile);
std::string start_text(int64_t start_unix_ns);                   // "2026-11-20 18:13", local time
std::string moment_text(const Profile& profile, uint64_t time);  // in the profile's unit: "18.204 s", "1,204 instrs"
std::string length_text(const Profile& profile, uint64_t time);  // "41.8 s"

// A curve of block characters in eight heights, `columns` wide. Each column shows the largest value in its time range,
// relative to `peak_bytes`. Empty without a timeline.
std::string sparkline(const Timeline& timeline, uint64_t duration_ns, uint64_t peak_bytes, size_t columns);

}  // namespace heapprof::cli
