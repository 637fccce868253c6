// cli/collect/recorded_scopes.cc: converts the books' numbers of names and devices to texts, and ticks to nanoseconds.
// Two numbers with the same text become one name.
#include "cli/collect/recorded_scopes.h"

#include "cli/base/text.h"
#include "cli/model/analysis/scope_paths.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace heapprof::cli {

namespace {

constexpr const char* kNameWithoutRoom = "(other names)";

}  // namespace

NameText name_of(uint32_t number, const wire::Name* names) {
  if (number == 0 || number > wire::kMaxNames) return {"", kNameWithoutRoom};
  const wire::Name& name = names[number - 1];
  if (name.state.load(std::memory_order_acquire) != wire::NameState::kReady) return {"", kNameWithoutRoom};  // (L)
  char characters[sizeof name.characters];
  std::copy(std::begin(name.characters), std::end(name.characters), characters);
  const size_t category_bytes = std::min<size_t>(name.category_bytes, sizeof characters);
  const size_t text_bytes = std::min<size_t>(name.text_bytes, sizeof characters - category_bytes);
  return {escape_controls(std::string(characters, category_bytes)),
          escape_controls(std::string(characters + category_bytes, text_bytes))};
}

namespace {

std::string scope_device(uint32_t device) { return device == ScopeBook::kHost ? "host" : device_name(device); }

ScopeMemory memory_of(const ScopeTally& tally) {
  return {scope_device(tally.device), tally.allocated.bytes, tally.allocated.blocks,
          tally.freed.bytes,          tally.freed.blocks,    tally.peak_inside_bytes};
}

// Converts buckets of ticks to buckets of nanoseconds.
std::vector<uint64_t> durations_of(const std::vector<uint64_t>& by_ticks, const TickScale& scale) {
  std::map<uint64_t, uint64_t> counts;
  for (uint32_t bucket = 0; bucket < by_ticks.size(); ++bucket) {
    if (by_ticks[bucket] == 0) continue;
    const uint64_t low = bucket_duration(bucket);
    const uint64_t high = bucket + 1 < kDurationBuckets ? bucket_duration(bucket + 1) : UINT64_MAX;
    counts[duration_bucket(scale.to_ns(low + (high - low) / 2, 0))] += by_ticks[bucket];
  }
  std::vector<uint64_t> durations;
  for (const auto& [bucket, count] : counts) durations.insert(durations.end(), {bucket, count});
  return durations;
}

ScopeInstance instance_of(const InstanceBook::Run& run, const TickScale& scale) {
  ScopeInstance instance;
  instance.begin_ns = scale.since_start_ns(run.begin_ticks);
  instance.end_ns = std::max(instance.begin_ns, scale.since_start_ns(run.end_ticks));
  instance.active_ns = std::min(scale.to_ns(run.active_ticks, 0), instance.end_ns - instance.begin_ns);
  if ((run.flags & kInstanceLeft) == 0) instance.active_ns = instance.end_ns - instance.begin_ns;
  instance.growth_bytes = run.growth_bytes;
  instance.thread = run.thread_id;
  instance.flags = run.flags;
  return instance;
}

// What was live on a device other than the host before and after the runs.
InstanceMemory memory_of(const std::vector<InstanceBook::Run>& runs, uint32_t device, const InstanceBook& book) {
  const auto live_in = [&](uint32_t row) {
    for (const auto& [number, bytes] : book.devices_live(row)) {
      if (number == device) return bytes;
    }
    return uint64_t{0};
  };
  InstanceMemory memory{scope_device(device), {}, {}};
  for (const InstanceBook::Run& run : runs) {
    memory.before_bytes.push_back(live_in(run.before));
    memory.after_bytes.push_back(live_in(run.after));
  }
  return memory;
}

void add_instances(const InstanceBook& book, uint32_t path, const TickScale& scale, Scope* scope) {
  std::vector<InstanceBook::Run> runs;
  book.for_each(path, [&runs](const InstanceBook::Run& run) { runs.push_back(run); });
  scope->unkept_instances = scope->begun - std::min<uint64_t>(scope->begun, runs.size());
  if (runs.empty()) return;
  std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin_ticks, a.number) < std::tie(b.begin_ticks, b.number);
  });
  InstanceMemory host{scope_device(ScopeBook::kHost), {}, {}};
  std::set<uint32_t> devices;
  for (const InstanceBook::Run& run : runs) {
    scope->instances.push_back(instance_of(run, scale));
    host.before_bytes.push_back(run.host_before_bytes);
    host.after_bytes.push_back(run.host_after_bytes);
    for (const uint32_t row : {run.before, run.after}) {
      for (const auto& [device, bytes] : book.devices_live(row)) devices.insert(device);
    }
  }
  scope->instance_memory.push_back(std::move(host));
  for (const uint32_t device : devices) scope->instance_memory.push_back(memory_of(runs, device, book));
}

