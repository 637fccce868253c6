// cli/base/problems_run.cc: the words of errors and warnings: around a run, and about snapshots.
#include "cli/base/problem_words.h"
#include "cli/base/units.h"

#include <fmt/format.h>

#include <cerrno>

namespace heapprof::cli {

namespace {

constexpr const char* kRaiseFiles = "raise the limit of open files before the start: ulimit -Hn 1048576";

// Whether a reason contains strerror's text for an error, or ours.
bool is_about(int error, const std::string& reason) {
  return reason.find(std::strerror(error)) != std::string::npos || reason.find(errno_text(error)) != std::string::npos;
}

// Returns the fix for a refused memfd_create, or for a refused later call that sizes or maps it. A seccomp filter
// answers with EPERM or ENOSYS, a security module with EACCES.
std::string arena_fix(const std::string& reason) {
  if (is_about(EMFILE, reason) || is_about(ENFILE, reason)) return kRaiseFiles;
  if (is_about(EFBIG, reason)) return "raise the limit of a file's size before the start: ulimit -f unlimited";
  for (const int error : {EPERM, ENOSYS, EACCES}) {
    if (is_about(error, reason)) return "allow memfd_create in the container's seccomp profile";
  }
  return "see what this machine lacks: heapprof doctor";
}

}  // namespace

Problem kernel_has_other_pages(uint64_t page_bytes) {
  return {"HP017",
          fmt::format("the kernel here has pages of {}, and heapprof knows pages of 4.00 KiB alone",
                      format_bytes(page_bytes)),
          "start a kernel with pages of 4 KiB: getconf PAGESIZE tells", "profile the program on a machine that has one",
          kFailed};
}

Problem agent_not_found(const std::string& looked_at) {
  return {"HP030", fmt::format("the agent is not at {}", looked_at),
          "install heapprof whole: cmake --install build/release",
          "run bin/heapprof from the folder in which it was built or unpacked", kFailed};
}

Problem output_not_writable(const std::string& file, const std::string& reason) {
  return {"HP031", fmt::format("{} cannot be written: {}", file, reason), "name another place, such as a file in /tmp",
          "", kFailed};
}

Problem profile_elsewhere(const std::string& file, const std::string& reason, const std::string& elsewhere) {
  return {"HP345", fmt::format("{} could not be written ({}): the profile is in {}", file, reason, elsewhere),
          fmt::format("move it to where it is to be: mv {} FOLDER", quoted(elsewhere)),
          fmt::format("read it there: heapprof report {}", quoted(elsewhere)), kFailed};
}

Problem output_not_trusted(const std::string& file, const std::string& found) {
  return {"HP330", fmt::format("{} was not written to: {}, in a folder that all may write to", file, found),
          "name a file in a folder of your own", "remove what is there, if you know it, and run again", kFailed};
}

Problem agent_path_not_loadable(const std::string& agent, const std::string& reason) {
  return {"HP332",
          fmt::format("the agent's path {} cannot stand in LD_PRELOAD, and a link to it cannot be made: {}",
                      quoted(agent), reason),
          "move heapprof to a folder without a blank, a colon and a dollar sign in its name",
          "set TMPDIR to such a folder in which links can be made", kFailed};
}

Problem output_is_directory(const std::string& file) {
  return {
      "HP049", fmt::format("{} cannot be written: it is a directory", file),
      fmt::format("name a file in it, such as {}", quoted(file + (file.ends_with('/') ? "" : "/") + "profile.json")),
      "choose a name that is free: the file is made", kFailed};
}

Problem disk_full(const std::string& file, const std::string& reason) {
  return {"HP032",
          fmt::format("writing {} ended early ({}): nothing was saved, an earlier file is as it was", file, reason),
          "free space, or name another place, such as a file in /dev/shm", "", kFailed};
}

Problem nothing_profiled(const std::string& program) {
  return {"HP033", fmt::format("nothing was profiled: no agent answered from {}", program),
          fmt::format("see whether the loader takes the agent, and whether the program starts itself anew without "
                      "LD_PRELOAD: LD_DEBUG=libs heapprof run {} 2>&1 | grep libheapprof",
                      quoted(program)),
          valgrind_instead(program), kFailed};
}

Problem program_did_not_start(const std::string& program, const std::string& end) {
  const std::string file =
      program.find('/') == std::string::npos ? "\"$(command -v " + quoted(program) + ")\"" : quoted(program);
  return {"HP186", fmt::format("{} ended before an agent answered ({}): nothing was profiled", program, end),
          "read what it said, and see whether a library (ldd " + file + ") or a limit (ulimit -a) is the cause",
          "start it without heapprof until it runs: " + quoted(program), kFailed};
}

Problem children_never_profiled(uint64_t count, const std::string& names, const std::string& program) {
  const std::string who =
      count == 1 ? "1 process that the program started ran on after its end and was never profiled"
                 : fmt::format("{} processes that the program started ran on after its end and were never profiled",
                               format_count(count));
  return {"HP187", names.empty() ? who : fmt::format("{}: {}", who, names),
          "stay until they end: heapprof run --wait -- " + quoted(program),
          "read the profiles as those of the other processes", kWarning};
}

Problem protocol_mismatch(Versions agent) {
  return {"HP034",
          fmt::format("the agent speaks protocol version {}, this heapprof speaks {}", agent.found, agent.known),
          "install agent and tool from one build", "run bin/heapprof from the folder in which it was built or unpacked",
          kFailed};
}

Problem arena_refused(const std::string& reason) {
  return {"HP035", fmt::format("the kernel gives no shared memory for the events ({})", reason), arena_fix(reason),
          "run heapprof outside the container, or without the limit", kFailed};
}

Problem processes_refused(uint64_t processes, const std::string& reason) {
  std::string fix = arena_fix(reason);
  if (is_about(ENOMEM, reason)) fix = "run fewer processes at a time, or on a machine with more memory";
  return {"HP101", fmt::format("{} ran without being profiled: {}", format_counted(processes, "process"), reason), fix,
          "profile only the programs that matter: heapprof run --follow=NAME PROGRAM", kWarning};
}

Problem root_image_replaced(const std::string& program, const std::string& became) {
  const std::string file = became.empty() ? "another program" : became;
  return {"HP102", fmt::format("{} became {} by exec, which no agent entered: the profile ends there", program, file),
          became.empty() ? "start that program itself under heapprof"
                         : fmt::format("see what heapprof says of it: heapprof run -- {}", quoted(became)),
          fmt::format("read the profile as that of {}", program), kWarning};
}

Problem device_was_full(const std::string& device, uint64_t refused) {
  return {"HP111",
          fmt::format("{} had no memory for {}: its peak is what it gave, not what was asked for", device,
                      format_counted(refused, "allocation")),
          "see who asked and who held the memory: heapprof report FILE",
          "run where the device has more memory, and compare that", kWarning};
}

Problem limit_of_unused_device(const std::string& device) {
  return {"HP112", fmt::format("no process used {}: its limit changed nothing", device),
          "name a device of the program's: those it used are in the table above", "leave the limit out", kWarning};
}

Problem nvtx_tool_unreadable(const std::string& file, const std::string& reason) {
  return {
      "HP208",
      fmt::format(
          "the variable NVTX_INJECTION64_PATH names {}, which cannot be read ({}): no range of NVTX will be a scope",
          file, reason),
      "unset it: env -u NVTX_INJECTION64_PATH heapprof run …", "leave NVTX alone, and hear no more of it: --no-nvtx",
      kWarning};
}

Problem nvtx_left_to_cuda_tool(const std::string& file) {
  return {"HP209",
          fmt::format("the variable CUDA_INJECTION64_PATH names {}, which may want NVTX for itself: ranges are scopes "
                      "only if it does",
                      file),
          "unset it: env -u CUDA_INJECTION64_PATH heapprof run …",
          "leave NVTX alone, and hear no more of it: --no-nvtx", kWarning};
}

Problem agent_stopped(const std::string& reason) {
  return {"HP036", fmt::format("the agent stopped recording before the program's end: {}", reason),
          "run again; if it stops again, report the line above",
          "read the profile as far as it goes: heapprof report FILE", kWarning};
}

Problem launch_failed(const std::string& program, const std::string& reason) {
  const bool is_files = is_about(EMFILE, reason) || is_about(ENFILE, reason);
  return {"HP037", fmt::format("{} could not be started: {}", program, reason),
          is_files ? kRaiseFiles : fmt::format("start it alone: {}", quoted(program)), "", kFailed};
}

Problem socket_refused(const std::string& path, const std::string& reason) {
  return {"HP043", fmt::format("no socket for the agent at {}: {}", path, reason),
          is_about(EMFILE, reason) || is_about(ENFILE, reason)
              ? kRaiseFiles
              : "name a folder that can be written: TMPDIR=/dev/shm heapprof run -- PROGRAM",
          "", kFailed};
}

Problem reference_unwinder_missing(const std::string& flag) {
  return {"HP045", fmt::format("{} needs libheapprof-verify.so with libunwind, and it is not loaded", flag),
          "install them: apt install libunwind8, and heapprof whole",
          fmt::format("leave {} out: the default unwinder needs neither", flag), kFailed};
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

Problem process_not_found(const std::string& pid) {
  return {"HP087", fmt::format("there is no process {}", pid), "look for it: ps -ef", "", kFailed};
}

Problem process_not_profiled(const std::string& pid) {
  return {"HP088", fmt::format("process {} is not being profiled", pid),
          fmt::format("profile it from now on: heapprof attach {}", pid),
          "start it under heapprof (heapprof run -- PROGRAM), or name another process of the run that has allocated",
          kFailed};
}

Problem process_not_ours(const std::string& pid, const std::string& user, const std::string& command) {
  return {"HP090", fmt::format("process {} belongs to {}: its run cannot be found", pid, user),
          fmt::format("ask as that user: sudo -u {} heapprof {} {}", quoted(user), command, pid),
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

Problem attach_refused(const std::string& pid, const std::string& reason) {
  return {"HP280", fmt::format("process {} cannot be traced: {}", pid, reason),
          "be its user, or root: sudo heapprof attach " + pid +
              "; where Yama forbids it: sudo sysctl kernel.yama.ptrace_scope=0; in a container: --cap-add SYS_PTRACE",
          "start it under heapprof: heapprof run -- PROGRAM", kFailed};
}

Problem attach_impossible(const std::string& pid, const std::string& reason) {
  return {"HP281", fmt::format("process {} cannot be attached to: {}", pid, reason),
          "start it under heapprof, which says what it can see: heapprof run -- PROGRAM",
          "sample its resident memory: heapprof doctor tells what else this machine has", kFailed};
}

Problem attach_unsupported(const std::string& processor) {
  return {
      "HP289", fmt::format("heapprof attaches to processes on x86-64 alone, and this heapprof is for {}", processor),
      "start the program under heapprof: heapprof run -- PROGRAM",
      "without recording until you want it: heapprof run --start paused -- PROGRAM, then heapprof resume PID", kFailed};
}

Problem attach_found_no_thread(const std::string& pid, const std::string& obstacle) {
  return {
      "HP282",
      fmt::format("in 10 s heapprof found no thread of process {} that it may stop for a moment: {}", pid, obstacle),
      fmt::format("try again when the process does something else: heapprof attach {}", pid),
      "start it under heapprof: heapprof run -- PROGRAM", kFailed};
}

Problem attach_sees_no_agent(const std::string& pid, const std::string& agent) {
  return {
      "HP283", fmt::format("process {} sees other files than heapprof does, and no {} among them", pid, agent),
      fmt::format("put the agent there, at the same path: sudo install -D {0} /proc/{1}/root{0}", quoted(agent), pid),
      "run heapprof inside its container", kFailed};
}

Problem attach_failed(const std::string& pid, const std::string& reason) {
  return {"HP284", fmt::format("heapprof could not work in process {}: {}", pid, reason),
          fmt::format("try again: heapprof attach {}", pid), "start it under heapprof: heapprof run -- PROGRAM",
          kFailed};
}

Problem already_profiled(const std::string& pid) {
  return {"HP285", fmt::format("process {} is being profiled already", pid),
          fmt::format("take a profile of it: heapprof snapshot {}", pid), fmt::format("watch it: heapprof top {}", pid),
          kFailed};
}

Problem bad_attach_time(const std::string& value) {
  return {"HP286", fmt::format("--for takes a time, not {}", quoted(value)),
          "such as --for 30s, --for 5min or --for 2h",
          "leave it out: heapprof attach stays until Ctrl-C, or until the process ends", kUsage};
}

Problem process_not_attached(const std::string& pid) {
  return {"HP288", fmt::format("no heapprof is attached to process {}", pid),
          "if it was started by heapprof run, end that: its profile is written then",
          fmt::format("take a profile of it: heapprof snapshot {}", pid), kFailed};
}

Problem detach_failed(const std::string& pid, const std::string& reason) {
  return {"HP287", fmt::format("the hooks in process {} were not led back: {}; they record no more", pid, reason),
          "none is needed: each call of malloc takes some nanoseconds longer until the process ends",
          fmt::format("attach again, and detach: heapprof attach --for 1s {}", pid), kWarning};
}

Problem top_refused(const std::string& pid, const std::string& reason) {
  return {"HP239", fmt::format("no live view of process {}: {}", pid, reason),
          fmt::format("ask again: heapprof top {}", pid), fmt::format("take a profile: heapprof snapshot {}", pid),
          kFailed};
}

Problem live_needs_output(const std::string& program) {
  return {"HP240", "--live shares the terminal with the program, whose output would be in the view",
          fmt::format("send that to a file: heapprof run --live --child-output out.txt -- {}", quoted(program)),
          "run it without --live, and use: heapprof top PID in another terminal", kUsage};
}

Problem live_needs_terminal(const std::string& program) {
  return {"HP241", "--live needs a terminal as standard input and output",
          fmt::format("run it in a terminal: heapprof run --live --child-output out.txt -- {}", quoted(program)),
          "run it without --live, and use: heapprof top PID in another terminal", kUsage};
}

Problem bad_top_interval(const std::string& text) {
  return {"HP242", fmt::format("'{}' is no interval between samples", text),
          "write a time from 250ms to 1h, in whole ms, s or min: --interval 2s",
          "leave the flag out: there is a sample each second", kUsage};
}

}  // namespace heapprof::cli
