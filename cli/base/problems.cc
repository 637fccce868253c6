// cli/base/problems.cc: the words of every error and warning (long: one catalogue in one place).
//
// A sentence says what was needed and what was found, quotes what the user typed, and starts in lower case without a full
// stop; `fix` is a step that mends it, `instead` another way and its price.
#include "cli/base/problems.h"

#include "cli/base/text.h"
#include "cli/base/units.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace heapprof::cli {
namespace {

constexpr int kWarning = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kBadProfile = 3;
constexpr int kProgramFailed = 4;  // of `check`
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

// Quoted for a shell where that is needed: the fixes are to be pasted.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                          "_-./+:=,@%") == std::string::npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// For programs that no preloaded agent can enter: Valgrind runs the code itself. Tried with musl, 32-bit x86 and programs that
// define malloc; of static ones its DHAT sees nothing.
std::string valgrind_instead(const std::string& program, const std::string& flags = "") {
  return fmt::format("valgrind --tool=dhat {}{}; heapprof report dhat.out.*   (20-50 times slower)", flags,
                     quoted(program));
}

}  // namespace

Problem program_not_found(const std::string& program) {
  const bool path = program.find('/') != std::string::npos;
  return {"HP001",
          path ? fmt::format("no such program: {}", program) : fmt::format("no such program in PATH: {}", program),
          path ? "check the path, or build the program first"
               : fmt::format("give its path: heapprof run ./{}", quoted(program)),
          "name any installed program, for example: heapprof run -- ls", kNotFound};
}

Problem program_not_executable(const std::string& program, const std::string& reason) {
  return {"HP002", fmt::format("{} cannot be executed: {}", program, reason),
          fmt::format("chmod +x {}", quoted(program)),
          fmt::format("if it is a script: heapprof run -- INTERPRETER {}", quoted(program)), kCannotRun};
}

Problem program_is_directory(const std::string& program) {
  return {"HP003", fmt::format("{} is a directory, not a program", program),
          fmt::format("name a program in it: ls {}", quoted(program)), "", kCannotRun};
}

Problem program_is_static(const std::string& program) {
  return {"HP004", fmt::format("{} is statically linked: there is no loader to preload the agent", program),
          "link it dynamically (drop -static)",
          "keep all static but libc: -static-libstdc++ -static-libgcc -l:libNAME.a", kFailed};
}

Problem program_has_privileges(const std::string& program, const std::string& why) {
  return {"HP005", fmt::format("{} {}: the loader ignores preloaded libraries for such programs", program, why),
          fmt::format("profile a copy without the privilege: cp {} ./copy && heapprof run ./copy", quoted(program)),
          "run heapprof as the user whose rights the program would take", kFailed};
}

Problem program_for_other_machine(const std::string& program, const std::string& kind) {
  const bool valgrind_runs_it = kind.find("32-bit x86") != std::string::npos;
  return {"HP006", fmt::format("{} is {}; the agent here is for 64-bit x86", program, kind),
          "build the program for x86-64 (-m64)",
          valgrind_runs_it ? valgrind_instead(program) : "on such a machine: " + valgrind_instead(program), kFailed};
}

Problem program_needs_other_libc(const std::string& program, const std::string& loader) {
  return {"HP007", fmt::format("{} is loaded by {}, and the agent needs glibc", program, loader),
          "build the program against glibc", valgrind_instead(program, "--soname-synonyms=somalloc=NONE "), kFailed};
}

Problem program_without_loader(const std::string& program, const std::string& loader) {
  return {"HP008", fmt::format("{} asks for the loader {}, which does not exist here", program, loader),
          "install the libraries that the program was built for",
          "profile it on the machine or in the container where it runs", kNotFound};
}

Problem interpreter_not_found(const std::string& script, const std::string& interpreter) {
  return {"HP009", fmt::format("{} is a script for {}, which does not exist", script, interpreter),
          fmt::format("correct its first line: head -1 {}", quoted(script)),
          fmt::format("name an interpreter: heapprof run -- INTERPRETER {}", quoted(script)), kNotFound};
}

Problem interpreters_too_deep(const std::string& script) {
  return {"HP010", fmt::format("{} is a script for a script for a script ... beyond what the kernel follows", script),
          fmt::format("correct its first line: head -1 {}", quoted(script)),
          fmt::format("name the real interpreter: heapprof run -- INTERPRETER {}", quoted(script)), kCannotRun};
}

Problem program_has_unknown_format(const std::string& program) {
  return {"HP011", fmt::format("{} is neither an ELF program nor a script", program),
          fmt::format("see what it is: file {}", quoted(program)),
          fmt::format("start it by what runs it: heapprof run -- LAUNCHER {}", quoted(program)), kCannotRun};
}

