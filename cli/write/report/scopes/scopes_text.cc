// cli/write/report/scopes/scopes_text.cc: see scopes_text.h. A scope's memory includes that of the scopes inside it, as
// its time does, so a line is about everything below it.
#include "cli/write/report/scopes/scopes_text.h"

#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"
#include "cli/write/report/scopes/scope_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kWide = 120;          // columns from which on there is room for percentiles
constexpr size_t kNarrowScopes = 100;  // columns below which own time and blocks do not fit
constexpr size_t kMostMarks = 100;     // shown
constexpr size_t kMostIndented = 12;   // levels; a deeper one shows its number
constexpr size_t kCallsMargin = 6;
constexpr size_t kMostKernels = 5;  // shown for a scope
constexpr size_t kLeastName = 16;   // least columns of a kernel's name
constexpr const char* kHeapDevice = "host";

class ScopesWriter {
 public:
  ScopesWriter(const Profile& profile, const ScopesLook& look)
      : profile_(profile), scopes_(profile.scopes), devices_(profile.devices), look_(look) {}

  std::string write() {
    if (scopes_.empty()) return "\nSCOPES  the program had none (man 3 heapprof)\n";
    inner_.resize(scopes_.scopes.size() + 1);
    for (size_t i = 0; i < scopes_.scopes.size(); ++i)
      inner_[scopes_.scopes[i].parent].push_back(static_cast<uint32_t>(i));
    return title() + table() + outside() + gpu_times() + operators_text(profile_, look_) + categories() + marks();
  }

 private:
  std::string bytes(uint64_t value) const {
    return look_.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  }
  std::string change(uint64_t from, uint64_t to) const {
    return look_.exact_bytes ? format_change_bytes_exact({from, to}) : format_change_bytes({from, to});
  }

  std::string title() const {
    uint64_t begun = 0, ended = 0, left_open = 0;
    for (const Scope& scope : scopes_.scopes) {
      begun = add_saturating(begun, scope.begun);
      ended = add_saturating(ended, scope.ended);
      left_open = add_saturating(left_open, scope.left_open);
    }
    std::string text = fmt::format("SCOPES  {} by path, {} begun", format_counted(scopes_.scopes.size(), "scope"),
                                   format_count(begun));
    if (left_open != 0) text += fmt::format(", {} without an end", format_count(left_open));
    const uint64_t closed = add_saturating(ended, left_open);
    if (begun > closed) text += fmt::format(", {} open at the end", format_count(begun - closed));
    if (scopes_.lost != 0) text += fmt::format(", {} not counted for lack of room", format_count(scopes_.lost));
    if (scopes_.lost_names != 0)
      text += fmt::format(", {} without room for their name", format_count(scopes_.lost_names));
    if (scopes_.lost_kernel_names != 0)
      text += fmt::format(", names of kernels found no room {}", format_counted(scopes_.lost_kernel_names, "time"));
    if (scopes_.unmatched_ends != 0)
      text += fmt::format(", {} of NVTX without a range", format_counted(scopes_.unmatched_ends, "end"));
    return "\n" + wrapped(text, {0, 8, look_.columns}) + "\n";
  }

  std::string table() {
    if (scopes_.scopes.empty()) return "";
    const bool has_times = !look_.stable;
    const bool has_own = look_.columns >= kNarrowScopes;
    const bool has_percentiles = has_times && look_.columns >= kWide;
    const bool has_items =
        std::any_of(scopes_.scopes.begin(), scopes_.scopes.end(), [](const Scope& scope) { return scope.items != 0; });
    ScopeRow head = {"count"};
    if (has_times) head.push_back("time");
    if (has_times && has_own) head.push_back("own");
    if (has_percentiles) head.insert(head.end(), {"p50", "p99", "max"});
    const bool has_gpu = has_times && !scopes_.gpu.mode.empty();
    const std::vector<uint64_t> gpu_ns = gpu_time_with_inner(scopes_);
    const uint64_t all_gpu_ns = has_gpu ? all_gpu_time() : 0;
    if (has_gpu) head.insert(head.end(), {"GPU", "of GPU"});
    if (has_items) head.push_back("items");
    if (has_items && has_times) head.push_back("items/s");
    head.push_back("allocated");
    if (has_own) head.push_back("blocks");
    head.insert(head.end(), {"kept", "peak inside", "scope"});
    rows_ = {std::move(head)};
    const auto numbers_of = [&](const Scope& scope) {
      ScopeRow row = {format_count(scope.begun)};
      const auto time = [&scope](uint64_t time_ns) { return scope.ended == 0 ? "" : format_time(time_ns); };
      if (has_times) row.push_back(time(scope.time_ns));
      if (has_times && has_own) row.push_back(time(scope.own_time_ns));
      if (has_percentiles)
        row.insert(row.end(), {time(percentile_ns(scope, 50)), time(percentile_ns(scope, 99)), time(scope.longest_ns)});
      const uint64_t own_gpu_ns = gpu_ns[static_cast<size_t>(&scope - scopes_.scopes.data())];
      if (has_gpu) row.push_back(own_gpu_ns == 0 ? "" : format_time(own_gpu_ns));
      if (has_gpu) row.push_back(own_gpu_ns == 0 ? "" : format_percent({own_gpu_ns, all_gpu_ns}));
      if (has_items) row.push_back(scope.items == 0 ? "" : format_count(scope.items));
      if (has_items && has_times) row.push_back(items_per_second(scope));
      return row;
    };
    add_all_rows(numbers_of);
    return lay_out_rows(rows_, look_.columns);
  }

