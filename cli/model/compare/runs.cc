// cli/model/compare/runs.cc: runs are paired by their commands, and only then by the names of their files.
//
// Two folders may have profiles of the same programs in different order, and pids in file names differ from run to run.
// So pairs are made by the command line (without the program's folder, which differs between builds). The remaining
// profiles are paired by file name.
//
// The median run is one of the runs, because a mean would mix the sites of several runs. For an even number it is the
// lower of the two in the middle. The noise is the largest difference of a run from the median run. A smaller
// difference between two sets of runs means nothing.
#include "cli/model/compare/runs.h"

#include "cli/base/file_name.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace heapprof::cli {
namespace {

std::vector<std::string> command_key(const RunTotals& run) {
  std::vector<std::string> key = run.command;
  if (!key.empty()) key[0] = base_name(key[0]);
  return key;
}

uint64_t weight(const RunTotals& run) {
  if (run.devices.empty()) return 0;
  return run.devices[0].second.metric(run.has_lifetimes ? Metric::kPeak : Metric::kTotal);
}

template <typename Key, typename KeyOf>
void pair_by(KeyOf key_of, const std::vector<RunTotals>& base, const std::vector<RunTotals>& current,
             Pairing* pairing) {
  std::map<Key, RunPair> by_key;
  for (const size_t i : pairing->base_only) by_key[key_of(base[i])].base.push_back(i);
  for (const size_t i : pairing->current_only) by_key[key_of(current[i])].current.push_back(i);
  pairing->base_only.clear();
  pairing->current_only.clear();
  for (auto& [key, pair] : by_key) {
    if (!pair.base.empty() && !pair.current.empty()) {
      pairing->pairs.push_back(std::move(pair));
    } else {
      pairing->base_only.insert(pairing->base_only.end(), pair.base.begin(), pair.base.end());
      pairing->current_only.insert(pairing->current_only.end(), pair.current.begin(), pair.current.end());
    }
  }
}

}  // namespace

RunTotals sum_run(const Profile& profile, const std::string& file) {
  RunTotals run;
  run.file = file;
  run.dialect = profile.dialect;
  run.has_lifetimes = profile.has_lifetimes;
  run.is_merged = !profile.merged.empty();
  run.complete = profile.run.complete;
  run.incomplete_reason = profile.run.incomplete_reason;
  run.command = profile.run.command;
  for (const Device& device : profile.devices) run.devices.emplace_back(device.name, sum_of_sites(device));
  return run;
}

PlaceNumbers numbers_on(const RunTotals& run, const std::string& device) {
  for (const auto& [name, numbers] : run.devices) {
    if (name == device) return numbers;
  }
  return {};
}

bool is_same_command(const RunTotals& a, const RunTotals& b) {
  if (a.command.empty() || b.command.empty()) return true;
  return command_key(a) == command_key(b);
}

size_t median_run(const std::vector<RunTotals>& runs) {
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weight(runs[a]) < weight(runs[b]); });
  return order[(order.size() - 1) / 2];
}

Ratio find_noise(const std::vector<RunTotals>& runs, const std::string& device, Metric metric) {
  if (runs.size() < 2) return {0, 1};
  const uint64_t middle = numbers_on(runs[median_run(runs)], device).metric(metric);
  uint64_t largest = 0;
  for (const RunTotals& run : runs)
    largest = std::max(largest, Change{middle, numbers_on(run, device).metric(metric)}.amount());
  return {largest, middle};
}

Pairing pair_runs(const std::vector<RunTotals>& base, const std::vector<RunTotals>& current) {
  Pairing pairing;
  pairing.base_only.resize(base.size());
  pairing.current_only.resize(current.size());
  std::iota(pairing.base_only.begin(), pairing.base_only.end(), size_t{0});
  std::iota(pairing.current_only.begin(), pairing.current_only.end(), size_t{0});
  pair_by<std::vector<std::string>>(command_key, base, current, &pairing);
  pair_by<std::string>([](const RunTotals& run) { return base_name(run.file); }, base, current, &pairing);
  std::sort(pairing.pairs.begin(), pairing.pairs.end(),
            [](const RunPair& a, const RunPair& b) { return a.current < b.current; });
  std::sort(pairing.base_only.begin(), pairing.base_only.end());
  std::sort(pairing.current_only.begin(), pairing.current_only.end());
  return pairing;
}

}  // namespace heapprof::cli
