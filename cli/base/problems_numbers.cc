// cli/base/problems_numbers.cc: the words of errors and warnings: about a profile's numbers.
#include "cli/base/problem_words.h"
#include "cli/base/units.h"

#include <fmt/format.h>

namespace heapprof::cli {

Problem events_lost(Share lost) {
  return {"HP038",
          fmt::format("{} events were lost of {}: the numbers are too low", format_count_exact(lost.count),
                      format_count_exact(lost.all)),
          "let the program wait for heapprof, if it did not: --on-full=wait --stall-timeout 60",
          "read the profile as a lower bound", kWarning};
}

Problem stacks_truncated(Share truncated, const std::string& runtime) {
  const std::string share =
      fmt::format("{} of {} stacks ", format_count_exact(truncated.count), format_count(truncated.all));
  const std::string percent = format_percent({truncated.count, truncated.all});
  if (!runtime.empty()) {
    return {"HP039", fmt::format("{}go by frame pointers through code that {} compiled ({})", share, runtime, percent),
            "none is needed: their outer callers may be missing, or one too many be there",
            "bytes and counts are exact all the same", kWarning};
  }
  return {
      "HP039", fmt::format("{}end early ({}): their outer frames are missing", share, percent),
      "where code has no unwind tables, compile it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer; of a "
      "stack of more than 32,768 frames the inner 1,024 are kept",
      "bytes and counts are exact all the same", kWarning};
}

Problem objects_in_own_pool(const std::string& owner, Share peak_bytes, const std::string& command) {
  return {"HP340",
          fmt::format("{} of the peak are pieces from which {} cuts its objects: who asks for these is not seen",
                      format_percent_rounded({peak_bytes.count, peak_bytes.all}), owner),
          command, "read the numbers as what that allocator took from the system", kWarning};
}

Problem modules_bypass_hooks(const std::string& modules) {
  return {"HP040", fmt::format("allocations in {} bypass the hooks and are not in the profile", modules),
          "run with --deepbind=hook if they are loaded with RTLD_DEEPBIND (dlmopen cannot be helped), and without an "
          "allocator of their own",
          "read the profile as what the other modules allocate", kWarning};
}

Problem functions_unknown(const std::string& functions) {
  return {"HP113",
          fmt::format("the program asked the CUDA driver for {}: what that gives out is not counted", functions),
          "use a heapprof that knows that version of CUDA", "read the numbers of devices as lower bounds", kWarning};
}

Problem nvtx_left_to_tool(uint64_t objects) {
  return {
      "HP210",
      fmt::format("{} NVTX with another tool than those before: ranges there are no scopes",
                  objects == 1 ? "1 library or program uses" : format_count(objects) + " libraries and programs use"),
      "let no tool set NVTX_INJECTION64_PATH while the program runs", "read the scopes as those of the others",
      kWarning};
}

Problem device_memory_unmatched(uint64_t events) {
  return {"HP114",
          fmt::format("{} on device memory whose beginning was not seen: not all of it may be counted",
                      format_counted(events, "operation")),
          "see in man heapprof-run, CUDA, what is not counted", "read the numbers of devices as lower bounds",
          kWarning};
}

Problem interpreters_not_read(const std::string& interpreters) {
  return {"HP230", fmt::format("the frames of {} cannot be read: scripts have no lines in the stacks", interpreters),
          "use Python 3.8 to 3.15, or a heapprof that knows that version",
          "read the interpreter's own functions; bytes and counts are exact all the same", kWarning};
}

Problem python_frames_broken(uint64_t stacks) {
  return {"HP231",
          fmt::format("{} did not lead to a Python frame: frames of such stacks are missing",
                      format_counted(stacks, "Python stack")),
          "look for extensions that write into the interpreter's frames", "bytes and counts are exact all the same",
          kWarning};
}

Problem python_calls_unread(uint64_t sites) {
  return {"HP233",
          fmt::format("{} lead through a subinterpreter of Python: of it and of what called it, one has no frames",
                      format_counted(sites, "site")),
          "with Python 3.12 and newer the subinterpreter's own frames are read: use that",
          "read what is missing by the interpreter's own functions; bytes and counts are exact all the same", kWarning};
}

Problem python_codes_lost(uint64_t times) {
  return {"HP232",
          fmt::format("{} of Python had no room among those that are known, and has no name",
                      format_counted(times, "frame")),
          "make fewer code objects while the program runs (exec, eval, lambda)",
          "bytes and counts are exact all the same", kWarning};
}

Problem objects_not_recorded(const std::string& reason) {
  return {"HP234", fmt::format("the objects of Python are not recorded: {}", reason),
          "use CPython 3.8 to 3.14 with its lock, which the program starts with or loads before Py_Initialize",
          "see each object as a block of the host: PYTHONMALLOC=malloc   (free-threaded builds refuse that)", kWarning};
}

Problem tensors_without_address(uint64_t reports) {
  return {"HP235",
          fmt::format("{} of PyTorch's memory named no block: tensors have no device of their own",
                      format_counted(reports, "report")),
          "use PyTorch 1.7 or newer", "read what its allocator took from the driver: cuda:0 and so on", kWarning};
}

Problem operators_not_recorded(const std::string& reason) {
  return {"HP236", fmt::format("the operators of PyTorch are not recorded: {}", reason), "use PyTorch 1.12 or newer",
          "name operations in the program: heapprof.scope(\"forward\")", kWarning};
}

Problem operators_without_scopes(uint64_t operators) {
  return {"HP237",
          fmt::format("{} of PyTorch became no {}: what was allocated in {} is that of the scope around",
                      format_counted(operators, "operator"), operators == 1 ? "scope" : "scopes",
                      operators == 1 ? "it" : "them"),
          "nest fewer than 256, and run one before a thread filters its system calls",
          "bytes and counts of the whole run are exact all the same", kWarning};
}

Problem operators_need_stacks() {
  return {"HP238", "--torch-ops does not go with --unwinder=fp: such stacks do not say when PyTorch may be asked",
          "leave --unwinder out", "leave --torch-ops out, and name operations: heapprof.scope(\"forward\")", kUsage};
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

Problem script_without_names(const std::string& language, const std::string& device, Share peak_bytes,
                             uint64_t truncated, const std::string& command) {
  const std::string verb = truncated == 1 ? "goes" : "go";
  const std::string through =
      truncated == 0 ? "" : fmt::format("; {} {} by frame pointers there", format_counted(truncated, "stack"), verb);
  return {"HP097",
          fmt::format("{} of the {} peak is asked for by {} functions without names{}",
                      format_percent_rounded({peak_bytes.count, peak_bytes.all}), device, language, through),
          command, "", kWarning};
}

Problem names_missing(const std::string& module, Share peak_bytes, const NamesAdvice& advice) {
  const std::string whose = advice.package.empty() ? module : fmt::format("{} (package {})", module, advice.package);
  return {"HP068",
          fmt::format("{} of the peak lies in functions without names: {} has no symbols",
                      format_percent_rounded({peak_bytes.count, peak_bytes.all}), whose),
          advice.fix.empty() ? "find its debug file, and name the profile: heapprof symbolize --debug-dir DIR FILE"
                             : advice.fix,
          "build it with -g, do not strip it, and run again", kWarning};
}

Problem self_test_failed(const std::string& functions) {
  return {"HP041", fmt::format("one call did not give one event for: {}", functions),
          "report this line with the versions: heapprof --version; ldd --version",
          "trust the numbers of programs that do not call them", kWarning};
}

Problem clock_without_time(const std::string& clock) {
  return {"HP042",
          fmt::format("events are ordered by a {} counter, and not by the time stamp counter: times are coarse", clock),
          "use a machine whose kernel trusts the counter, and neither --clock=sequence nor prctl(PR_SET_TSC)",
          "bytes, counts and order are exact all the same", kWarning};
}

Problem verification_failed(Share mismatched) {
  return {"HP044",
          fmt::format("{} of {} stacks differ from libunwind's", format_count_exact(mismatched.count),
                      format_count_exact(mismatched.all)),
          "report the program and this line",
          "take stacks from libunwind: --unwinder=libunwind   (20-100 times slower per allocation)", kWarning};
}

Problem libunwind_not_used(uint64_t stacks) {
  return {
      "HP115",
      fmt::format("{} stacks are heapprof's own: libunwind is not used under a seccomp filter, nor on signed return "
                  "addresses (64-bit Arm)",
                  format_count_exact(stacks)),
      "run the program without its filter, or without signatures (-mbranch-protection=none)",
      "read on: bytes, counts and stacks are recorded all the same", kWarning};
}

Problem blocks_of_elsewhere(Share blocks) {
  return {"HP116",
          fmt::format("{} of {} blocks began or ended unseen ({}): part of the program allocates past the hooks",
                      format_count_exact(blocks.count), format_count(blocks.all),
                      format_percent({blocks.count, blocks.all})),
          "see in man heapprof.7, HP116, which allocators are not seen",
          "read the numbers as those of the rest of the program", kWarning};
}

Problem records_corrupt(uint64_t records) {
  return {
      "HP046",
      fmt::format("{} records could not be decoded: a ring holds what the agent does not write",
                  format_count_exact(records)),
      "look for a wild write (valgrind PROGRAM), for handlers that switch to other contexts, or for memory rolled back",
      "read the profile as incomplete from that moment on", kWarning};
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

Problem names_partly_read(const std::string& modules) {
  return {"HP341", fmt::format("a part of the debug information is missing: {}", modules),
          "keep .dwo files where the compiler put them, or build without -gsplit-dwarf, and run again",
          "read on: functions are right; lines and inlined functions of that part are left out", kWarning};
}

}  // namespace heapprof::cli
