// cli/run/recording_switch.cc: carries out a client's order in the collectors of a run.
//
// If an order names the pid of the run's heapprof, it applies to all processes of the run, also to later ones. If it
// names another pid, it applies to that process alone, and the process's children are recorded as the run says.
#include "cli/run/recording_switch.h"

#include "cli/base/clock.h"
#include "cli/run/init.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

namespace heapprof::cli {

namespace {

void answer(const Caller& caller, OrderStatus status, uint32_t processes, std::string_view text) {
  OrderAnswer packet;
  packet.status = status;
  packet.processes = processes;
  text.copy(packet.text, sizeof packet.text - 1);
  static_cast<void>(send(caller.connection.get(), &packet, sizeof packet, MSG_NOSIGNAL));
}

// Why the order is refused; empty if it may be followed.
std::string_view refusal(const Caller& caller) {
  const Order& order = *caller.order;
  if (caller.uid != geteuid() && caller.uid != 0) return "its heapprof belongs to another user";
  if (order.version != kOrderVersion) return "its heapprof is of another version";
  if (order.kind == OrderKind::kSample && order.interval_bytes != 0 &&
      (order.interval_bytes < wire::kLeastInterval || order.interval_bytes > wire::kMostInterval))
    return "the interval is not valid for sampling";
  if (order.kind == OrderKind::kMark && (order.name[0] == 0 || order.name[sizeof order.name - 1] != 0))
    return "the mark has no name";
  return "";
}

// Carries out the order in one process. False: that is not possible.
bool follow(const Order& order, ProcessCollector* collector) {
  switch (order.kind) {
    case OrderKind::kPause: collector->pause(); return true;
    case OrderKind::kResume: collector->resume(); return true;
    case OrderKind::kSample: return collector->set_recorded({order.interval_bytes});
    case OrderKind::kMark: return collector->add_mark(order.name);
  }
  return false;
}

}  // namespace

RecordingSwitch::RecordingSwitch(const StartRule& start)
    : awaits_mark_(start.kind == StartKind::kAtMark),
      resume_at_ns_(start.kind == StartKind::kAfter ? monotonic_ns() + start.after_ns : UINT64_MAX) {}

void RecordingSwitch::obey(const Caller& caller, Processes* processes) {
  if (const std::string_view why = refusal(caller); !why.empty()) return answer(caller, OrderStatus::kRefused, 0, why);
  const Order& order = *caller.order;
  const bool is_of_all = is_pid_of_run(order.pid);
  if (!is_of_all && !processes->has(order.pid)) return answer(caller, OrderStatus::kUnknown, 0, "");
  const bool is_of_part =
      order.kind == OrderKind::kPause || (order.kind == OrderKind::kSample && order.interval_bytes != 0);
  uint32_t following = 0;
  bool has_failed = false, is_needed_whole = false;
  processes->for_each([&](pid_t pid, ProcessCollector& collector) {
    if (!is_of_all && pid != order.pid) return;
    is_needed_whole = is_needed_whole || (is_of_part && collector.needs_all());
    if (is_needed_whole) return;
    if (follow(order, &collector)) {
      ++following;
    } else {
      has_failed = true;
    }
  });
  if (is_needed_whole)
    return answer(caller, OrderStatus::kRefused, 0, "--leak-check and --python-objects need every block");
  if (has_failed && following == 0)
    return answer(caller, OrderStatus::kRefused, 0,
                  order.kind == OrderKind::kMark ? "there is no room for another name"
                                                 : "there have been 255 different intervals");
  const bool is_about_recording = order.kind != OrderKind::kMark;
  if (is_of_all && is_about_recording) {
    awaits_mark_ = false;
    resume_at_ns_ = UINT64_MAX;
    RecordedBlocks recorded = processes->recorded_next();
    if (order.kind == OrderKind::kSample) recorded.interval_bytes = order.interval_bytes;
    processes->set_recorded_next(recorded, order.kind == OrderKind::kPause);
  }
  answer(caller, OrderStatus::kDone, following, is_of_all ? kWholeRun : "");
}

void RecordingSwitch::tick(Processes* processes) {
  bool is_time = monotonic_ns() >= resume_at_ns_;
  if (awaits_mark_)
    processes->for_each([&](pid_t, ProcessCollector& collector) { is_time = is_time || collector.has_met_mark(); });
  if (!is_time) return;
  awaits_mark_ = false;
  resume_at_ns_ = UINT64_MAX;
  processes->for_each([](pid_t, ProcessCollector& collector) { collector.resume(); });
  processes->set_recorded_next(processes->recorded_next(), false);
}

}  // namespace heapprof::cli
