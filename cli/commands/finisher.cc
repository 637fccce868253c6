// cli/commands/finisher.cc: see finisher.h.
#include "cli/commands/finisher.h"

#include "cli/base/atomic_file.h"
#include "cli/base/problems.h"
#include "cli/base/progress.h"
#include "cli/model/assemble.h"
#include "cli/model/group.h"
#include "cli/model/invariants.h"
#include "cli/write/registry.h"

#include <sys/stat.h>
#include <time.h>

namespace heapprof::cli {

namespace {

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t file_bytes(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? static_cast<uint64_t>(facts.st_size) : 0;
}

// The program's path instead of the loader's empty name for it.
void name_main_module(Recording* recording) {
  for (Module& module : recording->modules) {
    if (module.path.empty()) module.path = recording->run.executable;
  }
}

}  // namespace

Result<Finished> Finisher::finish(FinishJob job) {
  if (!options_.show_progress) return finish(std::move(job), {});
  Progress progress("symbolizing", "modules", options_.color);
  SymbolizeOptions symbolize_options;
  symbolize_options.progress = [&](size_t done, size_t all) { progress.update(done, all); };
  return finish(std::move(job), symbolize_options);
}

Result<Finished> Finisher::finish(FinishJob job, const SymbolizeOptions& symbolize_options) {
  Recording& recording = job.recording;
  name_main_module(&recording);
  const uint64_t start_ns = now_ns();
  const SymbolTable symbols = symbols_.symbolize(recording.modules, recording.locations, symbolize_options);
  recording.run.cost.symbolize_ns = now_ns() - start_ns;

  Finished finished;
  finished.profile = assemble(recording, symbols);
  recording = {};  // a million stacks need their memory once
  if (!options_.all_sites) group_small_sites(&finished.profile, {});
  finished.saved.violations = find_violations(finished.profile).size();

  Result<AtomicFile> file = AtomicFile::create(job.path);
  if (!file) return file.problem();
  find_format("dhat")->write(finished.profile, &*file);
  Result<std::string> path = job.may_overwrite ? file->commit() : file->commit_without_overwriting();
  if (!path) return path.problem();

  SavedProfile& saved = finished.saved;
  saved.path = *path;
  saved.size_bytes = file_bytes(saved.path);
  saved.pid = finished.profile.run.pid;
  saved.command = finished.profile.run.command;
  saved.peak_bytes = finished.profile.devices.empty() ? 0 : finished.profile.devices[0].totals.peak_bytes;
  return finished;
}

Finisher::Finisher(const FinishOptions& options) : options_(options) {}

Finisher::~Finisher() {
  if (worker_.joinable()) {
    {
      const std::lock_guard guard(mutex_);
      closed_ = true;
    }
    changed_.notify_one();
    worker_.join();
  }
}

void Finisher::submit(FinishJob job) {
  {
    const std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(job));
  }
  if (!worker_.joinable()) worker_ = std::thread([this] { work(); });
  changed_.notify_one();
}

std::vector<SavedProfile> Finisher::collect_saved(std::vector<Problem>* problems) {
  {
    const std::lock_guard guard(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  if (worker_.joinable()) worker_.join();
  problems->insert(problems->end(), problems_.begin(), problems_.end());
  return std::move(saved_);
}

void Finisher::work() {
  std::unique_lock guard(mutex_);
  for (;;) {
    changed_.wait(guard, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    FinishJob job = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    Result<Finished> finished = finish(std::move(job), {});
    guard.lock();
    if (finished) {
      saved_.push_back(std::move(finished->saved));
    } else {
      problems_.push_back(finished.problem());
    }
  }
}

}  // namespace heapprof::cli
