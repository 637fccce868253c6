// cli/target/launcher_job.cc: each launcher gives its processes their rank in environment variables, and each uses
// other names for these.
//
// Launchers nest: mpirun may run in a Slurm job, and srun may start one torchrun on each node. Then a process has the
// variables of all of them, and the innermost launcher counts. So MPI's variables are tried first, and Slurm's last.
// Slurm also starts MPI programs through the protocols PMI and PMIx, whose variables then have the same rank as
// Slurm's. In that case Slurm is taken as the launcher, because its variables say more.
//
// SLURM_PROCID is set in a batch script, too, which is a single process and no step. SLURM_STEP_NUM_TASKS is set only
// by srun.
#include "cli/target/process_identity.h"
#include "cli/target/process_names.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <optional>
#include <string_view>
#include <vector>

namespace heapprof::cli {
namespace {

struct Launcher {
  const char* name;
  const char* rank;
  const char* ranks;
  const char* local_rank;
};
constexpr Launcher kLaunchers[] = {
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMIx", "PMIX_RANK", "", ""},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
};
constexpr const Launcher& kSlurm = kLaunchers[5];
constexpr size_t kMostNameBytes = 255;
constexpr size_t kMostRankDigits = 9;

// The environment with which a process was started.
class Environment {
 public:
  explicit Environment(pid_t pid) : text_('\0' + read_environment(pid)) {}

  std::string_view get(std::string_view name) const {
    if (name.empty()) return {};
    const std::string key = '\0' + std::string(name) + "=";
    const size_t at = text_.find(key);
    if (at == std::string::npos) return {};
    const size_t begin = at + key.size();
    return std::string_view(text_).substr(begin, text_.find('\0', begin) - begin);
  }
  std::optional<uint64_t> number(std::string_view name) const {
    const std::string_view text = get(name);
    uint64_t value = 0;
    const char* const end = text.data() + text.size();
    if (text.empty() || text.size() > kMostRankDigits || std::from_chars(text.data(), end, value).ptr != end)
      return std::nullopt;
    return value < kMostRanks ? std::optional(value) : std::nullopt;
  }

 private:
  std::string text_;
};

// The text if it can be the name of a host or of a GPU, else "": a process can set its variables to anything.
std::string plain_name(std::string_view text) {
  constexpr std::string_view kOthers = "-_.:/";
  if (text.size() > kMostNameBytes) return "";
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!is_plain && kOthers.find(c) == std::string_view::npos) return "";
  }
  return std::string(text);
}

// The host's name. Slurm's node name is preferred, so that several Slurm nodes on one machine (slurmd -N) count as
// several hosts.
std::string host_of(const Environment& environment) {
  std::string node = environment.number("SLURM_PROCID") ? plain_name(environment.get("SLURMD_NODENAME")) : "";
  if (!node.empty()) return node;
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? plain_name(name) : "";
}

// The process's GPU. CUDA_VISIBLE_DEVICES lists either the process's only GPU, or all GPUs of the host. From the latter
// the process takes one by its local rank. Without a list, only processes of torchrun are known to take a GPU by local
// rank.
std::string local_device_of(const Environment& environment, const Job& job) {
  const std::string_view list = environment.get("CUDA_VISIBLE_DEVICES");
  if (list.empty()) return job.launcher == "torchrun" && job.local_rank ? fmt::format("{}", *job.local_rank) : "";
  std::vector<std::string_view> cards;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    cards.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  if (cards.size() == 1) return plain_name(cards[0]);
  return job.local_rank && *job.local_rank < cards.size() ? plain_name(cards[*job.local_rank]) : "";
}

Job job_of(const Environment& environment) {
  Job job;
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<uint64_t> rank = environment.number(launcher.rank);
    if (!rank) continue;
    const bool is_protocol = std::string_view(launcher.name) == "PMIx" || std::string_view(launcher.name) == "MPICH";
    const Launcher& named = is_protocol && environment.number(kSlurm.rank) == rank ? kSlurm : launcher;
    job.launcher = named.name;
    job.rank = rank;
    job.ranks = environment.number(named.ranks);
    if (job.ranks && *job.ranks <= *rank) job.ranks.reset();
    job.local_rank = environment.number(named.local_rank);
    job.host = host_of(environment);
    job.local_device = local_device_of(environment, job);
    return job;
  }
  return job;
}

}  // namespace

Job process_job(pid_t pid) { return job_of(Environment(pid)); }

// A process that a rank starts inherits the rank's variables, so it is compared with its parent.
Job process_job(pid_t pid, pid_t parent) {
  Job job = process_job(pid);
  if (!job.has_rank()) return job;
  const Job above = process_job(parent);
  job.is_child = job.launcher == above.launcher && job.rank == above.rank;
  return job;
}

std::string rank_text(const Job& job) { return job.rank ? fmt::format("{}", *job.rank) : "none"; }

LauncherStep own_step() {
  const Environment environment(getpid());
  const Job job = job_of(environment);
  LauncherStep step;
  step.host = host_of(environment);
  if (!job.has_rank() || job.launcher == "torchrun") return step;
  const bool is_slurm = job.launcher == kSlurm.name;
  const std::optional<uint64_t> size = is_slurm ? environment.number(kSlurm.ranks) : job.ranks;
  if (!size || *size <= *job.rank) return step;
  step.rank = *job.rank;
  step.size = *size;
  std::string id(is_slurm ? "" : environment.get("PMIX_NAMESPACE"));
  if (is_slurm) {
    const auto whole = environment.get("SLURM_STEP_ID");
    if (!whole.empty()) id = fmt::format("{}.{}", environment.get("SLURM_JOB_ID"), whole);
  }
  step.id = plain_name(id);
  if (step.id.find('/') != std::string::npos) step.id.clear();
  return step;
}

}  // namespace heapprof::cli