  static std::string items_per_second(const Scope& scope) {
    if (scope.items == 0 || scope.time_ns == 0) return "";
    return format_count(
        static_cast<uint64_t>(static_cast<double>(scope.items) * 1e9 / static_cast<double>(scope.time_ns)));
  }

  // The scopes directly inside a scope: the longest first; by name if times are not shown.
  std::vector<uint32_t> ordered(uint32_t parent) const {
    std::vector<uint32_t> those = inner_[parent];
    if (!look_.stable) {
      std::stable_sort(those.begin(), those.end(), [this](uint32_t a, uint32_t b) {
        return scopes_.scopes[a].time_ns > scopes_.scopes[b].time_ns;
      });
    }
    return those;
  }

  // Adds the lines of each scope after those of the scope around it. If a program begins a scope in a recursive
  // function, its scopes are as deep as its calls, so this function does not recurse.
  template <typename NumbersOf>
  void add_all_rows(const NumbersOf& numbers_of) {
    const std::vector<std::vector<ScopeMemory>> memory = memory_with_inner(scopes_);
    struct Waiting {
      uint32_t index;
      size_t depth;
    };
    std::vector<Waiting> waiting;  // the next one last
    const auto add_inner = [&](uint32_t parent, size_t depth) {
      const std::vector<uint32_t> those = ordered(parent);
      for (size_t i = those.size(); i-- > 0;) waiting.push_back({those[i], depth});
    };
    add_inner(0, 0);
    while (!waiting.empty()) {
      const Waiting next = waiting.back();
      waiting.pop_back();
      add_rows(next.index, next.depth, memory[next.index], numbers_of);
      add_inner(next.index + 1, next.depth + 1);
    }
  }

  // Adds a line with the heap's numbers, and one for each other device on which the scope had memory.
  template <typename NumbersOf>
  void add_rows(uint32_t index, size_t depth, std::vector<ScopeMemory> memory, const NumbersOf& numbers_of) {
    const Scope& scope = scopes_.scopes[index];
    const std::string indent(2 * std::min(depth, kMostIndented), ' ');
    const std::string deep = depth > kMostIndented ? fmt::format("[{}] ", depth + 1) : "";
    std::stable_sort(memory.begin(), memory.end(), [this](const ScopeMemory& a, const ScopeMemory& b) {
      return rank_of(a.device) < rank_of(b.device);
    });
    const bool has_heap = !memory.empty() && memory.front().device == kHeapDevice;
    ScopeRow row = numbers_of(scope);
    const size_t count = row.size();
    add_memory(has_heap ? memory.front() : ScopeMemory{}, &row);
    row.push_back(indent + deep + scope_full_name(scope.category, scope.name));
    rows_.push_back(std::move(row));
    for (size_t i = has_heap ? 1 : 0; i < memory.size(); ++i) {
      ScopeRow device(count);
      add_memory(memory[i], &device);
      device.push_back(indent + "  on " + escape_controls(memory[i].device));
      rows_.push_back(std::move(device));
    }
    add_calls(scope, indent);
    add_backward(scope, indent);
    for (const std::string& line : launch_lines(scope.launches, kCallsMargin + indent.size() + 2))
      rows_.push_back({line});
  }

  // The device's position among the profile's devices; the heap is the first.
  size_t rank_of(const std::string& device) const {
    if (device == kHeapDevice) return 0;
    const auto is_it = [&device](const Device& other) { return other.name == device; };
    return 1 + static_cast<size_t>(std::find_if(devices_.begin(), devices_.end(), is_it) - devices_.begin());
  }

  void add_memory(const ScopeMemory& memory, ScopeRow* row) const {
    row->push_back(bytes(memory.allocated_bytes));
    if (look_.columns >= kNarrowScopes) row->push_back(format_count(memory.allocated_blocks));
    row->insert(row->end(), {change(memory.freed_bytes, memory.allocated_bytes), bytes(memory.peak_inside_bytes)});
  }

