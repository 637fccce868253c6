// cli/base/problems_program.cc: the words of errors and warnings: about a program, before it is started.
#include "cli/arch/arch.h"
#include "cli/base/problem_words.h"

#include <fmt/format.h>

namespace heapprof::cli {

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

Problem loader_starts_nothing(const std::string& loader, const std::string& option) {
  return {"HP331", fmt::format("{} {} starts no program: there is nothing to profile", loader, option),
          fmt::format("name the program after the loader: heapprof run {} ./server", quoted(loader)),
          fmt::format("call it without heapprof: {} {}", quoted(loader), option), kFailed};
}

Problem program_has_privileges(const std::string& program, const std::string& why) {
  return {"HP005", fmt::format("{} {}: the loader ignores preloaded libraries for such programs", program, why),
          fmt::format("profile a copy without the privilege: cp {} ./copy && heapprof run ./copy", quoted(program)),
          "run heapprof as the user whose rights the program would take", kFailed};
}

Problem program_for_other_machine(const std::string& program, const std::string& kind) {
  const bool valgrind_runs_it = kValgrindRuns32BitX86 && kind.find("32-bit x86") != std::string::npos;
  return {"HP006", fmt::format("{} is {}; the agent here is for {}", program, kind, kProgramKind), kBuildAdvice,
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
  if (flag.starts_with("LD_PRELOAD="))
    return {"HP012",
            fmt::format("{} starts with {} ({}), which replaces malloc itself and must be loaded first", program,
                        sanitizer, flag),
            "start it without: env -u LD_PRELOAD heapprof run -- " + quoted(program), "", kFailed};
  return {"HP012",
          fmt::format("{} is built with {}, which replaces malloc itself and must be loaded first", program, sanitizer),
          fmt::format("build it without {}", flag), "", kFailed};
}

Problem program_defines_malloc(const std::string& program, const std::string& functions) {
  return {"HP013", fmt::format("{} defines {} itself: what it allocates never reaches the agent", program, functions),
          "build it without its own allocator, or link that allocator as a shared library", valgrind_instead(program),
          kWarning};
}

Problem inner_allocator_not_hooked(const std::string& program, const std::string& what) {
  return {
      "HP310",
      fmt::format("functions in {} are named as an allocator's and are not hooked; what they give out is not in the "
                  "profile ({})",
                  program, what),
      "link that allocator, if it is one, as a shared library: heapprof sees it there",
      "read the profile as what the libraries allocate, and those parts of the program that ask libc", kWarning};
}

Problem program_hides_allocations(const std::string& program) {
  return {"HP016", fmt::format("the profile is empty: all that {} allocates comes from a malloc of its own", program),
          "build it without its own allocator, or link that allocator as a shared library", valgrind_instead(program),
          kFailed};
}

Problem malloc_replaced(const std::string& program, bool is_judged) {
  return {
      "HP346", fmt::format("nothing on the heap of {} was counted: Valgrind's tool serves malloc itself", program),
      "run it without Valgrind: heapprof run -- " + quoted(program),
      "valgrind --soname-synonyms=somalloc=nouserintercepts " + quoted(program) + "   (its tool then checks no heap)",
      is_judged ? kBadProfile : kWarning};
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

}  // namespace heapprof::cli
