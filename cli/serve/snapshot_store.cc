// cli/serve/snapshot_store.cc: a collector is given only a file name, and writes the file as its own user. So if root
// serves another user's process, the folder must belong to that user, who can put any file there. Therefore the file is
// checked when it is opened.
#include "cli/serve/snapshot_store.h"

#include "cli/base/clock.h"
#include "cli/base/problems.h"
#include "cli/target/snapshot_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kLeastGoodNs = 1'000'000'000;
constexpr uint64_t kPatienceNs = 120'000'000'000;
constexpr size_t kMostWordsBytes = 4096;

std::string text_in(const WorkDone& done) {
  std::string text(std::min<size_t>(done.size_bytes, kMostWordsBytes), '\0');
  const ssize_t got = done.file.is_open() ? pread(done.file.get(), text.data(), text.size(), 0) : 0;
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

uid_t owner_of(pid_t pid) {
  struct stat facts {};
  return stat(fmt::format("/proc/{}", pid).c_str(), &facts) == 0 ? facts.st_uid : geteuid();
}

std::shared_ptr<StoredSnapshot> open_snapshot(const std::string& path, uid_t owner) {
  auto snapshot = std::make_shared<StoredSnapshot>();
  snapshot->file = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat facts {};
  if (!snapshot->file.is_open() || fstat(snapshot->file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return nullptr;
  if (facts.st_uid != owner && facts.st_uid != geteuid()) return nullptr;
  // Refuses a file with a second link, or of another user: no collector makes such a file.
  if (geteuid() == 0 && owner != 0 && (facts.st_nlink != 1 || facts.st_uid != owner)) return nullptr;
  snapshot->size_bytes = static_cast<uint64_t>(facts.st_size);
  return snapshot;
}

}  // namespace

Result<std::unique_ptr<SnapshotStore>> SnapshotStore::open(Workers* workers) {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "heapprof-serve-XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr)
    return output_not_writable(error ? "the folder for temporary files" : pattern, errno_text(errno));
  if (geteuid() == 0) static_cast<void>(chmod(pattern.c_str(), 0711));  // so that users can reach their folders in it
  return std::unique_ptr<SnapshotStore>(new SnapshotStore(workers, std::move(pattern)));
}

SnapshotStore::~SnapshotStore() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void SnapshotStore::get(pid_t pid, uint64_t not_before_ns, Done done) {
  Entry& entry = entries_[pid];
  const bool is_good = monotonic_ns() < entry.good_until_ns;
  if (is_good && entry.snapshot != nullptr && entry.snapshot->monotonic_ns >= not_before_ns) {
    done({entry.snapshot, 200, ""});
    return;
  }
  entry.waiting.push_back({not_before_ns, std::move(done)});
  if (!entry.is_running && !is_good) take(pid);
}

void SnapshotStore::take(pid_t pid) {
  const uid_t owner = owner_of(pid);
  const std::string folder = fmt::format("{}/{}", folder_, ++last_number_);
  const std::string path = folder + "/profile.json";
  const uint64_t begin_ns = monotonic_ns();
  const int64_t begin_unix_ns = unix_ns();
  entries_[pid].is_running = true;
  const bool is_made = mkdir(folder.c_str(), 0700) == 0 && (geteuid() != 0 || chown(folder.c_str(), owner, -1) == 0);
  const auto finish = [=, this](WorkDone done) {
    SnapshotOutcome outcome;
    outcome.status = done.status;
    std::shared_ptr<StoredSnapshot> snapshot = done.status == 200 ? open_snapshot(path, owner) : nullptr;
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    Entry& entry = entries_[pid];
    entry.is_running = false;
    if (snapshot != nullptr) {
      snapshot->monotonic_ns = begin_ns;
      snapshot->unix_ns = begin_unix_ns;
      const uint64_t end_ns = monotonic_ns();
      entry.good_until_ns = end_ns + std::max(kLeastGoodNs, end_ns - begin_ns);
      outcome.snapshot = entry.snapshot = std::move(snapshot);
    } else {
      outcome.words = text_in(done);
      if (outcome.words.empty())
        outcome.words =
            format_problem(snapshot_refused(std::to_string(pid), "it took too long, or its file is gone"), {});
      if (outcome.status == 200 || outcome.status == 500) outcome.status = 503;
    }
    // Requests that need a later snapshot continue to wait.
    std::vector<Entry::Waiting> told;
    std::erase_if(entry.waiting, [&](Entry::Waiting& waiting) {
      if (outcome.snapshot != nullptr && waiting.not_before_ns > begin_ns) return false;
      told.push_back(std::move(waiting));
      return true;
    });
    for (const Entry::Waiting& waiting : told) waiting.done(outcome);
  };
  Work work;
  work.patience_ns = kPatienceNs;
  work.make = [=](ByteSink* sink) {
    if (!is_made) {
      sink->write(format_problem(output_not_writable(folder, "its folder cannot be made"), {}));
      return 503;
    }
    const Result<SnapshotTaken> taken = ask_for_snapshot(pid, path, true);
    if (taken) return 200;
    sink->write(format_problem(taken.problem(), {}));
    const std::string& id = taken.problem().id;
    return id == "HP087" || id == "HP088" ? 404 : 503;  // there is no such process, or it is not profiled
  };
  work.done = finish;
  if (!workers_.start(std::move(work))) {
    WorkDone refused;
    refused.status = 503;
    finish(std::move(refused));
  }
}

void SnapshotStore::serve() {
  const uint64_t now_ns = monotonic_ns();
  std::vector<pid_t> due;
  for (const auto& [pid, entry] : entries_) {
    if (!entry.is_running && !entry.waiting.empty() && now_ns >= entry.good_until_ns) due.push_back(pid);
  }
  for (const pid_t pid : due) take(pid);
  std::erase_if(entries_, [now_ns](const auto& entry) {
    return !entry.second.is_running && entry.second.waiting.empty() && now_ns >= entry.second.good_until_ns;
  });
}

uint64_t SnapshotStore::next_ns() const {
  uint64_t next_ns = UINT64_MAX;
  for (const auto& [pid, entry] : entries_) {
    if (!entry.is_running && !entry.waiting.empty()) next_ns = std::min(next_ns, entry.good_until_ns);
  }
  return next_ns;
}

}  // namespace heapprof::cli