Problem program_has_sanitizer(const std::string& program, const std::string& sanitizer, const std::string& flag) {
  return {"HP012",
          fmt::format("{} is built with {}, which replaces malloc itself and must be loaded first", program, sanitizer),
          fmt::format("build it without {}", flag), "", kFailed};
}

Problem program_defines_malloc(const std::string& program, const std::string& functions) {
  return {"HP013", fmt::format("{} defines {} itself: what it allocates never reaches the agent", program, functions),
          "build it without its own allocator, or link that allocator as a shared library", valgrind_instead(program),
          kWarning};
}

Problem program_hides_allocations(const std::string& program) {
  return {"HP016", fmt::format("the profile is empty: all that {} allocates comes from a malloc of its own", program),
          "build it without its own allocator, or link that allocator as a shared library", valgrind_instead(program),
          kFailed};
}

Problem program_is_damaged(const std::string& program, const std::string& reason) {
  return {"HP014", fmt::format("{} is not a whole ELF program: {}", program, reason),
          "build or install the program again", fmt::format("see what is left of it: readelf -lW {}", quoted(program)),
          kCannotRun};
}

Problem program_not_inspected(const std::string& program, const std::string& reason) {
  return {
      "HP015",
      fmt::format("{} cannot be read before the start ({}): what the agent cannot see is not known", program, reason),
      fmt::format("chmod +r {}", quoted(program)), "go on: the summary says whether anything was recorded", kWarning};
}

Problem agent_not_found(const std::string& looked_at) {
  return {"HP030", fmt::format("the agent is not at {}", looked_at),
          "install heapprof whole: cmake --install build/release",
          "run bin/heapprof from the folder in which it was built or unpacked", kFailed};
}

Problem output_not_writable(const std::string& file, const std::string& reason) {
  return {"HP031", fmt::format("the profile cannot be written to {}: {}", file, reason),
          "choose another place: heapprof run -o /tmp/profile.json -- PROGRAM", "", kFailed};
}

Problem output_is_directory(const std::string& file) {
  return {"HP049", fmt::format("the profile cannot be written to {}: it is a directory", file),
          fmt::format("name a file in it: -o {}", quoted(file + "/profile.json")),
          "leave -o out: the name is then heapprof.PROGRAM.PID.json", kFailed};
}

Problem disk_full(const std::string& file, const std::string& reason) {
  return {"HP032",
          fmt::format("writing {} ended early ({}): nothing was saved, an earlier file is as it was", file, reason),
          "free space, or choose another place: heapprof run -o /dev/shm/profile.json -- PROGRAM", "", kFailed};
}

Problem nothing_profiled(const std::string& program) {
  return {
      "HP033", fmt::format("nothing was profiled: no agent answered from {}", program),
      fmt::format("see what the loader says: LD_DEBUG=libs heapprof run {} 2>&1 | grep libheapprof", quoted(program)),
      valgrind_instead(program), kFailed};
}

Problem protocol_mismatch(Versions agent) {
  return {"HP034",
          fmt::format("the agent speaks protocol version {}, this heapprof speaks {}", agent.found, agent.known),
          "install agent and tool from one build", "run bin/heapprof from the folder in which it was built or unpacked",
          kFailed};
}

Problem arena_refused(const std::string& reason) {
  return {"HP035", fmt::format("the kernel gives no shared memory for the events ({})", reason),
          "allow memfd_create in the container's seccomp profile", "run heapprof outside the container", kFailed};
}

Problem processes_refused(uint64_t processes, const std::string& reason) {
  const auto is_about = [&reason](int error) {  // as strerror has it, or as we do
    return reason.find(std::strerror(error)) != std::string::npos ||
           reason.find(errno_text(error)) != std::string::npos;
  };
  const bool is_files = is_about(EMFILE) || is_about(ENFILE);
  const bool is_memory = is_about(ENOMEM);
  std::string fix = "allow memfd_create in the container's seccomp profile";
  if (is_files) fix = "raise the limit of open files before the start: ulimit -Hn 1048576";
  if (is_memory) fix = "run fewer processes at a time, or on a machine with more memory";
  return {"HP101",
          fmt::format("{} process{} ran without being profiled: {}", format_count_exact(processes),
                      processes == 1 ? "" : "es", reason),
          fix, "profile only the programs that matter: heapprof run --follow=NAME PROGRAM", kWarning};
}

Problem root_image_replaced(const std::string& program, const std::string& became) {
  const std::string file = became.empty() ? "another program" : became;
  return {"HP102", fmt::format("{} became {} by exec, which no agent entered: the profile ends there", program, file),
          became.empty() ? "start that program itself under heapprof"
                         : fmt::format("see what heapprof says of it: heapprof run -- {}", quoted(became)),
          fmt::format("read the profile as that of {}", program), kWarning};
}

