// cli/merge/merge_step.cc: every wait has a limit. A process waits for the processes below it only for a part of the
// total time. The further it is from process 0, the smaller is that part, so that its parent gets its result in time.
#include "cli/merge/merge_step.h"

#include "cli/base/atomic_file.h"
#include "cli/base/clock.h"
#include "cli/base/problems.h"
#include "cli/model/compare/merge_profiles.h"
#include "cli/read/read_profile.h"
#include "cli/write/profile/dhat.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <tuple>

namespace heapprof::cli {
namespace {

constexpr uint64_t kLeastNs = 10'000'000'000;  // for copying whole profiles, even if less time is left
constexpr uint64_t kSilentNs = 3'000'000'000;  // before it names what it waits for
constexpr const char* kNotCome = "did not come";

// done.R: "part SNAPSHOTS" or "none SNAPSHOTS" or "failed WHY", then "missing PROCESS WHY" for each.
struct DoneWord {
  std::string kind;
  std::string rest;
  std::vector<MissingProcess> missing;
};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string done_text(const DoneWord& word) {
  std::string text = fmt::format("{} {}\n", word.kind, one_line(word.rest));
  for (const MissingProcess& missing : word.missing)
    text += fmt::format("missing {} {}\n", missing.process, one_line(missing.why));
  return text;
}

DoneWord parse_done(const std::string& text) {
  DoneWord word;
  std::istringstream lines(text);
  std::string line;
  for (bool is_first = true; std::getline(lines, line); is_first = false) {
    const size_t blank = std::min(line.find(' '), line.size());
    const std::string head = line.substr(0, blank);
    std::string rest = blank < line.size() ? line.substr(blank + 1) : "";
    if (is_first) {
      word.kind = head;
      word.rest = std::move(rest);
      continue;
    }
    MissingProcess missing;
    const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), missing.process);
    if (head != "missing" || number.ec != std::errc()) continue;
    missing.why = rest.substr(std::min<size_t>(rest.size(), static_cast<size_t>(number.ptr - rest.data()) + 1));
    word.missing.push_back(std::move(missing));
  }
  return word;
}

uint64_t number_of(const std::string& text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// keep: a line for each wanted profile: its number, pid, image, start, and its file's name up to the end of the line.
std::string keep_text(const std::vector<KeptInput>& kept) {
  std::string text = "heapprof-keep-1\n";
  for (size_t i = 0; i < kept.size(); ++i) {
    const ReadFile& file = kept[i].file;
    if (file.file.find('\n') != std::string::npos) continue;  // no process could read it back
    text += fmt::format("{} {} {} {} {}\n", i, file.pid, file.image, file.start_unix_ns, file.file);
  }
  return text;
}

std::string whole_name(size_t number) { return fmt::format("whole.{}", number); }

std::vector<KeptInput> parse_keep(const std::string& text) {
  std::vector<KeptInput> kept;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    size_t number = 0;
    KeptInput& input = kept.emplace_back();
    words >> number >> input.file.pid >> input.file.image >> input.file.start_unix_ns;
    words.get();
    std::getline(words, input.file.file);
    input.name = whole_name(number);
    if (!words) kept.pop_back();
  }
  return kept;
}

std::string own_name(const char* what, uint64_t process) { return fmt::format("{}.{}", what, process); }

// Finds a process that is in two shares, and would be counted twice. That happens if its profile was copied, because
// the plan takes a copy for another file.
const MergedPart* find_twice(const Profile& profile) {
  using Key = std::tuple<std::string, std::string, uint64_t, uint32_t, int64_t, uint64_t>;
  std::map<Key, uint32_t> seen;
  for (const MergedPart& part : profile.merged) {
    if (part.start_unix_ns == 0) continue;
    const auto [entry, is_new] = seen.try_emplace(
        Key{part.job.host, part.file, part.pid, part.image, part.start_unix_ns, part.duration_ns}, part.input);
    if (!is_new && entry->second != part.input) return &part;
  }
  return nullptr;
}

}  // namespace

MergeStep::MergeStep(StepRequest request)
    : request_(std::move(request)), folder_(request_.folder), start_ns_(monotonic_ns()) {}

const StepTask* MergeStep::find_task(uint64_t process) const {
  const auto found =
      std::find_if(plan_.begin(), plan_.end(), [process](const StepTask& task) { return task.process == process; });
  return found == plan_.end() ? nullptr : &*found;
}

