// cli/collect/arena.cc: the collector creates the shared memory, not the target.
//
// A file that the target made could be shrunk while it is being read, and the next load would kill the collector
// (SIGBUS). The collector's file is sealed at its full size before the target gets it. It is sparse, so its size costs
// nothing.
//
// One mapping begins with a private page, and the shared control page follows directly. The private page has the list
// that the kernel walks when this thread dies, at a fixed distance before the futex word (liveness.h).
#include "cli/collect/arena.h"

#include "cli/base/problems.h"
#include "cli/collect/liveness.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace heapprof::cli {

namespace {

constexpr size_t kRegionBytes = wire::kPageBytes + wire::kRingDataOff;
static_assert(kLivenessDistance == wire::kPageBytes);

std::atomic<uint32_t>* liveness_word(wire::Control& control) {
  return reinterpret_cast<std::atomic<uint32_t>*>(control.liveness);
}

// An empty file of the arena's size, sealed at that size.
Result<UniqueFd> make_file() {
  UniqueFd fd(::memfd_create("heapprof", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) return arena_refused(std::string("memfd_create: ") + std::strerror(errno));
  if (::ftruncate(fd.get(), static_cast<off_t>(wire::kArenaBytes)) != 0) {
    return arena_refused(std::string("ftruncate: ") + std::strerror(errno));
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return arena_refused(std::string("F_ADD_SEALS: ") + std::strerror(errno));
  }
  return fd;
}

}  // namespace

Result<Done> Arena::try_file() {
  const Result<UniqueFd> file = make_file();
  if (!file) return file.problem();
  return Done{};
}

Result<std::unique_ptr<Arena>> Arena::create() {
  Result<UniqueFd> file = make_file();
  if (!file) return file.problem();
  UniqueFd fd = std::move(*file);
  void* region =
      ::mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) return memory_refused("record a process");
  void* base = static_cast<unsigned char*>(region) + wire::kPageBytes;
  if (::mmap(base, wire::kRingDataOff, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd.get(), 0) ==
      MAP_FAILED) {
    ::munmap(region, kRegionBytes);
    return memory_refused("record a process");
  }
  std::unique_ptr<Arena> arena(new Arena(std::move(fd), static_cast<unsigned char*>(region)));
  hold_liveness(liveness_word(arena->control()));
  return arena;
}

Arena::~Arena() {
  drop_liveness(liveness_word(control()));
  for (uint32_t ring = 0; ring < rings_.size(); ++ring) {
    if (rings_[ring] != nullptr) ::munmap(rings_[ring], wire::ring_bytes(ring));
  }
  if (codes_ != nullptr) ::munmap(codes_, wire::kCodesBytes);
  ::munmap(region_, kRegionBytes);
}

bool Arena::put_inner_plan(const std::vector<unsigned char>& plan) {
  if (plan.empty() || plan.size() > wire::kInnerPlanBytes) return false;
  size_t done = 0;
  while (done < plan.size()) {
    const ssize_t put =
        ::pwrite(fd_.get(), plan.data() + done, plan.size() - done, static_cast<off_t>(wire::kInnerPlanOff + done));
    if (put <= 0) return false;
    done += static_cast<size_t>(put);
  }
  control().inner_plan_bytes = static_cast<uint32_t>(plan.size());
  return true;
}

const unsigned char* Arena::codes() {
  if (codes_ == nullptr) {
    void* const mapped = ::mmap(nullptr, wire::kCodesBytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd_.get(),
                                static_cast<off_t>(wire::kCodesOff));
    if (mapped == MAP_FAILED) return nullptr;
    codes_ = mapped;
  }
  return static_cast<const unsigned char*>(codes_);
}

const uint64_t* Arena::ring_words(uint32_t ring) {
  if (ring >= rings_.size()) rings_.resize(ring + 1, nullptr);
  if (rings_[ring] == nullptr) {
    void* data = ::mmap(nullptr, wire::ring_bytes(ring), PROT_READ, MAP_SHARED | MAP_NORESERVE, fd_.get(),
                        static_cast<off_t>(wire::ring_data_off(ring)));
    if (data == MAP_FAILED) return nullptr;
    rings_[ring] = data;
  }
  return static_cast<const uint64_t*>(rings_[ring]);
}

bool Arena::give_back(uint32_t ring, uint32_t chunks) {
  while (chunks != 0) {
    const int first = std::countr_zero(chunks);
    const int count = std::countr_one(chunks >> first);
    const uint64_t off = wire::ring_data_off(ring) + static_cast<uint64_t>(first) * wire::kChunkBytes;
    const uint64_t bytes = static_cast<uint64_t>(count) * wire::kChunkBytes;
    if (::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(off),
                    static_cast<off_t>(bytes)) != 0)
      return false;
    chunks &= ~static_cast<uint32_t>(((uint64_t{1} << count) - 1) << first);
  }
  return true;
}

uint64_t Arena::inode() const {
  struct stat facts {};
  return ::fstat(fd_.get(), &facts) == 0 ? facts.st_ino : 0;
}

uint64_t Arena::resident_bytes() const {
  struct stat status {};
  return ::fstat(fd_.get(), &status) == 0 ? static_cast<uint64_t>(status.st_blocks) * 512 : 0;
}

}  // namespace heapprof::cli