Problem unknown_directive(const std::string& name, const std::string& directive) {
  return {"HP100", fmt::format("'{}' in the name {} means nothing", directive, name),
          "use %p (pid), %n (program), %r (rank), %t (start time), %% (a percent sign)",
          "leave it out: the other processes' profiles get their pid", kUsage};
}

Problem agent_stopped(const std::string& reason) {
  return {"HP036", fmt::format("the agent stopped recording before the program's end: {}", reason),
          "run again; if it stops again, report the line above",
          "read the profile as far as it goes: heapprof report FILE", kWarning};
}

Problem launch_failed(const std::string& program, const std::string& reason) {
  return {"HP037", fmt::format("{} could not be started: {}", program, reason),
          fmt::format("start it alone: {}", quoted(program)), "", kFailed};
}

Problem socket_refused(const std::string& path, const std::string& reason) {
  return {"HP043", fmt::format("no socket for the agent at {}: {}", path, reason),
          "name a folder that can be written: TMPDIR=/dev/shm heapprof run -- PROGRAM", "", kFailed};
}

Problem reference_unwinder_missing(const std::string& flag) {
  return {"HP045", fmt::format("{} needs libheapprof-verify.so with libunwind, and it is not loaded", flag),
          "install them: apt install libunwind8, and heapprof whole",
          fmt::format("leave {} out: the default unwinder needs neither", flag), kFailed};
}

Problem events_lost(Share lost) {
  return {"HP038",
          fmt::format("{} events were lost of {}: the numbers are too low", format_count_exact(lost.count),
                      format_count_exact(lost.all)),
          "let the program wait for heapprof: --on-full=wait --stall-timeout 60", "read the profile as a lower bound",
          kWarning};
}

Problem stacks_truncated(Share truncated) {
  return {
      "HP039",
      fmt::format("{} of {} stacks end early ({}): their outer frames are missing", format_count_exact(truncated.count),
                  format_count(truncated.all), format_percent({truncated.count, truncated.all})),
      "build such code with -fasynchronous-unwind-tables or -fno-omit-frame-pointer",
      "bytes and counts are exact all the same", kWarning};
}

Problem modules_bypass_hooks(const std::string& modules) {
  return {"HP040", fmt::format("allocations in {} bypass the hooks and are not in the profile", modules),
          "run with --deepbind=hook if they are loaded with RTLD_DEEPBIND, and without an allocator of their own",
          "read the profile as what the other modules allocate", kWarning};
}

Problem program_replaced(const std::string& program, const std::string& why) {
  return {"HP069",
          fmt::format("the process became {}, which cannot be profiled ({}): the profile ends there", program, why),
          "see what heapprof says of that program: heapprof run -- " + quoted(program),
          "read the profile as that of what ran before", kWarning};
}

Problem programs_not_profiled(const std::string& programs) {
  return {"HP070", fmt::format("programs that were started and cannot be profiled: {}", programs),
          "start dynamically linked ones for this machine and C library; leave forked children a descriptor to spare",
          "read the profiles as those of the other processes", kWarning};
}

Problem names_missing(const std::string& modules, Share peak_bytes) {
  return {"HP068",
          fmt::format("{} of the peak lies in functions without names: {} has no symbols",
                      format_percent_rounded({peak_bytes.count, peak_bytes.all}), modules),
          "install its debug symbols (Debian: PACKAGE-dbgsym), or set DEBUGINFOD_URLS, and run again",
          "build it with -g, and do not strip it", kWarning};
}

Problem self_test_failed(const std::string& functions) {
  return {"HP041", fmt::format("one call did not give one event for: {}", functions),
          "report this line with the versions: heapprof --version; ldd --version",
          "trust the numbers of programs that do not call them", kWarning};
}

Problem clock_without_time(const std::string& clock) {
  return {
      "HP042",
      fmt::format(
          "this machine has no invariant time stamp counter: events are ordered by a {} counter, times are coarse",
          clock),
      "use a machine whose clock source is tsc: cat /sys/devices/system/clocksource/clocksource0/current_clocksource",
      "bytes, counts and order are exact all the same", kWarning};
}

Problem verification_failed(Share mismatched) {
  return {"HP044",
          fmt::format("{} of {} stacks differ from libunwind's", format_count_exact(mismatched.count),
                      format_count_exact(mismatched.all)),
          "report the program and this line",
          "take stacks from libunwind: --unwinder=libunwind   (20-100 times slower per allocation)", kWarning};
}

Problem records_corrupt(uint64_t records) {
  return {"HP046",
          fmt::format("{} records could not be decoded: the program wrote over the agent's memory",
                      format_count_exact(records)),
          "look for a wild write: valgrind PROGRAM", "read the profile as incomplete from that moment on", kWarning};
}

