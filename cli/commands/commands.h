// cli/commands/commands.h: the texts and the main functions of the commands, each in a file of its own.
//
// A main parses its arguments, and runs or shows help. It returns the exit code, which is 2 for wrong usage.
#pragma once

#include "cli/flags/options.h"

#include <string>
#include <vector>

namespace heapprof::cli {

// heapprof attach.
CommandText attach_text();
int attach_main(const std::vector<std::string>& arguments);

// heapprof detach.
CommandText detach_text();
int detach_main(const std::vector<std::string>& arguments);

// `heapprof diff BASE… CURRENT`: the changes between two profiles, or two folders of them.
CommandText diff_text();
// The exit code: 0; 1 with --exit-code if something grew; 2 for wrong usage; 3 for a profile that cannot be read or is
// incomplete.
int diff_main(const std::vector<std::string>& arguments);

// `heapprof doctor`: what this machine allows, and how to fix what it does not allow.
CommandText doctor_text();
// The exit code: 0; 1 if something is missing that profiling needs; 2 for wrong usage.
int doctor_main(const std::vector<std::string>& arguments);

// `heapprof estimate tensor|attention|kv-cache|weights`: how much memory something takes, and whether it fits.
CommandText estimate_text();
// The exit code: 0, 1 if it does not fit, 2 for wrong usage, 3 if the device cannot be measured.
int estimate_main(const std::vector<std::string>& arguments);

// `heapprof export --format FORMAT FILE`: a profile in the formats of other tools.
CommandText export_text();
// The exit code: 0, 1 if the output cannot be written, 2 for wrong usage, 3 for a profile that cannot be read.
int export_main(const std::vector<std::string>& arguments);

// `heapprof history FILE.jsonl`: how much memory runs took over time; --add adds profiles to the file.
CommandText history_text();
// The exit code: 0, 1 if --add cannot add anything, 2 for wrong usage, 3 for a file that cannot be read.
int history_main(const std::vector<std::string>& arguments);

// `heapprof merge -o OUT FILE…`: several profiles as one.
CommandText merge_text();
// The exit code: 0; 1 if OUT cannot be written; 2 for wrong usage, or profiles that do not add up; 3 for a profile that
// cannot be read; 4 if processes of the job step are missing in OUT.
int merge_main(const std::vector<std::string>& arguments);

// `heapprof pause`, `resume` and `mark`: orders to a run while it is running.
CommandText pause_text();
CommandText resume_text();
CommandText mark_text();
int pause_main(const std::vector<std::string>& arguments);
int resume_main(const std::vector<std::string>& arguments);
int mark_main(const std::vector<std::string>& arguments);

// `heapprof push URL PID|FILE...`: profiles for a server that takes pprof.
CommandText push_text();
// The exit code: 0; 1 if the server did not take a profile; 2 for wrong usage; 3 for a profile that cannot be read.
int push_main(const std::vector<std::string>& arguments);

// `heapprof serve PID...`: profiles of running programs over HTTP.
CommandText serve_command_text();
// The exit code: 0 when all named processes have ended; 1 if it cannot serve; 2 for wrong usage; 128 + N if signal N
// ended it.
int serve_main(const std::vector<std::string>& arguments);

// `heapprof snapshot PID`: writes a valid profile of a program that is still running.
CommandText snapshot_text();
// The exit code: 0, 1 if there is no snapshot, 2 for wrong usage.
int snapshot_main(const std::vector<std::string>& arguments);

// `heapprof symbolize FILE`: names for a profile that was written without them.
CommandText symbolize_text();
// The exit code: 0; 1 if the profile cannot be written; 2 for wrong usage; 3 for a profile that cannot be read.
int symbolize_main(const std::vector<std::string>& arguments);

// `heapprof top PID`: a running program, live.
CommandText top_text();
// The exit code: 0, also if the program has ended; 1 if the program cannot be watched; 2 for wrong usage; 128 + N if
// signal N ended heapprof.
int top_main(const std::vector<std::string>& arguments);

}  // namespace heapprof::cli
