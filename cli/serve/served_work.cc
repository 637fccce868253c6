// cli/serve/served_work.cc: for metrics, collectors are asked one after the other, with one time limit for all. A
// stopped collector costs two seconds. Processes whose collector did not answer in time are reported as down.
#include "cli/serve/served_work.h"

#include "cli/base/clock.h"
#include "cli/base/problems.h"
#include "cli/model/top/top_sample.h"
#include "cli/read/read_profile.h"
#include "cli/target/top_client.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMetricsPatienceNs = 4'000'000'000;  // Prometheus waits ten seconds by default
constexpr int kMetricsPatienceMs = 2000;

std::vector<const Device*> chosen_devices(const Profile& profile, const std::string& name) {
  std::vector<const Device*> devices;
  for (const Device& device : profile.devices) {
    if (name == "all" || device.name == name) devices.push_back(&device);
  }
  return devices;
}

}  // namespace

int write_heap(const std::vector<ReadPart>& parts, const ServedRequest& request, const GoHeapView& view,
               ByteSink* sink) {
  std::vector<Profile> profiles;
  profiles.reserve(parts.size());
  for (const ReadPart& part : parts) {
    Result<Profile> profile = read_profile(fmt::format("/proc/self/fd/{}", part.file));
    if (!profile) {
      sink->write(format_problem(profile.problem(), {}));
      return 503;
    }
    profiles.push_back(std::move(*profile));
  }
  std::vector<GoHeapPart> chosen;
  std::string known;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const Device* device : chosen_devices(profiles[i], request.device))
      chosen.push_back({&profiles[i], device, parts[i].labels, parts[i].is_subtracted});
    for (const Device& device : profiles[i].devices) {
      if (known.find(device.name) == std::string::npos) known += (known.empty() ? "" : ", ") + device.name;
    }
  }
  if (chosen.empty()) {
    sink->write(format_problem(
        bad_http_request(fmt::format("no process has used the device '{}', but: {}", request.device, known)), {}));
    return 404;
  }
  if (request.is_text) {
    write_go_heap_text(chosen, sink);
  } else {
    write_go_heap(chosen, view, sink);
  }
  return 200;
}

int write_metrics(const std::vector<ServedProcess>& processes, const MetricsView& view, ByteSink* sink) {
  const uint64_t end_ns = monotonic_ns() + kMetricsPatienceNs;
  std::vector<ProcessMetrics> metrics;
  for (const ServedProcess& process : processes) {
    const uint64_t now_ns = monotonic_ns();
    const auto left_ms = static_cast<int>(now_ns < end_ns ? (end_ns - now_ns) / 1'000'000 : 0);
    const Result<TopReply> reply = ask_totals(process.pid, std::min(left_ms, kMetricsPatienceMs));
    ProcessMetrics one;
    one.labels = process.labels();
    if (reply && reply->status == TopStatus::kSample) one.sample = parse_top_sample(reply->bytes);
    const ResidentMemory resident = resident_memory(process.pid);
    if (resident.now_bytes == 0 && !one.sample) continue;  // it has ended
    one.resident_bytes = resident.now_bytes;
    one.resident_peak_bytes = resident.peak_bytes;
    metrics.push_back(std::move(one));
  }
  sink->write(metrics_text(metrics, view));
  return 200;
}

}  // namespace heapprof::cli