Problem numbers_disagree(const std::string& detail) {
  return {"HP047", fmt::format("the profile contradicts itself: {}", detail),
          "report this line: it is a fault of heapprof", "run again", kFailed};
}

Problem profile_incomplete(const std::string& reason) {
  return {"HP048", fmt::format("the profile is incomplete: {}", reason), "run again, and let the program end by itself",
          "read it as what happened up to then", kWarning};
}

Problem memory_limit_reached(const std::string& reason) {
  return {"HP093", fmt::format("the profile ends early: {}", reason),
          "give heapprof more memory: raise --max-memory, ulimit -v or the control group's limit",
          "read it as it is: everything up to that moment is exact", kWarning};
}

Problem names_not_read(const std::string& modules) {
  return {"HP094", fmt::format("the names in {} could not be read: the file is broken, or memory ran out", modules),
          "give heapprof more memory, or install the file again",
          "look the addresses up yourself: addr2line -e FILE ADDRESS", kWarning};
}

Problem memory_refused(const std::string& purpose) {
  return {"HP095", fmt::format("there is not enough memory to {}", purpose),
          "give heapprof more memory: ulimit -v unlimited",
          "let it stop in time: heapprof run --max-memory 1GiB -- PROGRAM", kFailed};
}

Problem summary_left_out(const std::string& path) {
  return {"HP103", "there was not enough memory left for the whole summary; the profile is written",
          "see it without the limit: heapprof report " + quoted(path),
          "let recording stop in time: heapprof run --max-memory 1GiB -- PROGRAM", kWarning};
}

Problem unknown_flag(const std::string& flag, const std::string& nearest, const std::string& command) {
  const std::string help = fmt::format("see the flags: heapprof {}--help", command.empty() ? "" : command + " ");
  return {"HP050",
          nearest.empty() ? fmt::format("unknown flag: {}", flag)
                          : fmt::format("unknown flag: {}; did you mean {}?", flag, nearest),
          help, command == "run" ? "if it is the program's own flag, put it after the program" : "", kUsage};
}

Problem missing_program() {
  return {"HP051", "no program to run was named", "heapprof run -- PROGRAM ARGUMENTS",
          "read a profile that exists: heapprof report FILE", kUsage};
}

Problem bad_value(const std::string& flag, const std::string& value, const std::string& expected) {
  return {"HP052", fmt::format("{} takes {}, not '{}'", flag, expected, value),
          fmt::format("give {} another value, or leave it out", flag), "", kUsage};
}

Problem missing_value(const std::string& flag, const std::string& placeholder) {
  return {"HP059", fmt::format("{} needs a value", flag), fmt::format("{} {}", flag, placeholder), "", kUsage};
}

Problem ambiguous_size(const std::string& text, const std::string& alternatives) {
  return {"HP053", fmt::format("ambiguous '{}': write {}", text, alternatives), "write the unit in full",
          "give plain bytes, without a unit", kUsage};
}

Problem bad_size(const std::string& text) {
  return {"HP054", fmt::format("'{}' is not a size", text), "write a number and a unit: 512MiB, 1.5GiB or 4096B", "",
          kUsage};
}

Problem unknown_command(const std::string& command, const std::string& nearest) {
  return {"HP055",
          nearest.empty() ? fmt::format("unknown command: {}", command)
                          : fmt::format("unknown command: {}; did you mean {}?", command, nearest),
          "see the commands: heapprof --help",
          fmt::format("to profile a program of that name: heapprof run -- {}", quoted(command)), kUsage};
}

Problem missing_profile(const std::string& command) {
  return {"HP056", "no profile was named", fmt::format("heapprof {} FILE", command),
          "make one: heapprof run -- PROGRAM", kUsage};
}

Problem unknown_device(const std::string& device, const std::string& devices) {
  return {"HP057", fmt::format("the profile has no device '{}', only {}", device, devices),
          "name one of them, or leave --device out", "", kUsage};
}

Problem findings_need_ours(const std::string& file) {
  return {"HP170", fmt::format("{} was not written by heapprof, and lacks what findings go by", file),
          "record the program with heapprof: heapprof run -- PROGRAM",
          fmt::format("look at it without --findings: heapprof report {}", file), kUsage};
}

Problem findings_not_in_form(const std::string& form) {
  return {"HP171", fmt::format("there is no {} of findings, which are words", form),
          "ask for JSON: heapprof report --findings --format json FILE", "leave --format out, for text", kUsage};
}

Problem flags_exclude_each_other(const std::string& first, const std::string& second) {
  return {"HP172", fmt::format("{} and {} ask for different things", first, second),
          fmt::format("leave {} out", second), fmt::format("leave {} out", first), kUsage};
}

