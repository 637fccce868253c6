// cli/target/agent_trial.cc: starts a program as `heapprof run` does, with the same socket. The program is a shell that
// does nothing. Its agent is refused as soon as it has said hello.
#include "cli/base/clock.h"
#include "cli/target/agent_files.h"
#include "cli/target/agent_link.h"
#include "cli/target/capabilities.h"
#include "cli/target/device_use_watch.h"
#include "cli/target/launch.h"
#include "cli/target/server.h"
#include "shared/env.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <optional>
#include <string>

namespace heapprof::cli {
namespace {

constexpr int kPatienceMs = 5000;
constexpr const char* kProgram = "/bin/sh";

uint64_t now_ms() { return monotonic_ns() / 1'000'000; }

struct Trial {
  std::optional<wire::Hello> hello;
  std::string problem;  // why there is no hello
};

Trial try_preload(const std::vector<std::string>& objects) {
  Result<Server> server = Server::open();
  if (!server) return {std::nullopt, server.problem().what};
  LaunchOptions options;
  options.command = {kProgram, "-c", ":"};
  options.file = kProgram;
  options.preload = objects;
  options.socket_variable = wire::kNoFollow + server->path();
  const Result<Launched> launched = launch(options);
  if (!launched) return {std::nullopt, launched.problem().what};
  Trial trial;
  const uint64_t deadline_ms = now_ms() + kPatienceMs;
  bool has_ended = false;
  while (!trial.hello && now_ms() < deadline_ms) {
    if (std::optional<Caller> caller = server->accept_caller(); caller && caller->pid == launched->pid) {
      trial.hello = caller->hello;
      Server::answer(*caller, wire::Answer::kStayOut, -1);
    }
    int status = 0;
    if (!trial.hello && has_ended) break;  // one more try after its end
    has_ended = !trial.hello && waitpid(launched->pid, &status, WNOHANG) == launched->pid;
    std::vector<pollfd> waiting;
    server->add_waiting(&waiting);
    if (!trial.hello && !has_ended) poll(waiting.data(), waiting.size(), 10);
  }
  if (!has_ended && !trial.hello) kill(launched->pid, SIGKILL);
  int status = 0;
  if (!has_ended) waitpid(launched->pid, &status, 0);
  if (!trial.hello) trial.problem = fmt::format("{} with it preloaded said nothing", kProgram);
  return trial;
}

// Without a driver, NVML is not needed, so that is no warning.
Capability try_nvml(const std::string& helper) {
  const std::string missing = DeviceUseWatch(helper).try_nvml(kPatienceMs);
  if (missing.empty())
    return {"nvml", Availability::kOk, "says what is in use on GPUs, and so what is unattributed", ""};
  if (missing.find("cannot open shared object file") != std::string::npos)
    return {"nvml", Availability::kOk, "is not here, as it is with NVIDIA's driver: " + missing, ""};
  return {"nvml", Availability::kWarning, "what is unattributed on GPUs will not be known: " + missing,
          helper.empty() ? "install heapprof-nvml, which belongs beside the agent"
                         : "see what nvidia-smi says; the numbers of allocations do not need it"};
}

}  // namespace

std::vector<Capability> try_agent() {
  Result<AgentFiles> files = find_agent_files();
  if (!files) return {{"agent", Availability::kMissing, files.problem().what, files.problem().fix}};
  AgentLink link;
  if (const Result<Done> led = link.lead(&*files); !led)
    return {{"agent", Availability::kMissing, led.problem().what, led.problem().fix}};
  const Trial trial = try_preload({files->agent});
  if (!trial.hello) {
    return {{"agent", Availability::kMissing, fmt::format("{}: {}", files->agent, trial.problem),
             fmt::format("see why: LD_DEBUG=libs LD_PRELOAD={} {} -c :", files->agent, kProgram)}};
  }
  if (trial.hello->magic != wire::kMagic || trial.hello->version != wire::kProtocolVersion) {
    return {{"agent", Availability::kMissing, fmt::format("{} is of another version of heapprof", files->agent),
             "install tool and agent of one version"}};
  }
  std::vector<Capability> capabilities = {
      {"agent", Availability::kOk, files->agent + ": loads, finds malloc, and answers", ""}};
  if (files->reference.empty()) {
    capabilities.push_back({"verification", Availability::kWarning,
                            "libheapprof-verify.so is not installed: no --verify-stacks, no --unwinder=libunwind",
                            "build it with libunwind (libunwind-dev), and install again"});
  } else {
    const Trial both = try_preload({files->agent, files->reference});
    capabilities.push_back(
        both.hello ? Capability{"verification", Availability::kOk, "--verify-stacks and --unwinder=libunwind work", ""}
                   : Capability{"verification", Availability::kWarning, files->reference + ": " + both.problem,
                                "install libunwind (Debian: libunwind8)"});
  }
  capabilities.push_back({"libc", Availability::kOk, fmt::format("glibc {}", trial.hello->libc_version), ""});
  capabilities.push_back(try_nvml(files->nvml));
  return capabilities;
}

}  // namespace heapprof::cli