uint64_t MergeStep::until_ns(const StepTask& task) const {
  uint64_t deepest = 0;
  for (const StepTask& other : plan_) deepest = std::max(deepest, other.depth);
  return start_ns_ + request_.wait_ns / (deepest + 1) * (deepest + 1 - task.depth);
}

// Gathers from the processes whose sums go into this one's. If one of them has no sum in time, the processes below it
// may still have theirs, so these are gathered directly.
void MergeStep::gather_below(uint64_t process, uint64_t until_ns, std::vector<std::string>* parts, Gathered* gathered) {
  for (const StepTask& task : plan_) {
    if (task.parent != process || task.process == process) continue;
    std::optional<std::string> text =
        folder_.wait(own_name("done", task.process), std::min(until_ns, monotonic_ns() + kSilentNs));
    if (!text && monotonic_ns() < until_ns) {
      request_.say(fmt::format("waiting for process {} of this step", task.process));
      text = folder_.wait(own_name("done", task.process), until_ns);
    }
    if (!text) {
      gathered->missing.push_back({task.process, kNotCome});
      gather_below(task.process, until_ns, parts, gathered);
      continue;
    }
    const DoneWord word = parse_done(*text);
    gathered->missing.insert(gathered->missing.end(), word.missing.begin(), word.missing.end());
    if (word.kind == "failed") gathered->missing.push_back({task.process, word.rest});
    if (word.kind == "failed") gather_below(task.process, until_ns, parts, gathered);
    if (word.kind == "part") parts->push_back(folder_.file(own_name("part", task.process)));
    if (word.kind != "failed") gathered->snapshots += number_of(word.rest);
  }
}

Result<MergeStep::Gathered> MergeStep::gather(const StepTask& task) {
  Gathered gathered;
  std::vector<std::string> own;
  for (const uint64_t file : task.files) {
    if (file < request_.files.size()) own.push_back(request_.files[file]);
  }
  const auto silent = [](size_t) {};
  if (!own.empty()) {
    Result<MergedFiles> merged = merge_files(own, silent);
    if (!merged) return merged.problem();
    read_ = std::move(merged->files);
    for (const ReadFile& file : read_) gathered.snapshots += file.snapshots;
    gathered.sums.push_back(std::move(merged->profile));
  }
  std::vector<std::string> parts;
  gather_below(task.process, until_ns(task), &parts, &gathered);
  if (!parts.empty()) {
    Result<MergedFiles> merged = merge_files(parts, silent);
    if (!merged) return merged.problem();
    gathered.sums.push_back(std::move(merged->profile));
  }
  ProfileMerger merger;
  for (Profile& sum : gathered.sums) {
    if (const Result<Done> added = merger.add(std::move(sum), folder_.file("part")); !added) return added.problem();
  }
  gathered.sums.clear();
  if (merger.inputs() > 0) gathered.sums.push_back(merger.take());
  return gathered;
}

Result<StepSum> MergeStep::lead() {
  if (const Result<Done> made = folder_.make(); !made) return made.problem();
  StepSum sum;
  std::vector<std::pair<uint64_t, StepList>> lists;
  const uint64_t until_ns = start_ns_ + request_.wait_ns / 4;
  const auto add = [&](uint64_t process, const StepList& list) { lists.push_back({process, list}); };
  StepList own;
  own.host = request_.step.host;
  for (const std::string& file : request_.files) own.files.push_back(mark_of(file).value_or(FileMark{}));
  add(0, own);
  bool is_said = false;
  for (uint64_t process = 1; process < request_.step.size; ++process) {
    const std::string name = own_name("list", process);
    std::optional<std::string> text = folder_.wait(name, std::min(until_ns, monotonic_ns() + kSilentNs));
    if (!text && !is_said && monotonic_ns() < until_ns) {
      request_.say(
          fmt::format("waiting for {} processes of this step to say what they have; --alone merges without them",
                      request_.step.size - process));
      is_said = true;
    }
    if (!text) text = folder_.wait(name, until_ns);
    const std::optional<StepList> list = text ? parse_list(*text) : std::nullopt;
    if (list) add(process, *list);
    if (!list) sum.missing.push_back({process, kNotCome});
  }
  plan_ = make_plan(lists);
  if (const Result<Done> written = folder_.write("plan", plan_text(plan_)); !written) return written.problem();
  Result<Gathered> gathered = gather(*find_task(0));
  if (!gathered) return gathered.problem();
  sum.missing.insert(sum.missing.end(), gathered->missing.begin(), gathered->missing.end());
  std::sort(sum.missing.begin(), sum.missing.end(),
            [](const MissingProcess& a, const MissingProcess& b) { return a.process < b.process; });
  if (gathered->sums.empty()) return sum;
  sum.merged.profile = std::move(gathered->sums[0]);
  sum.merged.files = read_;
  if (!sum.merged.files.empty()) sum.merged.files[0].snapshots = gathered->snapshots;
  for (size_t i = 1; i < sum.merged.files.size(); ++i) sum.merged.files[i].snapshots = 0;
  if (const MergedPart* twice = find_twice(sum.merged.profile); twice != nullptr)
    return process_merged_twice(input_name(*twice), twice->file);
  return sum;
}