Problem unexpected_argument(const std::string& argument, const std::string& command) {
  return {"HP058", fmt::format("'{}' is one argument too many", argument),
          fmt::format("see the usage: heapprof {} -h", command), "", kUsage};
}

Problem metric_not_in_profile(const std::string& file, const std::string& metric) {
  return {"HP067", fmt::format("{} does not say which allocations were {}", file, metric),
          "sort by something else: --sort total", "profile the program with heapprof run, which counts them", kUsage};
}

Problem stdout_not_writable(const std::string& reason) {
  return {"HP066", fmt::format("the output could not be written: {}", reason),
          "free space where it goes, or send it elsewhere: heapprof report FILE | less", "", kFailed};
}

Problem profile_not_readable(const std::string& file, const std::string& reason) {
  return {"HP060", fmt::format("{} cannot be read: {}", file, reason),
          fmt::format("look for it: ls -l {}", quoted(file)), "make a profile: heapprof run -o FILE -- PROGRAM",
          kBadProfile};
}

Problem profile_not_json(const std::string& file, uint64_t offset_bytes, const std::string& reason) {
  return {"HP061", fmt::format("{} is not JSON: {} (byte {})", file, reason, format_count_exact(offset_bytes)),
          "name a profile of heapprof run, of valgrind --tool=dhat or of dhat-rs",
          "if the file was cut off, make it again: heapprof run", kBadProfile};
}

Problem profile_not_dhat(const std::string& file, const std::string& reason) {
  return {"HP062", fmt::format("{} is JSON, but no profile: {}", file, reason),
          "name a profile of heapprof run, of valgrind --tool=dhat or of dhat-rs", "", kBadProfile};
}

Problem profile_too_new(const std::string& file, const std::string& what, Versions versions) {
  return {
      "HP063",
      fmt::format("{} has {} of version {}; this heapprof reads up to {}", file, what, versions.found, versions.known),
      "read it with the heapprof that wrote it, or a newer one", "", kBadProfile};
}

Problem profile_broken(const std::string& file, const std::string& reason) {
  return {"HP064", fmt::format("{} contradicts itself: {}", file, reason), "make the profile again: heapprof run", "",
          kBadProfile};
}

Problem profile_too_large(const std::string& file, Sizes sizes) {
  return {"HP065",
          fmt::format("{} has {}, more than the {} that heapprof reads", file, format_bytes(sizes.found_bytes),
                      format_bytes(sizes.limit_bytes)),
          "write a smaller profile: leave --all-sites out", "", kBadProfile};
}

Problem suppressions_not_readable(const std::string& file, const std::string& reason) {
  return {"HP080", fmt::format("the suppressions in {} cannot be read: {}", file, reason),
          fmt::format("look for the file: ls -l {}", quoted(file)), "leave --suppressions out: every leak is shown",
          kUsage};
}

Problem suppression_broken(const FileLine& at, const std::string& reason) {
  return {"HP081", fmt::format("{}, line {}: {}", at.file, at.line, reason),
          "write it like this: function:GLOB module:GLOB <- file:GLOB  # why this leak is known",
          "leave the line out: what it would suppress is shown as leaked", kUsage};
}

Problem nothing_to_merge() {
  return {"HP082", "no profiles were named", "heapprof merge -o OUT FILE FILE", "name the folder that they lie in",
          kUsage};
}

Problem folder_without_profiles(const std::string& folder) {
  return {"HP083", fmt::format("there is no *.json or *.json.gz in {}", folder),
          fmt::format("look what is in it: ls -l {}", quoted(folder)), "name the profiles one by one", kUsage};
}

Problem profiles_do_not_add(const std::string& first, const std::string& second, const std::string& why) {
  return {"HP084", fmt::format("{} and {} do not add up: {}", first, second, why),
          "merge those of one kind, each kind into a file of its own", "look at each: heapprof report FILE", kUsage};
}

Problem profile_named_twice(const std::string& file) {
  return {"HP085", fmt::format("{} is named twice: it would be counted twice", file), "name it once",
          fmt::format("if you mean it: cp {} copy.json, and name the copy", quoted(file)), kUsage};
}

Problem output_not_named(const std::string& command) {
  return {"HP086", fmt::format("heapprof {} was not told where to write", command),
          fmt::format("heapprof {} -o OUT FILE FILE", command), "", kUsage};
}

Problem different_commands(const std::string& base, const std::string& current) {
  return {"HP120", fmt::format("base is of '{}', current of '{}'", base, current),
          "compare runs of one command: heapprof diff BASE CURRENT",
          "if it is meant, read on: functions are matched by name, whoever runs them", kWarning};
}

Problem nothing_to_compare() {
  return {"HP121", "two profiles are needed: what was before, and what is now", "heapprof diff BASE CURRENT",
          "look at one profile alone: heapprof report FILE", kUsage};
}