  void add_calls(const Scope& scope, const std::string& indent) {
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (scope.kernel_launches != 0)
      add(format_count(scope.kernel_launches) + (scope.kernel_launches == 1 ? " kernel launch" : " kernel launches"));
    for (const ScopeCall& call : scope.calls) {
      std::string part = fmt::format("{} × {}", format_count(call.count), escape_controls(call.call));
      if (call.size_bytes != 0) part += " " + bytes(call.size_bytes);
      if (!look_.stable) part += " " + format_time(call.duration_ns);
      add(part);
    }
    add_lines(text, indent);
  }

  // The PyTorch operators for which a function of the backward pass worked.
  void add_backward(const Scope& scope, const std::string& indent) {
    std::string text;
    for (const BackwardWork& work : scope.backward_of)
      text += fmt::format("{}{} × for {}", text.empty() ? "" : ", ", format_count(work.begun),
                          escape_controls(work.operator_path));
    add_lines(text, indent);
  }

  void add_lines(const std::string& text, const std::string& indent) {
    if (text.empty()) return;
    // The text spans all columns, because it does not fit beside the numbers.
    const size_t margin = kCallsMargin + indent.size();
    const std::string lines = wrapped(text, {margin, margin, look_.columns});
    for (size_t begin = 0; begin <= lines.size();) {
      const size_t end = std::min(lines.find('\n', begin), lines.size());
      rows_.push_back({(begin == 0 ? std::string(margin, ' ') : "") + lines.substr(begin, end - begin)});
      begin = end + 1;
    }
  }

  // A line for each of the few kernels that were launched most, the most first, and for each graph.
  std::vector<std::string> launch_lines(const Launches& launches, size_t margin) const {
    std::vector<const KernelLaunches*> kernels;
    for (const KernelLaunches& kernel : launches.kernels) kernels.push_back(&kernel);
    std::stable_sort(kernels.begin(), kernels.end(), [](const auto* a, const auto* b) { return a->count > b->count; });
    std::vector<std::string> lines;
    const auto add = [&](const std::string& front, const std::string& name, const std::string& back) {
      const size_t used = margin + display_width(front) + display_width(back);
      const size_t room = look_.columns > used + kLeastName ? look_.columns - used : kLeastName;
      lines.push_back(std::string(margin, ' ') + front + shorten_middle(name, room) + back);
    };
    for (size_t i = 0; i < std::min(kernels.size(), kMostKernels); ++i) {
      const std::string shape = shape_text(*kernels[i]);
      add(format_count(kernels[i]->count) + " × ", escape_controls(kernels[i]->name),
          shape.empty() ? "" : "  " + shape);
    }
    if (kernels.size() > kMostKernels) {
      uint64_t rest = 0;
      for (size_t i = kMostKernels; i < kernels.size(); ++i) rest = add_saturating(rest, kernels[i]->count);
      add(format_count(rest) + " × ",
          fmt::format("{} (--format json)", format_counted(kernels.size() - kMostKernels, "other")), "");
    }
    for (const GraphLaunches& graph : launches.graphs)
      add(format_count(graph.count) + " × ",
          graph.is_known ? fmt::format("a graph of {}", format_counted(graph.kernels, "kernel")) : "a graph", "");
    return lines;
  }

  uint64_t all_gpu_time() const {
    uint64_t all_ns = scopes_.gpu.outside.time_ns;
    for (const Scope& scope : scopes_.scopes) all_ns = add_saturating(all_ns, scope.gpu.time_ns);
    return all_ns;
  }

  // How GPU times were measured, what that cost, and which launches have no time.
  std::string gpu_times() const {
    const GpuTimes& gpu = scopes_.gpu;
    if (gpu.mode.empty()) return "";
    std::string text = "GPU time, by events around kernels (--gpu-time=" + escape_controls(gpu.mode) + ")";
    if (!look_.stable) {
      text += ": " + format_time(all_gpu_time());
      if (gpu.outside.time_ns != 0)
        text += fmt::format(", {} of it outside all scopes", format_time(gpu.outside.time_ns));
    }
    const auto add = [&text](uint64_t count, const std::string& words) {
      if (count != 0) text += "; " + words;
    };
    add(gpu.unread, format_counted(gpu.unread, "interval") + " not complete when looked at last");
    add(gpu.captured,
        format_count(gpu.captured) + (gpu.captured == 1 ? " launch" : " launches") + " without: captured");
    add(gpu.untimed,
        format_count(gpu.untimed) + (gpu.untimed == 1 ? " launch" : " launches") + " without: no event available");
    if (!look_.stable)
      add(gpu.waits, fmt::format("the program waited {} for it, {} in all", format_counted(gpu.waits, "time"),
                                 format_time(gpu.waits_ns)));
    return "\n" + wrapped(text, {0, 2, look_.columns}) + "\n";
  }