Result<size_t> MergeStep::finish(const std::vector<KeptInput>& kept, const std::string& folder) {
  if (const Result<Done> told = folder_.write("keep", keep_text(kept)); !told) return told.problem();
  const Result<size_t> own = keep_profiles(kept, read_, folder);
  const uint64_t until_ns = std::max(start_ns_ + request_.wait_ns, monotonic_ns() + kLeastNs);
  for (const StepTask& task : plan_) {
    if (task.process != 0 && folder_.read(own_name("done", task.process)))
      folder_.wait(own_name("kept", task.process), until_ns);
  }
  size_t brought = own ? *own : 0;
  for (size_t i = 0; own && i < kept.size(); ++i) {
    const std::string whole = folder_.file(whole_name(i));
    if (access(whole.c_str(), R_OK) != 0) continue;
    ReadFile file = kept[i].file;
    file.path = whole;
    const Result<size_t> copied = keep_profiles({kept[i]}, {file}, folder);
    unlink(whole.c_str());
    if (copied) brought += *copied;
  }
  folder_.remove(request_.step.size);
  if (!own) return own.problem();
  return brought;
}

Result<Done> MergeStep::follow() {
  if (const Result<Done> made = folder_.make(); !made) return made.problem();
  StepList list;
  list.host = request_.step.host;
  for (const std::string& file : request_.files) list.files.push_back(mark_of(file).value_or(FileMark{}));
  const uint64_t process = request_.step.rank;
  const Result<Done> told = folder_.write(own_name("list", process), list_text(list));
  if (!told) return told.problem();
  const std::optional<std::string> text = folder_.wait("plan", start_ns_ + request_.wait_ns);
  const std::optional<std::vector<StepTask>> plan = text ? parse_plan(*text) : std::nullopt;
  if (!plan) {
    folder_.leave(own_name("list", process));
    return step_not_coordinated(request_.folder, "process 0 did not say what to do");
  }
  plan_ = *plan;
  const StepTask* const task = find_task(process);
  if (task == nullptr) {
    request_.warn(step_not_coordinated(request_.folder, "process 0 went on without this one"));
    return Done{};
  }
  Result<Gathered> gathered = gather(*task);
  DoneWord word{"none", fmt::format("{}", gathered ? gathered->snapshots : 0), {}};
  std::optional<Problem> problem;
  if (!gathered) problem = gathered.problem();
  if (gathered) word.missing = gathered->missing;
  if (gathered && !gathered->sums.empty()) {
    word.kind = "part";
    Result<AtomicFile> file = AtomicFile::create(folder_.file(own_name("part", process)));
    if (file) write_dhat(gathered->sums[0], &*file);
    const Result<std::string> path = file ? file->commit() : Result<std::string>(file.problem());
    if (!path) problem = path.problem();
  }
  if (problem) word = {"failed", problem->what, word.missing};
  const Result<Done> done = folder_.write(own_name("done", process), done_text(word));
  if (!done) return problem ? *problem : done.problem();
  if (problem) request_.warn(*problem);
  const std::optional<std::string> wanted = folder_.wait("keep", start_ns_ + 2 * request_.wait_ns);
  if (!wanted) return step_not_coordinated(request_.folder, "process 0 did not take the sums");
  return keep(*wanted);
}

Result<Done> MergeStep::keep(const std::string& text) {
  const Result<size_t> kept = keep_profiles(parse_keep(text), read_, request_.folder);
  const Result<Done> told = folder_.write(own_name("kept", request_.step.rank), kept ? "kept\n" : "failed\n");
  if (!kept) request_.warn(kept.problem());
  return told;
}

}  // namespace heapprof::cli