Problem profile_not_whole(const std::string& file, const std::string& reason) {
  return {"HP122", fmt::format("{} is incomplete: {}", file, reason),
          fmt::format("make it again: heapprof run -o {} -- PROGRAM", quoted(file)),
          "read its numbers as lower bounds: what the changes say may be wrong", kBadProfile};
}

Problem tools_count_differently(const std::string& base_of, const std::string& current_of) {
  return {"HP123", fmt::format("{}, {}: they do not count the same", base_of, current_of),
          "make both with one tool: heapprof run -o FILE -- PROGRAM",
          "trust large changes only: empty blocks and what was allocated before main() are counted differently",
          kWarning};
}

Problem folder_needs_folder(const std::string& folder, const std::string& file) {
  return {"HP124", fmt::format("{} is a folder, which is compared with a folder, not with {}", folder, file),
          "name two folders, whose profiles are paired by command", "name two profiles: heapprof diff BASE CURRENT",
          kUsage};
}

Problem profiles_without_partner(const std::string& files) {
  return {"HP125", fmt::format("no partner, so not compared: {}", files),
          "profile the same commands for both folders, or give files the same name",
          "compare two of them: heapprof diff BASE CURRENT", kWarning};
}

Problem no_command_in_both(const std::string& base, const std::string& current) {
  return {"HP126", fmt::format("no command was profiled in both {} and {}", base, current),
          "profile the same commands for both folders, or give files the same name",
          "compare two of them: heapprof diff BASE CURRENT", kUsage};
}

Problem no_base_of_command(const std::string& folder, const std::string& command) {
  return {"HP127", fmt::format("no profile in {} is of the command '{}'", folder, command),
          "name the profile to compare with: heapprof diff BASE CURRENT",
          fmt::format("see what they are of: heapprof report {}/FILE", quoted(folder)), kUsage};
}

Problem format_not_named(const std::string& formats) {
  return {"HP130", "no format was named", fmt::format("add --format FORM; FORM is one of {}", formats),
          "read it with heapprof's own means: heapprof report FILE", kUsage};
}

Problem binary_on_terminal(const std::string& format, const std::string& file) {
  return {"HP131", fmt::format("{} is binary, and standard output is a terminal", format),
          fmt::format("heapprof export --format {} -o OUT {}", format, quoted(file)),
          "send it to a file or a program: … >OUT", kUsage};
}

Problem metric_not_exported(const std::string& format) {
  return {"HP132", fmt::format("--format {} takes no --metric: the file holds all of them", format),
          "leave --metric out, and choose in the viewer", "choose a format of one metric: --format folded", kUsage};
}

Problem history_not_named() {
  return {"HP133", "no file of history was named", "heapprof history FILE.jsonl",
          "begin one: heapprof history --add FILE.jsonl PROFILE", kUsage};
}

Problem history_line_unusable(const FileLine& at, const std::string& reason) {
  return {"HP134", fmt::format("{} line {} is left out: {}", at.file, at.line, reason),
          fmt::format("look at it: sed -n {}p {}", at.line, quoted(at.file)),
          "the other lines count; nothing else is lost", kWarning};
}

Problem history_not_readable(const std::string& file, const std::string& reason) {
  return {"HP135", fmt::format("the history {} cannot be read: {}", file, reason),
          fmt::format("check the path and its permissions: ls -l {}", quoted(file)),
          fmt::format("begin one: heapprof history --add {} PROFILE", quoted(file)), kBadProfile};
}

Problem history_not_writable(const std::string& file, const std::string& reason) {
  return {"HP136", fmt::format("nothing was added to the history {}: {}", file, reason),
          fmt::format("check its folder, its permissions and the room on its disk: ls -l {}", quoted(file)),
          "name a file elsewhere; lines of two files can be joined by cat", kFailed};
}

Problem nothing_in_history(const std::string& file, const std::string& wanted, const std::string& there) {
  return {"HP137", fmt::format("{} has no records of {}", file, wanted), fmt::format("it has these: {}", there),
          "leave the filters out to see all", kUsage};
}

Problem nothing_to_add(const std::string& file) {
  return {"HP138", "no profile was named to be added", fmt::format("heapprof history --add {} PROFILE", quoted(file)),
          fmt::format("to look at what is there: heapprof history {}", quoted(file)), kUsage};
}

Problem process_not_found(const std::string& pid) {
  return {"HP087", fmt::format("there is no process {}", pid), "look for it: ps -ef", "", kFailed};
}

Problem process_not_profiled(const std::string& pid) {
  return {"HP088", fmt::format("process {} is not being profiled", pid),
          "start it under heapprof: heapprof run -- PROGRAM",
          "name another process of the run; those that never allocated are not known", kFailed};
}