  std::string outside() const {
    if (scopes_.outside.empty()) return "";
    std::string text = "\nlaunched outside all scopes:\n";
    for (const std::string& line : launch_lines(scopes_.outside, 2)) text += line + "\n";
    return text;
  }

  // The time in scopes by category; each moment counts once, for the innermost scope. Likewise each allocation.
  std::string categories() const {
    const std::vector<CategorySum> sums = sum_categories(scopes_, look_.categories);
    uint64_t all_ns = 0;
    for (const CategorySum& sum : sums) all_ns = add_saturating(all_ns, sum.own_time_ns);
    if (look_.stable || sums.size() < 2) return "";
    std::vector<ScopeRow> rows = {{"own time", "share", "allocated", "blocks", "kept", "scopes", "category"}};
    for (const CategorySum& sum : sums) {
      ScopeRow row = {format_time(sum.own_time_ns), all_ns == 0 ? "" : format_percent({sum.own_time_ns, all_ns})};
      const ScopeMemory heap = heap_of(sum.memory);
      add_category_memory(heap, &row);
      row.insert(row.end(),
                 {format_count(sum.scopes), sum.category.empty() ? "(none)" : escape_controls(sum.category)});
      rows.push_back(std::move(row));
      std::vector<ScopeMemory> others = sum.memory;
      std::stable_sort(others.begin(), others.end(), [this](const ScopeMemory& a, const ScopeMemory& b) {
        return rank_of(a.device) < rank_of(b.device);
      });
      for (const ScopeMemory& memory : others) {
        if (memory.device == kHeapDevice || (memory.allocated_blocks == 0 && memory.freed_blocks == 0)) continue;
        ScopeRow device = {"", ""};
        add_category_memory(memory, &device);
        device.insert(device.end(), {"", "  on " + escape_controls(memory.device)});
        rows.push_back(std::move(device));
      }
    }
    return "\nCATEGORIES  of the scopes' own time and memory\n" + lay_out_rows(rows, look_.columns);
  }

  static ScopeMemory heap_of(const std::vector<ScopeMemory>& all) {
    for (const ScopeMemory& memory : all) {
      if (memory.device == kHeapDevice) return memory;
    }
    return {};
  }

  void add_category_memory(const ScopeMemory& memory, ScopeRow* row) const {
    row->insert(row->end(), {bytes(memory.allocated_bytes), format_count(memory.allocated_blocks),
                             change(memory.freed_bytes, memory.allocated_bytes)});
  }

  std::string marks() const {
    if (scopes_.marks.empty()) return "";
    std::vector<ScopeRow> rows = {{"live", "blocks", "since the last", "mark"}};
    if (!look_.stable) rows[0].insert(rows[0].begin(), "at");
    std::map<std::string, uint64_t> last;
    for (size_t i = 0; i < std::min(scopes_.marks.size(), kMostMarks); ++i) {
      const Mark& mark = scopes_.marks[i];
      for (const MarkedMemory& memory : mark.memory) {
        const bool is_host = memory.device == kHeapDevice;
        const auto [before, is_first] = last.try_emplace(memory.device, 0);
        ScopeRow row = {bytes(memory.live_bytes), format_count(memory.live_blocks),
                        is_first ? "" : change(before->second, memory.live_bytes),
                        is_host ? scope_full_name(mark.category, mark.name) : "  on " + escape_controls(memory.device)};
        if (!look_.stable) row.insert(row.begin(), is_host ? format_time(mark.at_ns) : "");
        before->second = memory.live_bytes;
        rows.push_back(std::move(row));
      }
    }
    std::string text = fmt::format("\nMARKS  {}\n", format_counted(scopes_.marks.size(), "mark"));
    text += lay_out_rows(rows, look_.columns);
    const uint64_t hidden = add_saturating(scopes_.marks.size() - std::min(scopes_.marks.size(), kMostMarks), 0);
    if (hidden != 0) text += fmt::format("and {} (--format json)\n", format_counted(hidden, "further mark"));
    if (scopes_.lost_marks != 0)
      text += fmt::format("{} not kept for lack of room\n", format_counted(scopes_.lost_marks, "mark"));
    return text;
  }

  const Profile& profile_;
  const Scopes& scopes_;
  const std::vector<Device>& devices_;
  const ScopesLook& look_;
  std::vector<std::vector<uint32_t>> inner_;  // by a scope's index + 1: the scopes directly inside it
  std::vector<ScopeRow> rows_;
};

}  // namespace

std::string scopes_text(const Profile& profile, const ScopesLook& look) { return ScopesWriter(profile, look).write(); }

}  // namespace heapprof::cli
