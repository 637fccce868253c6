// cli/commands/detach.cc: detaches the agent directly. The heapprof that attached it notices that, and writes the
// profile.
#include "cli/arch/arch.h"
#include "cli/attach/attach.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/commands/commands.h"
#include "cli/target/agent_files.h"

#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <charconv>

namespace heapprof::cli {

namespace {

struct DetachOptions {
  std::string pid;
  bool quiet = false;
  ColorMode color = ColorMode::kAuto;
};

Result<int> detach(const DetachOptions& options) {
  if (options.pid.empty()) return missing_pid("detach");
  pid_t pid = 0;
  const char* const end = options.pid.data() + options.pid.size();
  const auto [rest, error] = std::from_chars(options.pid.data(), end, pid);
  if (error != std::errc{} || rest != end || pid <= 0) return bad_value("PID", options.pid, "the number of a process");
  if (::kill(pid, 0) != 0 && errno == ESRCH) return process_not_found(options.pid);
  if (!kCanAttach) return attach_unsupported(kProgramKind);
  const Result<AgentFiles> agent = find_agent_files();
  if (!agent) return agent.problem();
  const std::atomic<bool> has_to_stop{false};
  const Result<bool> detached = detach_agent(pid, agent->agent, has_to_stop);
  if (!detached) return detached.problem();
  if (!*detached) return process_not_attached(options.pid);
  if (!options.quiet) fmt::print(stderr, "heapprof is detached from process {}\n", pid);
  return 0;
}

}  // namespace

CommandText detach_text() {
  return {"detach",
          "heapprof detach [OPTIONS] PID",
          "End what heapprof attach began, from elsewhere.",
          {"heapprof detach 4711     its heapprof attach writes the profile, and ends"},
          {"exit status: 0, 1 if no heapprof is attached to it, 2 for wrong usage", "manual: man heapprof-attach"}};
}

int detach_main(const std::vector<std::string>& arguments) {
  DetachOptions target;
  Options options(detach_text());
  options.add_flag({"-q,--quiet", "", "output", "say nothing but errors"}, &target.quiet);
  options.add_color(&target.color);
  options.add_positional(&target.pid);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? detach(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