Problem process_not_ours(const std::string& pid) {
  return {"HP090", fmt::format("process {} belongs to another user: its run cannot be found", pid),
          fmt::format("ask as that user: sudo -u '#UID' heapprof snapshot {}", pid),
          "ask by the pid of its heapprof run, as the same user", kFailed};
}

Problem snapshot_refused(const std::string& pid, const std::string& reason) {
  return {"HP089", fmt::format("no snapshot of process {}: {}", pid, reason),
          fmt::format("ask again: heapprof snapshot {}", pid), "wait for its end: the profile is written then",
          kFailed};
}

Problem nobody_answers(const std::string& pid) {
  return {"HP092",
          fmt::format("the heapprof that profiles process {} does not answer: it has ended, or is stopped", pid),
          "see whether it runs: ps -C heapprof -o pid,stat,args", "", kFailed};
}

Problem missing_pid(const std::string& command) {
  return {"HP091", fmt::format("no process was named"), fmt::format("heapprof {} PID", command),
          "list those that are profiled: pgrep -P \"$(pgrep -x heapprof)\"", kUsage};
}

namespace {

std::string place_text(const FileLine& at) {
  return at.line == 0 ? at.file : fmt::format("{}, line {}", at.file, at.line);
}

}  // namespace

Problem nothing_to_check() {
  return {"HP140", "there is nothing to check: no profile, no command, no budget",
          "heapprof check --max-peak host=512MiB -- PROGRAM ARGUMENTS",
          "check a profile that exists: heapprof check --max-peak host=512MiB FILE", kUsage};
}

Problem no_limits(const std::string& what) {
  return {"HP141", fmt::format("no limit is set for {}", what), "set one: --max-peak host=512MiB, or --baseline FILE",
          "write them into a file: heapprof check --budget heapprof.toml", kUsage};
}

Problem budget_not_readable(const std::string& file, const std::string& reason) {
  return {"HP142", fmt::format("the budget in {} cannot be read: {}", file, reason),
          fmt::format("look for the file: ls -l {}", quoted(file)), "set limits by flags: --max-peak host=512MiB",
          kUsage};
}

Problem budget_broken(const FileLine& at, const std::string& reason) {
  return {"HP143", fmt::format("{}: {}", place_text(at), reason), "write it as man heapprof-check shows",
          "leave it out: what it would limit is not checked", kUsage};
}

Problem unknown_budget_key(const FileLine& at, const std::string& key, const std::string& nearest,
                           const std::string& known) {
  return {"HP144",
          nearest.empty() ? fmt::format("{}: unknown key '{}'", place_text(at), key)
                          : fmt::format("{}: unknown key '{}'; did you mean {}?", place_text(at), key, nearest),
          fmt::format("the keys here are {}", known), "turn it into a comment: put # in front of it", kUsage};
}

Problem limit_for_unknown_device(const FileLine& at, const std::string& device, const std::string& devices) {
  return {"HP145", fmt::format("{}: the program used no device '{}', only {}", place_text(at), device, devices),
          "name one of them",
          "if it may run without that device: put the limit under [defaults], where this is a warning", kUsage};
}

Problem limit_not_needed(const FileLine& at, const std::string& device, const std::string& devices) {
  return {"HP146", fmt::format("{}: the program used no device '{}', only {}", place_text(at), device, devices),
          "see whether it should have: heapprof report FILE", "leave the limit out where the device is not used",
          kWarning};
}

Problem site_matches_nothing(const FileLine& at, const std::string& pattern) {
  return {"HP147", fmt::format("{}: no stack has a frame that matches '{}'", place_text(at), pattern),
          "see what the functions are called: heapprof report --all-frames --tree FILE",
          "leave the limit out; one of 0 says that it must not appear, and does not warn", kWarning};
}

Problem limit_not_measured(const FileLine& at, const std::string& file, const std::string& why) {
  return {"HP148", fmt::format("{}: {} cannot say: {}", place_text(at), file, why),
          "check the profiles that were merged, one by one", "limit total, leaked or allocations: they add up", kUsage};
}

Problem no_budget_for(const std::string& profile, const std::string& command, const std::string& file) {
  return {"HP149", fmt::format("{} has no budget for {}, a profile of: {}", file, profile, command),
          "say which one it is: --name BUDGET", "give a budget the profile's command", kUsage};
}

Problem no_budget_named(const std::string& glob, const std::string& names) {
  return {"HP150", fmt::format("no budget matches --name '{}', only {} are there", glob, names), "name one of them",
          "leave --name out: each profile is checked by the budget with its command", kUsage};
}

