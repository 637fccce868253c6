// cli/collect/process_collector.cc: connects the parts of a process, and runs each in turn.
//
// The parts do not know each other. The drain fetches events and gives them to the ledger. Periodic work is done here,
// between two rounds: the resident set every 10 ms, names of threads (two new ones a round, as each costs a file),
// samples of live bytes. So a round stays short.
//
// Memory may run out in any round. `is_broken` is set while a round is under way. If it is still set, the queues may
// have been applied in part, and stop() must leave them alone; otherwise it may apply them. Either way the books are
// those of some prefix of the events, and the profile says where it ends.
#include "cli/collect/process_collector.h"

#include "cli/base/clock.h"
#include "cli/collect/arena.h"
#include "cli/collect/block_choice.h"
#include "cli/collect/books/live_samples.h"
#include "cli/collect/clock.h"
#include "cli/collect/collector_parts.h"
#include "cli/collect/counters.h"
#include "cli/collect/coverage.h"
#include "cli/collect/drain.h"
#include "cli/collect/fragmentation.h"
#include "cli/collect/leak_watch.h"
#include "cli/collect/questions.h"
#include "cli/collect/recorded_changes.h"
#include "cli/collect/recorded_parts.h"
#include "cli/collect/recording_builder.h"
#include "cli/collect/rings/notes.h"
#include "cli/collect/snapshot_clock.h"
#include "cli/collect/top_reader.h"
#include "cli/collect/untouched.h"
#include "cli/model/profile/recursion_frame.h"

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace heapprof::cli {

namespace {

constexpr uint64_t kWindowNs = 1'000'000;  // at most this far apart, two events of one address may have inverted stamps
constexpr uint64_t kWindowNumbers = 1024;  // the same where stamps are a sequence
constexpr uint64_t kResidentIntervalNs = 10'000'000;
constexpr uint64_t kNamesIntervalNs = 100'000'000;
constexpr size_t kNewNamesPerRound = 2;  // a file each, about 5 µs
constexpr size_t kOldNamesPerInterval = 32;
constexpr uint64_t kMostFinalEvents =
    wire::kArenaBytes / wire::kUnitBytes;  // only a process that still writes has more

}  // namespace

struct ProcessCollector::State {
  State(const CollectorOptions& chosen, std::unique_ptr<Arena> shared_arena)
      : options(chosen),
        arena(std::move(shared_arena)),
        scale(chosen.clock_mode),
        ledger(&threads,
               chosen.clock_mode == wire::ClockMode::kTsc ? Ledger::TimeSource::kStamps : Ledger::TimeSource::kDrains),
        choice(arena.get(), &ledger, chosen.recorded, chosen.starts_paused),
        questions(arena.get(), monotonic_ns()) {
    ledger.set_same_name([this](uint32_t number) { return same_names.first_of(number, arena->names()); });
  }

  uint64_t repair_window() const {
    return options.clock_mode == wire::ClockMode::kTsc ? scale.to_ticks(kWindowNs) : kWindowNumbers;
  }

  static inline uint64_t next_serial = 1;
  const uint64_t serial = next_serial++;
  CollectorOptions options;
  std::unique_ptr<Arena> arena;
  const uint64_t arena_inode = arena->inode();
  TickScale scale;
  wire::Hello hello{};
  ProcessIdentity identity;
  ThreadTable threads;
  CallTree tree;
  Ledger ledger;
  std::unique_ptr<ProcessFiles> files;  // from here on: set by start()
  std::unique_ptr<ModuleMap> modules;
  DecodeShared shared{};
  std::unique_ptr<Drain> drain;
  uint64_t next_resident_ns = 0;
  uint64_t next_names_ns = 0;
  uint64_t sampled_epoch = 0;  // the peak that a resident sample belongs to
  ResidentSamples resident;
  LiveSamples samples;
  SnapshotClock snapshots;
  uint64_t end_ticks = 0;  // 0: has not ended
  bool is_detached = false;
  std::optional<wire::StopReason> end_stop;  // the process's own reason, read when it had ended
  bool is_broken = false;                    // memory ran out in the middle of a round
  std::string stop_reason;                   // empty: has not stopped before its time
  BlockChoice choice;
  QuestionService questions;
  std::optional<LeakWatch> leaks;  // with leak_check
  FragmentationWatch fragmentation;
  UntouchedWatch untouched;
  uint64_t books_ns = 0;  // by monotonic_ns(): the books have all events before it
  DeviceUses uses;
  SameNames same_names;

  // The time that the books have reached: the latest event's while there is a backlog, otherwise now.
  uint64_t book_ticks(size_t taken) const { return taken == 0 ? read_ticks(options.clock_mode) : ledger.last_ticks(); }
  void take_snapshot(size_t taken) {
    const uint64_t begin_ns = monotonic_ns();
    ledger.take_snapshot({book_ticks(taken), false, 0, 0, {}});
    snapshots.taken(begin_ns, monotonic_ns(), ledger.snapshots().thinnings());
  }

  // Only if every block is known.
  void look_at_pages(uint64_t resident_bytes) {
    if (identity.inherits || options.starts_paused || options.recorded.interval_bytes != 0) return;
    const wire::Control& control = arena->control();
    const uint64_t now_ns = monotonic_ns();
    fragmentation.step(now_ns, resident_bytes, {identity.pid, control.own_pages_avma, control.own_pages_count},
                       &ledger);
    untouched.step({now_ns, books_ns, resident_bytes}, {identity.pid, arena_inode}, &ledger);
  }

  // The identities of the devices that the agent has announced by now.
  DeviceIdentities read_identities() const {
    Coverage coverage;
    DeviceIdentities identities;
    read_notes(arena->notes(), arena->control().notes_claimed.load(std::memory_order_relaxed), &coverage, &identities);
    return identities;
  }
};

ProcessCollector::ProcessCollector(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProcessCollector::~ProcessCollector() = default;

Result<std::unique_ptr<ProcessCollector>> ProcessCollector::create(const CollectorOptions& options) {
  Result<std::unique_ptr<Arena>> arena = Arena::create();
  if (!arena) return arena.problem();
  write_options(options, &(*arena)->control());
  return std::unique_ptr<ProcessCollector>(
      new ProcessCollector(std::make_unique<State>(options, std::move(arena).value())));
}

int ProcessCollector::arena_fd() const { return state_->arena->fd(); }

void ProcessCollector::set_filter(wire::FilterState state) {
  std::atomic<wire::FilterState>& filter = state_->arena->control().filter;
  wire::FilterState known = filter.load(std::memory_order_relaxed);
  while (known < state && !filter.compare_exchange_weak(known, state, std::memory_order_relaxed)) {
  }
}

bool ProcessCollector::set_recorded(const RecordedBlocks& recorded) {
  drain();  // books earlier events first: from now on ends without a begin are accepted
  return state_->choice.set_recorded(recorded);
}
void ProcessCollector::pause() {
  drain();
  state_->choice.pause();
}
void ProcessCollector::set_stall_timeout(std::optional<uint32_t> milliseconds) {
  state_->arena->control().stall_timeout_ms = milliseconds.value_or(state_->options.stall_timeout_ms);
}
void ProcessCollector::resume() { state_->choice.resume(); }
bool ProcessCollector::needs_all() const { return state_->options.leak_check || state_->options.records_objects; }

bool ProcessCollector::add_mark(std::string_view name) {
  const uint32_t number = take_name(name, state_->arena->writable_names());
  if (number == 0 || state_->drain == nullptr) return false;
  drain();
  state_->ledger.mark_from_outside(number, state_->book_ticks(0));
  return true;
}

bool ProcessCollector::has_met_mark() const { return state_->choice.has_met_mark(); }

// Adds the map of JIT-compiled code, if there is such code in the stacks.
static void add_jit_map(ProcessFiles& files, Recording* recording) {
  const std::vector<Location>& locations = recording->locations;
  if (std::none_of(locations.begin(), locations.end(), [](const Location& location) {
        return location.module == kNoModule && location.svma != 0 && !is_python_frame(location.svma) &&
               !is_recursion(location);
      }))
    return;
  if (std::shared_ptr<UniqueFd> map = files.open_jit_map())
    recording->modules.push_back({"[JIT]", "", 0, std::move(map)});
}

void ProcessCollector::start(const wire::Hello& hello, const ProcessIdentity& identity) {
  State& state = *state_;
  state.hello = hello;
  state.identity = identity;
  state.scale = TickScale(state.options.clock_mode);
  state.files = std::make_unique<ProcessFiles>(identity.pid);
  // If the program ran before heapprof attached, a file may have been replaced since.
  const bool may_be_replaced = (hello.flags & wire::kHelloAttached) != 0;
  state.modules = std::make_unique<ModuleMap>(
      identity.executable,
      [files = state.files.get(), identity, may_be_replaced](const std::string& path, uint64_t start_avma) {
        if (path.empty()) return identity.is_loaded ? files->open_path(identity.executable) : files->open_executable();
        // Usually the path is more reliable, because another library may be mapped at that address by now.
        const bool is_of_process = path.starts_with("/proc/") || path.starts_with("/dev/fd/");
        std::shared_ptr<UniqueFd> file;
        if (may_be_replaced || is_of_process) file = files->open_mapped(start_avma);
        return file != nullptr || is_of_process ? file : files->open_path(path);
      });
  state.modules->set_codes([arena = state.arena.get()] { return arena->codes(); });
  state.shared.tree = &state.tree;
  state.shared.modules = state.modules.get();
  state.shared.threads = &state.threads;
  state.shared.rates = &state.choice.rates();
  state.shared.devices = &state.ledger.device_events();
  state.shared.second = state.options.second;
  state.shared.max_frames =
      std::min<uint32_t>(state.options.max_frames + wire::kMaxPythonFrames, UINT16_MAX);  // keep has 16 bits
  wire::FenceMode fence_mode = state.options.fence_mode;
  if (fence_mode == wire::FenceMode::kMembarrierExpedited && (hello.flags & wire::kHelloMembarrierRegistered) == 0)
    fence_mode = wire::FenceMode::kMembarrierGlobal;  // needs no registration by the target
  // Blocks that an inner allocator handed out before it was hooked may be freed later, and their begins were not
  // recorded.
  if (identity.inner && state.arena->put_inner_plan(identity.inner->plan)) {
    state.identity.inherits = true;
    state.arena->sampling().orders_stamps.store(1, std::memory_order_relaxed);
  }
  if (state.identity.inherits) state.ledger.set_inherits();
  state.choice.await_mark(state.options.awaited_mark);
  state.ledger.start(state.scale.start_ticks());
  state.ledger.devices().trace().start(state.options.trace_events);
  if (state.options.snapshot_interval_ns != 0) {
    state.ledger.start_snapshots();
    state.snapshots.start(state.options.snapshot_interval_ns, monotonic_ns());
  }
  state.drain = std::make_unique<Drain>(
      state.arena.get(), &state.shared, &state.ledger, state.files.get(),
      DrainOptions{state.options.clock_mode, fence_mode, state.repair_window(), state.options.patience_ns,
                   state.options.second, state.options.second_from_bytes, state.options.trim_interval_ns});
  if (state.options.leak_check)
    state.leaks.emplace(state.arena.get(), identity.pid, hello_text(hello.malloc_object), identity.inherits);
}

wire::StopReason ProcessCollector::agent_stop() const {
  return static_cast<wire::StopReason>(state_->arena->control().stop_reason.load(std::memory_order_acquire));  // (S)
}

int ProcessCollector::death_signal() const {
  const uint32_t word = state_->arena->control().death_signal.load(std::memory_order_relaxed);
  return word > 1 && word <= SIGRTMAX + 1u ? static_cast<int>(word - 1) : 0;
}

bool ProcessCollector::is_judged() const { return state_->leaks && state_->leaks->is_asked(); }

uint64_t ProcessCollector::next_drain_ns() const {
  if (state_->drain == nullptr) return Pace::kNever;
  return state_->questions.next_look_ns(state_->drain->next_round_ns(), monotonic_ns());
}

size_t ProcessCollector::drain(RoundKind kind) {
  State& state = *state_;
  if (state.drain == nullptr) return 0;
  state.arena->control().heartbeat.fetch_add(1, std::memory_order_relaxed);
  const uint64_t now_ns = monotonic_ns();
  if (state.options.clock_mode == wire::ClockMode::kSequence) state.ledger.set_drain_ticks(now_ns);
  const bool is_asked = state.questions.look(state.drain.get(), now_ns);
  const bool is_moment = state.snapshots.is_due(now_ns);
  state.is_broken = true;  // stays set if round() throws
  const size_t taken = state.drain->round(is_judged() || is_asked || is_moment ? RoundKind::kAll : kind);
  state.is_broken = false;
  if (is_asked) state.questions.answer(state.drain.get(), &state.ledger, state.threads);
  if (state.leaks) state.leaks->step(state.drain.get(), &state.ledger);
  if (is_moment) state.take_snapshot(taken);
  if (state.threads.unnamed_count() != 0 || now_ns >= state.next_names_ns) {
    size_t budget = kNewNamesPerRound;
    if (now_ns >= state.next_names_ns) {
      state.next_names_ns = now_ns + kNamesIntervalNs;
      budget = kOldNamesPerInterval;
    }
    state.threads.refresh_names(budget, [&state](uint32_t id) { return state.files->thread_name(id); });
  }
  if (now_ns >= state.next_resident_ns) {
    const uint64_t latest_ns = state.scale.start_ns() + state.scale.since_start_ns(state.ledger.last_ticks());
    state.books_ns = std::max(state.books_ns, state.drain->is_quiet() ? now_ns : latest_ns);
    sample_resident();
  }
  state.ledger.set_bound(state.book_ticks(taken));
  if (state.samples.is_due(now_ns)) state.samples.take(state.ledger.sites(), state.book_ticks(taken), now_ns);
  return taken;
}

void ProcessCollector::sample_resident() {
  State& state = *state_;
  if (state.files == nullptr) return;
  state.next_resident_ns = monotonic_ns() + kResidentIntervalNs;
  const uint64_t bytes = state.files->resident_bytes();
  if (bytes == 0) return;
  const MappingLedger& mappings = state.ledger.mappings();
  state.resident.add(bytes, state.ledger.sites().totals().live.bytes,
                     mappings.live_bytes(wire::kMappedDevice) + mappings.live_bytes(wire::kMappedFileDevice));
  if (state.ledger.sites().epoch() != state.sampled_epoch) {
    state.sampled_epoch = state.ledger.sites().epoch();
    state.resident.at_peak_bytes = bytes;
  }
  state.look_at_pages(bytes);
  state.scale.recalibrate();
  state.drain->set_repair_window(state.repair_window());
}

std::vector<std::string> ProcessCollector::device_uuids() const {
  std::vector<std::string> uuids;
  if (state_->ledger.devices().books().empty()) return uuids;
  for (const auto& [device, identity] : state_->read_identities()) {
    if (!identity.uuid.empty()) uuids.push_back(identity.uuid);
  }
  return uuids;
}

void ProcessCollector::note_device_use(const std::string& uuid, uint64_t bytes, bool is_of_all) {
  for (const auto& [device, identity] : state_->read_identities()) {
    if (identity.uuid == uuid)
      note_use(bytes, is_of_all, state_->ledger.devices().seen_bytes(device), &state_->uses[device]);
  }
}

void ProcessCollector::note_use_missing(const std::string& uuid, const std::string& reason) {
  for (const auto& [device, identity] : state_->read_identities()) {
    DeviceUse& use = state_->uses[device];
    if (identity.uuid == uuid && use.samples == 0) use.missing = reason;
  }
}

void ProcessCollector::drain_to_end() {
  State& state = *state_;
  wire::Control& control = state.arena->control();
  if (state.drain == nullptr) return;
  state.end_ticks = read_ticks(state.options.clock_mode);
  if (state.options.clock_mode == wire::ClockMode::kSequence) state.ledger.set_drain_ticks(state.end_ticks);
  for (uint64_t taken = 0; taken <= kMostFinalEvents;) {
    state.is_broken = true;
    const size_t in_round = state.drain->final_round();
    state.is_broken = false;
    if (in_round == 0) break;
    taken += in_round;
  }
  // Another process that shares this one's memory (CLONE_VM) may live on. Without the detach it would wait for space
  // until stall_timeout_ms. The reason that it gives when it stops does not concern this process.
  state.end_stop = static_cast<wire::StopReason>(control.stop_reason.load(std::memory_order_relaxed));
  if (!state.is_detached) control.detach.store(wire::Detach::kProcess, std::memory_order_release);
}

void ProcessCollector::detach() {
  state_->is_detached = true;
  state_->arena->control().detach.store(wire::Detach::kSession, std::memory_order_release);
}

void ProcessCollector::stop(const std::string& reason) {
  State& state = *state_;
  state.stop_reason = reason;
  // Applies what was decoded; after a bad_alloc it may be applied in part.
  try {
    if (state.drain != nullptr && !state.is_broken) state.drain->apply_ready();
  } catch (const std::bad_alloc&) {
  }
  state.ledger.stop_growing();
  if (state.end_ticks == 0) state.end_ticks = read_ticks(state.options.clock_mode);
  detach();
}

bool ProcessCollector::give_up_snapshots() {
  if (state_->ledger.snapshots().snapshots().empty()) return false;
  state_->ledger.give_up_snapshots();
  return true;
}

bool ProcessCollector::has_stopped() const { return !state_->stop_reason.empty(); }

uint64_t ProcessCollector::age_ns() const { return monotonic_ns() - state_->scale.start_ns(); }

MemoryNeed ProcessCollector::memory_need() const {
  return books_need({&state_->ledger, &state_->tree, state_->modules.get(), &state_->samples, &state_->questions});
}

bool ProcessCollector::wants_names() const { return state_->questions.wants_names(); }

std::vector<NamesWanted> ProcessCollector::take_wanted() { return state_->questions.take_wanted(); }

void ProcessCollector::reply(const NamesWanted& wanted, std::string_view text) {
  state_->questions.reply(wanted, text);
}

uint64_t ProcessCollector::serial() const { return state_->serial; }

TopSource ProcessCollector::top_source() const {
  State& state = *state_;
  return {state.serial, &state.ledger, &state.tree, &state.scale, state.arena.get(), state.drain.get(), &state.options};
}

std::optional<RecordedChanges> ProcessCollector::record_wanted(const NamesWanted& wanted) const {
  const State& state = *state_;
  RecordedChanges recorded;
  recorded.recording.run.pid = static_cast<uint64_t>(state.identity.pid);
  recorded.recording.run.executable = state.identity.executable;
  const std::vector<SiteChange>* const changes = state.questions.changes_of(wanted);
  if (state.modules == nullptr || changes == nullptr) return std::nullopt;
  record_changes(*changes, wanted.measure, state.tree, *state.modules, &recorded);
  recorded.recording.python_codes = recorded_codes(state.arena.get(), recorded.recording.locations);
  return recorded;
}

Recording ProcessCollector::finish_copy() {
  if (state_->drain != nullptr) state_->drain->apply_ready();
  state_->end_ticks = read_ticks(state_->options.clock_mode);  // as if everything had been drained
  if (state_->leaks) state_->leaks->forget();
  state_->fragmentation.forget();
  state_->untouched.forget();
  return finish();
}

Recording ProcessCollector::finish() {
  State& state = *state_;
  Recording recording;
  RunInfo& run = recording.run;
  wire::Control& control = state.arena->control();
  run.pid = static_cast<uint64_t>(state.identity.pid);
  run.executable = state.identity.executable;
  run.machine.libc = hello_text(state.hello.libc_version);
  run.coverage = coverage_of(state.hello, state.options, state.identity.executable);
  DeviceIdentities identities;
  read_notes(state.arena->notes(), control.notes_claimed.load(std::memory_order_relaxed), &run.coverage, &identities);
  if (state.options.reads_python)
    add_unread_interpreter(control.python_version.load(std::memory_order_relaxed), &run.coverage);
  add_unrecorded_objects(control, &run.coverage);
  add_unrecorded_operators(control, &run.coverage);
  if (state.identity.inner) add_inner_allocators(control, *state.identity.inner, &run.coverage);
  if (state.drain == nullptr) return recording;  // never started

  if (state.end_ticks == 0) drain_to_end();
  state.scale.recalibrate();
  state.ledger.finish(state.end_ticks);
  const uint64_t end_ticks = state.ledger.last_ticks();
  run.duration_ns = state.scale.since_start_ns(end_ticks);
  run.counters = counters_of(state.ledger.counts(), control, state.choice.unknown_ends(state.identity.inherits));
  run.sampling = state.choice.result(state.drain->counted_down(), run.duration_ns);
  state.ledger.for_each_left_out(
      [&run](uint64_t, uint64_t size_bytes) { run.counters.left_out_live_bytes += size_bytes; });
  run.counters.lost = state.drain->events_lost() + control.events_lost.load(std::memory_order_relaxed);
  run.unwinder = state.drain->unwinder_counters();
  run.counters.unmatched_device_events = state.ledger.devices().unmatched() + state.ledger.mappings().unmatched();
  run.counters.truncated_stacks = state.shared.truncated_stacks;
  run.counters.corrupt_records = state.shared.corrupt_records + (state.modules->is_sound() ? 0 : 1);
  run.counters.watermark_skips = state.drain->watermark_skips();
  run.counters.events_before_agent = state.hello.events_before;
  const auto stop_now = static_cast<wire::StopReason>(control.stop_reason.load(std::memory_order_relaxed));
  const wire::StopReason stop = state.end_stop.value_or(stop_now);
  run.incomplete_reason = what_is_missing(run.counters, stop, state.is_detached, state.drain->has_unreadable_rings(),
                                          control.attached.load(std::memory_order_relaxed) != 0, state.stop_reason);
  run.complete = run.incomplete_reason.empty();
  if (state.leaks) run.leak_check = state.leaks->end(run.complete);
  const bool is_exact = run.complete && !run.sampling.has_any();
  run.cost.arena_resident_bytes = state.arena->resident_bytes();
  state.tree.release_slots();
  const RecordedNames names = {state.arena->names(), state.arena->kernel_names(),
                               control.names_lost.load(std::memory_order_relaxed),
                               control.kernel_names_lost.load(std::memory_order_relaxed)};
  build_recording({&state.tree, state.modules.get(), &state.ledger, &state.scale, end_ticks, &state.samples,
                   state.resident, names, &identities, &state.uses, &state.options.limits, &state.snapshots,
                   state.options.snapshot_interval_ns, run.leak_check.is_made ? &*state.leaks : nullptr,
                   is_exact ? state.fragmentation.at_end(state.ledger) : std::nullopt,
                   is_exact ? state.untouched.at_end() : std::nullopt},
                  &recording);
  add_gpu_counters(state.options.gpu_time, control, state.scale, &recording.scopes.gpu);
  recording.python_codes = recorded_codes(state.arena.get(), recording.locations);
  add_jit_map(*state.files, &recording);
  recording.scopes.nvtx_left = control.nvtx_left.load(std::memory_order_relaxed);
  recording.api.kernel_launches = state.drain->kernel_launches();
  state.threads.finish(&run.threads, &run.other_threads, &run.other_threads_count);
  return recording;
}

}  // namespace heapprof::cli