// pre: path i's scope is the i-th
void record_backward(const std::vector<ScopePath>& paths, Scopes* scopes) {
  const bool has_any = std::any_of(paths.begin(), paths.end(), [](const ScopePath& path) { return path.forward != 0; });
  if (!has_any) return;
  std::vector<std::vector<ScopeMemory>> sums = memory_with_inner(*scopes);
  for (size_t i = 1; i < paths.size(); ++i) {
    if (paths[i].forward == 0) continue;
    Scope& scope = scopes->scopes[i - 1];
    for (ScopeMemory& memory : sums[i - 1]) memory.peak_inside_bytes = 0;
    scope.backward_of = {
        {path_of_scope(*scopes, paths[i].forward - 1), scope.begun, scope.time_ns, std::move(sums[i - 1])}};
  }
}

Scope scope_of(const ScopePath& path, const NameText& name, const TickScale& scale) {
  Scope scope;
  scope.parent = path.parent;
  scope.category = name.category;
  scope.name = name.text;
  scope.is_operator = path.is_operator;
  scope.begun = path.begun;
  scope.ended = path.ended;
  scope.left_open = path.left_open;
  scope.time_ns = scale.to_ns(path.ticks, 0);
  scope.own_time_ns = scale.to_ns(path.own_ticks, 0);
  scope.shortest_ns = scale.to_ns(path.shortest_ticks, 0);
  scope.longest_ns = scale.to_ns(path.longest_ticks, 0);
  scope.items = path.items;
  scope.kernel_launches = path.kernel_launches;
  scope.durations = durations_of(path.durations, scale);
  scope.memory.push_back(memory_of(path.host));
  for (const ScopeTally& tally : path.devices) scope.memory.push_back(memory_of(tally));
  for (const auto& [call, sum] : path.calls) {
    const char* call_name = wire::device_call_name(call);
    scope.calls.push_back(
        {call_name == nullptr ? "" : call_name, sum.count, scale.to_ns(sum.duration_ticks, 0), sum.size_bytes});
  }
  std::sort(scope.calls.begin(), scope.calls.end(),
            [](const ScopeCall& a, const ScopeCall& b) { return a.call < b.call; });
  return scope;
}

std::string kernel_name_of(uint32_t number, const wire::KernelName* kernels) {
  if (number == wire::kUnnamedKernel) return kUnnamedKernels;
  if (number == 0 || number > wire::kMaxKernels) return kOtherKernels;
  const wire::KernelName& name = kernels[number - 1];
  if (name.state.load(std::memory_order_acquire) != wire::NameState::kReady) return kOtherKernels;  // (L)
  char characters[sizeof name.characters];
  std::copy(std::begin(name.characters), std::end(name.characters), characters);
  const size_t bytes = name.text_bytes;
  const std::string text = escape_controls(std::string(characters, std::min(bytes, sizeof characters)));
  return bytes > sizeof characters ? text + "…" : text;
}

