// cli/run/finisher.cc: see finisher.h.
//
// Compilers end faster than their profiles are written: under `make -j64` 30 a second end, with up to 250 MB of numbers
// each. If submit() waited for the queue to shrink, the collector would stop, and with it every program whose ring is
// full. More workers help only while cores are idle, and each takes as much memory. That leaves the disk, which has
// room for the profiles anyway. If the waiting jobs exceed a bound, a separate thread moves their numbers to disk, the
// newest first, because the oldest are worked on next. Moving is about 100 times as fast as writing a profile.
#include "cli/run/finisher.h"

#include "cli/base/clock.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/saturating.h"
#include "cli/base/units.h"
#include "cli/collect/memory/memory_budget.h"
#include "cli/model/analysis/assemble_grouped.h"
#include "cli/model/profile/assemble.h"
#include "cli/model/profile/device_facts.h"
#include "cli/model/profile/invariants.h"
#include "cli/model/profile/python_code.h"
#include "cli/run/look_up_names.h"
#include "cli/run/profile_writing.h"
#include "cli/symbolize/own_allocator.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>

namespace heapprof::cli {

namespace {

constexpr size_t kMostWorkers = 8;
constexpr size_t kMostFiles = 1024;  // size of files_ above which entries of closed files are removed

uint64_t file_bytes(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? static_cast<uint64_t>(facts.st_size) : 0;
}

// Makes the profile: with names, without names, or without stacks, depending on memory.
std::optional<Profile> make_profile(Recording* recording, SymbolTable symbols, bool all_sites,
                                    const GroupOptions& grouping) {
  bool has_stacks = true;
  for (;;) {
    try {
      return all_sites ? assemble(*recording, symbols) : assemble_grouped(recording, symbols, grouping);
    } catch (const std::bad_alloc&) {
      if (!symbols.frames.empty()) {
        symbols = {};
        give_up_names(recording);
      } else if (has_stacks) {
        has_stacks = false;
        drop_stacks(recording);
      } else {
        return std::nullopt;
      }
    }
  }
}

// If far more memory came from elsewhere than from the heap, looks for an allocator inside the program, and names it.
void note_own_allocator(Recording* recording) {
  constexpr uint64_t kLeastBytes = 1 << 20;
  constexpr uint64_t kLeastResidentBytes = 32 << 20;
  constexpr uint64_t kTimes = 4;
  if (recording->devices.empty() || !recording->run.coverage.inner_allocators.empty()) return;
  const DeviceTotals& heap = recording->devices[0].totals;
  bool is_elsewhere =
      heap.resident_max_bytes >= kLeastResidentBytes && heap.resident_max_bytes / kTimes > heap.peak_bytes;
  for (const RecordedDevice& device : recording->devices) {
    const uint64_t peak_bytes = device.name == "mapped" ? device.totals.peak_bytes : 0;
    is_elsewhere = is_elsewhere || (peak_bytes >= kLeastBytes && peak_bytes / kTimes > heap.peak_bytes);
  }
  if (!is_elsewhere) return;
  for (const Module& module : recording->modules) {
    if (module.path != recording->run.executable || module.file == nullptr) continue;
    const std::string function = find_own_allocator(module.file->get(), module.build_id);
    if (!function.empty())
      recording->run.coverage.bypassing_modules.push_back(base_name(module.path) + " (its own " + function + ")");
    return;
  }
}

// Names libraries with an allocator of their own: those that map pages themselves, and contain the function names or
// the texts of a known allocator.
void note_library_allocators(Recording* recording) {
  constexpr uint64_t kLeastBytes = 1 << 20;
  std::vector<uint64_t> mapped_bytes(recording->modules.size());
  for (const RecordedDevice& device : recording->devices) {
    if (device.name != "mapped" && !is_reserved_device(device.name)) continue;
    for (const RecordedSite& site : device.sites) {
      if (site.stack == 0 || site.stack >= recording->stacks.size()) continue;
      const uint32_t module = recording->locations[recording->stacks[site.stack].location].module;
      if (module < mapped_bytes.size())
        mapped_bytes[module] = add_saturating(mapped_bytes[module], site.numbers.total_bytes);
    }
  }
  Coverage& coverage = recording->run.coverage;
  for (size_t i = 0; i < mapped_bytes.size(); ++i) {
    const Module& module = recording->modules[i];
    const std::string name = base_name(module.path);
    const bool is_known = module.path == recording->run.executable || name == coverage.allocator ||
                          name.starts_with("libc.so.") ||
                          name.starts_with("libpython");  // has mimalloc, and Python's objects: see --python-objects
    if (mapped_bytes[i] < kLeastBytes || is_known || module.file == nullptr) continue;
    const auto is_it = [&name](const std::string& named) { return base_name(named) == name; };
    if (std::any_of(coverage.bypassing_modules.begin(), coverage.bypassing_modules.end(), is_it)) continue;
    const std::string allocator = find_library_allocator(module.file->get(), module.build_id);
    if (!allocator.empty())
      coverage.bypassing_modules.push_back(
          fmt::format("{} (its own allocator, by {}: it mapped {})", name, allocator, format_bytes(mapped_bytes[i])));
  }
}

void add_device(const RecordedDevice& device, SavedProfile* saved) {
  if (device.name == "host" || device.name == "mapped")
    saved->peak_bytes = add_saturating(saved->peak_bytes, device.totals.peak_bytes);
  if (device.name == "host") saved->resident_bytes = device.totals.resident_max_bytes;
  if (device.name.starts_with("cuda:") && !is_inner_device(device.name))
    saved->devices.push_back({device.name, device.totals.peak_bytes});
  RefusedDevice refused{device.name, 0, 0, {}};
  for (const Refusal& refusal : device.refusals) {
    refused.count = add_saturating(refused.count, refusal.count);
    refused.by_limit_count = add_saturating(refused.by_limit_count, refusal.by_limit_count);
  }
  if (refused.count != 0) saved->refused.push_back(std::move(refused));
}

// What is known of a process even if its profile cannot be written, or its numbers are on disk.
SavedProfile facts_of(const FinishJob& job) {
  const RunInfo& run = job.recording.run;
  SavedProfile saved;
  saved.entry = job.entry;
  saved.pid = run.pid;
  saved.parent_pid = run.parent_pid;
  saved.image = run.image;
  saved.command = run.command;
  saved.title = run.title;
  saved.lost = run.counters.lost;
  const bool has_failed =
      run.end.kind == EndKind::kSignaled || (run.end.kind == EndKind::kExited && run.end.status != 0);
  saved.has_ended_well = !has_failed;
  for (const RecordedDevice& device : job.recording.devices) add_device(device, &saved);
  std::stable_sort(saved.devices.begin(), saved.devices.end(),
                   [](const DevicePeak& a, const DevicePeak& b) { return a.peak_bytes > b.peak_bytes; });
  return saved;
}

// The same, for when memory may have run out: then only the entry.
SavedProfile known_facts_of(const FinishJob& job) {
  try {
    return facts_of(job);
  } catch (const std::bad_alloc&) {
    SavedProfile saved;
    saved.entry = job.entry;
    return saved;
  }
}

}  // namespace

bool Finisher::is_idle() {
  const std::unique_lock guard(mutex_);
  return done_ == submitted_;
}

Result<Finished> Finisher::finish(FinishJob job, const Complete& complete, const Beside& beside) {
  SymbolizeOptions symbolize_options;
  symbolize_options.worker_data_bytes = options_.names_bytes;
  say("looking up names");
  if (progress_ != nullptr)
    symbolize_options.progress = [this](size_t done, size_t all) { progress_->update(done, all, "modules"); };
  return finish(std::move(job), symbolize_options, complete, beside);
}

Result<Finished> Finisher::finish(FinishJob job, const SymbolizeOptions& symbolize_options, const Complete& complete,
                                  const Beside& beside) {
  Recording& recording = job.recording;
  settle_judgement(&recording);
  note_own_allocator(&recording);
  note_library_allocators(&recording);
  const uint64_t start_ns = monotonic_ns();
  SymbolTable symbols = look_up_names(symbolize_options, options_.has_names ? &symbols_ : nullptr, &recording);
  recording.run.cost.symbolize_ns = monotonic_ns() - start_ns;

  Finished finished;
  SavedProfile& saved = finished.saved;
  saved = facts_of(job);
  const bool is_told = symbolize_options.progress != nullptr;  // workers report no progress
  if (is_told) say("putting the profile together");
  const bool has_python = std::any_of(recording.modules.begin(), recording.modules.end(),
                                      [](const Module& module) { return module.path == kPythonModule; });
  GroupOptions grouping = has_python ? kPythonGrouping : GroupOptions();
  grouping.has_second_thread = beside && !is_memory_limited();
  const uint64_t assemble_start_ns = monotonic_ns();
  std::optional<Profile> profile = make_profile(&recording, std::move(symbols), options_.all_sites, grouping);
  if (!profile) return memory_refused("write " + job.path);
  profile->run.cost.assemble_ns = monotonic_ns() - assemble_start_ns;
  finished.profile = std::make_unique<Profile>(std::move(*profile));
  const bool has_to_wait = complete && !is_idle();
  if (has_to_wait || !beside) recording = {};  // so that a million stacks are not in memory twice
  // `complete` waits for the other profiles, which may take minutes or fill the disk. So this profile is written first,
  // and again afterwards.
  Result<std::string> path = std::string();
  if (has_to_wait) {
    if (is_told) say("writing the profile");
    path = write_profile(*finished.profile, job.path, job.may_overwrite, job.spare_name, &finished.elsewhere);
    if (!path) return path.problem();
  }
  if (complete) complete(finished.profile.get());
  const bool is_written = !path->empty();
  if (is_told) say("writing the profile");
  const auto check_and_write = [&] {
    recording = {};
    saved.violations = find_violations(*finished.profile).size();
    return is_written
               ? write_profile(*finished.profile, *path, true)
               : write_profile(*finished.profile, job.path, job.may_overwrite, job.spare_name, &finished.elsewhere);
  };
  Result<std::string> last =
      beside ? write_beside(check_and_write, [&] { beside(finished.profile.get()); }) : check_and_write();
  if (!last && !is_written) return last.problem();
  if (last) path = std::move(last);

  saved.path = *path;
  for (RefusedDevice& refused : saved.refused) refused.path = saved.path;
  saved.size_bytes = file_bytes(saved.path);
  return finished;
}

Finisher::Finisher(const FinishOptions& options) : options_(options), symbols_(options.names_folder) {}

Finisher::~Finisher() {
  std::vector<Problem> unheard;
  collect_saved(&unheard);
}

// Two thousand compilers load the same libraries: if each job opened them again, file descriptors would run out.
void Finisher::share_files(Recording* recording) {
  if (files_.size() > kMostFiles) std::erase_if(files_, [](const auto& entry) { return entry.second.expired(); });
  for (Module& module : recording->modules) {
    struct stat facts {};
    if (module.file == nullptr || fstat(module.file->get(), &facts) != 0) continue;
    std::weak_ptr<UniqueFd>& known = files_[{facts.st_dev, facts.st_ino}];
    if (std::shared_ptr<UniqueFd> file = known.lock()) {
      module.file = std::move(file);
    } else {
      known = module.file;
    }
  }
}

void Finisher::submit(FinishJob job) {
  share_files(&job.recording);
  Waiting waiting;
  waiting.bytes = spillable_bytes(job.recording);
  waiting.job = std::move(job);
  bool needs_spiller = false;
  bool needs_worker = false;
  {
    const std::lock_guard guard(mutex_);
    if (!disk_) disk_.emplace(std::filesystem::path(absolute_path(waiting.job.path)).parent_path().string());
    waiting_bytes_ += waiting.bytes;
    waiting_.push_back(std::move(waiting));
    ++submitted_;
    needs_spiller = waiting_bytes_ > options_.most_waiting_bytes && !spiller_.joinable();
    // Under a memory limit no worker is started: running processes need that memory for their books, and free it when
    // they end.
    needs_worker = idle_workers_ == 0 && !is_memory_limited();
  }
  const size_t most_workers = std::clamp<size_t>(std::thread::hardware_concurrency() / 4, 1, kMostWorkers);
  try {
    if (needs_worker && workers_.size() < most_workers) workers_.emplace_back([this] { work(); });
    if (needs_spiller) spiller_ = std::thread([this] { spill(); });
  } catch (const std::system_error&) {  // no thread can be started: other workers do the work, or collect_saved() does
  }
  changed_.notify_all();
}

std::vector<SavedProfile> Finisher::collect_saved(std::vector<Problem>* problems) {
  {
    std::unique_lock guard(mutex_);
    closed_ = true;
    changed_.notify_all();
    if (workers_.empty()) {
      guard.unlock();
      work();
      guard.lock();
    }
    if (done_ < submitted_) say("writing the other processes' profiles");
    while (done_ < submitted_) {
      changed_.wait(guard);
      if (progress_ != nullptr) progress_->update(done_, submitted_, "profiles");
    }
  }
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
  if (spiller_.joinable()) spiller_.join();
  problems->insert(problems->end(), problems_.begin(), problems_.end());
  problems_.clear();
  return std::move(saved_);
}

// The oldest job that no thread works on, if there is memory for it.
std::list<Finisher::Waiting>::iterator Finisher::next_job() {
  const auto job =
      std::find_if(waiting_.begin(), waiting_.end(), [](const Waiting& entry) { return !entry.is_moving; });
  if (job == waiting_.end()) return job;
  const bool is_room = working_bytes_ == 0 || working_bytes_ + job->bytes <= options_.most_waiting_bytes;
  return is_room ? job : waiting_.end();
}

std::list<Finisher::Waiting>::iterator Finisher::next_to_spill() {
  if (disk_is_full_ || waiting_bytes_ <= options_.most_waiting_bytes) return waiting_.end();
  for (auto entry = waiting_.end(); entry != waiting_.begin();) {
    --entry;
    if (!entry->extent && entry->bytes != 0) return entry;
  }
  return waiting_.end();
}

void Finisher::work() {
  std::unique_lock guard(mutex_);
  for (;;) {
    auto next = next_job();
    while (next == waiting_.end()) {
      if (closed_ && waiting_.empty()) return;
      ++idle_workers_;
      changed_.wait(guard);
      --idle_workers_;
      next = next_job();
    }
    Waiting waiting = std::move(*next);
    waiting_.erase(next);
    if (!waiting.extent) waiting_bytes_ -= waiting.bytes;
    working_bytes_ += waiting.bytes;
    guard.unlock();
    const uint64_t bytes = waiting.bytes;
    SavedProfile facts = known_facts_of(waiting.job);
    Result<Finished> finished = finish_waiting(std::move(waiting));
    guard.lock();
    working_bytes_ -= bytes;
    ++done_;
    if (finished) {
      saved_.push_back(std::move(finished->saved));
    } else {
      problems_.push_back(finished.problem());
      saved_.push_back(std::move(facts));
    }
    changed_.notify_all();
  }
}

Result<Finished> Finisher::finish_waiting(Waiting waiting) {
  const std::string path = waiting.job.path;
  SymbolizeOptions symbolize_options;
  symbolize_options.worker_data_bytes = options_.names_bytes;
  try {
    if (waiting.extent && !disk_->take(*waiting.extent, &waiting.job.recording))
      return output_not_writable(path, "its numbers cannot be read back");
    return finish(std::move(waiting.job), symbolize_options, {}, {});
  } catch (const std::bad_alloc&) {
    return memory_refused("write " + path);
  }
}

void Finisher::spill() {
  std::unique_lock guard(mutex_);
  for (;;) {
    const auto entry = next_to_spill();
    if (entry == waiting_.end()) {
      if (closed_) return;
      changed_.wait(guard);
      continue;
    }
    entry->is_moving = true;
    guard.unlock();
    SpillFile::Extent extent;
    const bool is_moved = disk_->put(&entry->job.recording, &extent);
    guard.lock();
    entry->is_moving = false;
    if (is_moved) {
      entry->extent = std::move(extent);
      waiting_bytes_ -= entry->bytes;
      ++spilled_;
    } else {
      disk_is_full_ = true;
    }
    changed_.notify_all();
  }
}

}  // namespace heapprof::cli