Problem budget_without_command(const FileLine& at, const std::string& name) {
  return {"HP151", fmt::format("{}: the budget '{}' has no command to run", place_text(at), name),
          "give it one: command = [\"./render\", \"small.usd\"]",
          fmt::format("check a profile: heapprof check --name {} FILE", quoted(name)), kUsage};
}

Problem checked_program_failed(const std::string& program, const std::string& how) {
  return {"HP152", fmt::format("{} failed: {}; its memory is not judged", program, how),
          "see why: run it without heapprof", "look at what was recorded: heapprof report FILE", kProgramFailed};
}

Problem checked_profile_incomplete(const std::string& file, const std::string& reason) {
  return {"HP153", fmt::format("{} is incomplete: {}; its memory is not judged", file, reason), "run the program again",
          "see what is missing: heapprof report FILE", kBadProfile};
}

Problem checked_without_profile(const std::string& program) {
  return {"HP154", fmt::format("no profile of {} was made", program), "see what is in the way: heapprof doctor",
          "see it alone: heapprof run -- PROGRAM", kBadProfile};
}

Problem baseline_missing(const std::string& file) {
  return {"HP155", fmt::format("there is no baseline {}", file), "make it: the same command with --update-baseline",
          "leave the baseline out: only the limits are checked", kUsage};
}

Problem baseline_of_other_program(const std::string& file, const std::string& other, const std::string& program) {
  return {"HP156", fmt::format("the baseline {} is of {}, not of {}", file, other, program),
          "name the right one: --baseline FILE", "replace it: the same command with --update-baseline", kUsage};
}

Problem baseline_counts_otherwise(const std::string& file) {
  return {"HP157", fmt::format("the baseline {} is of another tool, or only one of the two is merged", file),
          "make it like the profile: the same command with --update-baseline",
          "leave the baseline out: only the limits are checked", kUsage};
}

Problem budget_not_updated(const std::string& file, const std::string& reason) {
  return {"HP158", fmt::format("{} was not updated: {}", file, reason), "check again with --update-budget",
          "write the values by hand: they stand in the lines above", kFailed};
}

Problem nothing_to_update(const std::string& flag, const std::string& why) {
  return {"HP159", fmt::format("{} has nothing to write to: {}", flag, why),
          "name the file: --budget FILE for limits, --baseline FILE for a profile", fmt::format("leave {} out", flag),
          kUsage};
}

Problem runs_of_profiles(const std::string& flag) {
  return {"HP160", fmt::format("{} is for a command that heapprof check runs itself", flag),
          "name the command: heapprof check --runs 3 -- PROGRAM",
          fmt::format("leave {} out: each profile is judged alone", flag), kUsage};
}

Problem baseline_of_failed_program(const std::string& file) {
  return {"HP162", fmt::format("the baseline {} is of a program that failed: what it took says nothing", file),
          "make it again with a run that succeeds: heapprof check --update-baseline …",
          "set limits instead: heapprof check --max-peak SIZE -- PROGRAM", kBadProfile};
}

Problem only_defaults_apply(const std::string& program, const std::string& file) {
  return {"HP163", fmt::format("no budget of {} is for {}: its defaults apply", file, program),
          "add a [[budget]] with that command, or mend the one that was meant",
          "name the budget: heapprof check --name NAME …", kWarning};
}

Problem others_not_judged(uint64_t processes) {
  return {"HP161",
          fmt::format("{} that the program started {} not judged: only the program itself is",
                      processes == 1 ? "1 process" : fmt::format("{} processes", processes),
                      processes == 1 ? "was" : "were"),
          "keep their profiles and check them too: heapprof run -o p.json -- PROGRAM; heapprof check FILE FILE",
          "name the program that matters, without the script around it", kWarning};
}

std::string errno_text(int error_number) {
  std::string text = std::strerror(error_number);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string format_problem(const Problem& problem, bool coloured) {
  const bool warning = problem.exit_code == kWarning;
  const char* word = warning ? "warning" : "error";
  const char* paint = warning ? "\x1b[33m" : "\x1b[31m";
  std::string text = fmt::format("heapprof: {}{}{}: {} [{}]\n", coloured ? paint : "", word, coloured ? "\x1b[0m" : "",
                                 escape_controls(problem.what), problem.id);
  if (!problem.fix.empty()) text += fmt::format("  fix:     {}\n", escape_controls(problem.fix));
  if (!problem.instead.empty()) text += fmt::format("  instead: {}\n", escape_controls(problem.instead));
  return text;
}

void print_problem(const Problem& problem, ColorMode mode) {
  const std::string text = format_problem(problem, inspect_terminal(STDERR_FILENO, mode).colored);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int run_exit_code(const Problem& problem) {
  return problem.exit_code == kCannotRun || problem.exit_code == kNotFound ? problem.exit_code : 125;
}

}  // namespace heapprof::cli