KernelLaunches kernel_of(wire::Record launch, uint64_t count, const wire::KernelName* kernels) {
  const wire::LaunchShape shape = wire::launch_shape(launch.w0, launch.w1);
  KernelLaunches kernel;
  kernel.name = kernel_name_of(wire::launched_kernel(launch.w0), kernels);
  std::copy(std::begin(shape.grid), std::end(shape.grid), kernel.grid.begin());
  std::copy(std::begin(shape.block), std::end(shape.block), kernel.block.begin());
  kernel.shared_bytes = shape.shared_bytes;
  kernel.count = count;
  return kernel;
}

// pre: path i's scope is the i-th
void record_launches(const LaunchBook& book, const wire::KernelName* kernels, Scopes* scopes) {
  const auto launches_of = [scopes](uint32_t path) -> Launches& {
    return path == 0 || path > scopes->scopes.size() ? scopes->outside : scopes->scopes[path - 1].launches;
  };
  for (const auto& [row, count] : book.rows()) {
    Launches& launches = launches_of(row.path);
    if (wire::launched_kernel(row.launch.w0) == wire::kGraphLaunch) {
      const uint64_t known = row.launch.w1;
      launches.graphs.push_back({known != 0, known == 0 ? 0 : known - 1, count});
    } else {
      launches.kernels.push_back(kernel_of(row.launch, count, kernels));
    }
  }
  for (const auto& [path, count] : book.others()) {
    KernelLaunches others;
    others.name = kOtherKernels;
    others.count = count;
    launches_of(path).kernels.push_back(others);
  }
  sort_launches(&scopes->outside);
  for (Scope& scope : scopes->scopes) sort_launches(&scope.launches);
}

}  // namespace

Scopes recorded_scopes(const RecordedBooks& books, const RecordedNames& names, const TickScale& scale) {
  const ScopeBook& book = *books.scopes;
  Scopes scopes;
  scopes.lost_names = names.lost_names;
  scopes.lost_kernel_names = names.lost_kernel_names;
  scopes.lost = book.lost();
  scopes.lost_marks = book.lost_marks();
  scopes.unmatched_ends = book.unmatched_ends();
  for (size_t i = 1; i < book.paths().size(); ++i) {  // scopes.scopes[i - 1] becomes path i's scope
    const ScopePath& path = book.paths()[i];
    scopes.scopes.push_back(scope_of(path, name_of(path.name, names.names), scale));
    add_instances(book.instances(), static_cast<uint32_t>(i - 1), scale, &scopes.scopes.back());
  }
  record_launches(*books.launches, names.kernels, &scopes);
  for (const auto& [path, time] : books.gpu_times->times()) {
    GpuTime& to = path == 0 || path > scopes.scopes.size() ? scopes.gpu.outside : scopes.scopes[path - 1].gpu;
    to = {time.time_ns, time.intervals};
  }
  scopes.gpu.unread = books.gpu_times->unread();
  record_backward(book.paths(), &scopes);
  sort_scopes(&scopes);
  for (const MarkedMoment& moment : book.marks()) {
    Mark& mark = scopes.marks.emplace_back();
    const NameText name = name_of(moment.name, names.names);
    mark.category = name.category;
    mark.name = name.text;
    mark.at_ns = scale.since_start_ns(moment.ticks);
    mark.thread = moment.thread_id;
    for (const auto& [device, live] : moment.live)
      mark.memory.push_back({scope_device(device), live.bytes, live.blocks});
  }
  return scopes;
}

void add_gpu_counters(wire::GpuTimeMode mode, const wire::Control& control, const TickScale& scale, GpuTimes* times) {
  constexpr const char* kModes[] = {"", "deferred", "scope", "immediate"};
  if (mode == wire::GpuTimeMode::kOff) return;
  times->mode = kModes[static_cast<size_t>(mode)];
  times->captured = control.gpu_captured.load(std::memory_order_relaxed);
  times->untimed = control.gpu_untimed.load(std::memory_order_relaxed);
  times->waits = control.gpu_waits.load(std::memory_order_relaxed);
  times->waits_ns = scale.to_ns(control.gpu_wait_ticks.load(std::memory_order_relaxed), 0);
}

}  // namespace heapprof::cli
