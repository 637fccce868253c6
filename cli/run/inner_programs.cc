// cli/run/inner_programs.cc: results are kept, because a run may start one program thousands of times, and each agent
// waits for its answer.
#include "cli/run/inner_programs.h"

#include "cli/base/fd.h"
#include "cli/inner/inner_plan.h"
#include "cli/symbolize/elf_identity.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <optional>

namespace heapprof::cli {

namespace {

constexpr size_t kMostKnown = 10'000;
constexpr size_t kLeastBuildIdDigits = 6;

// The separate debug file, where distributions put it: by the build id.
UniqueFd open_debug_file(int fd) {
  const std::optional<ElfIdentity> identity = read_elf_identity(fd);
  if (!identity || identity->build_id.size() < kLeastBuildIdDigits) return {};
  const std::string& id = identity->build_id;
  const std::string path = fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", id.substr(0, 2), id.substr(2));
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const std::optional<ElfIdentity> other = file.is_open() ? read_elf_identity(file.get()) : std::nullopt;
  return other && other->build_id == id ? std::move(file) : UniqueFd();
}

std::shared_ptr<const InnerProgram> look_into(int fd, const std::string& left_because) {
  const UniqueFd debug = open_debug_file(fd);
  InnerPlanning planning = plan_inner_hooks(fd, debug.is_open() ? debug.get() : -1);
  if (planning.allocators.empty()) return nullptr;
  auto program = std::make_shared<InnerProgram>();
  for (InnerAllocator& allocator : planning.allocators)
    program->allocators.push_back({std::move(allocator.name), allocator.functions});
  program->left_because = left_because;
  if (!left_because.empty()) return program;
  program->plan = std::move(planning.plan);
  program->refusals = std::move(planning.refusals);
  program->unseen = std::move(planning.unseen);
  return program;
}

}  // namespace

std::shared_ptr<const InnerProgram> InnerPrograms::of(const std::string& path, const std::string& left_because) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat facts {};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return nullptr;
  const Key key{facts.st_dev,         facts.st_ino,          static_cast<uint64_t>(facts.st_size),
                facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, left_because};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (known_.size() >= kMostKnown) known_.clear();
  return known_[key] = look_into(file.get(), left_because);
}

}  // namespace heapprof::cli
