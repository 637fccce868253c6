// cli/write/report/scopes/scopes_dot.cc: the program's own scopes as a graph for Graphviz: which scope began which, how
// often, and its GPU API calls.
//
// A scope is one node for each path to it, as in the table, so a node's numbers are those of one path. An API call is
// one node in total: the edges to it come from scopes that wait for the same thing.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/profile/scopes.h"
#include "cli/write/report/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace heapprof::cli {

namespace {

// Escaped for a DOT string: a quote ends it, a backslash begins an escape.
std::string quoted(const std::string& text) {
  std::string safe;
  for (const char c : escape_controls(text)) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

class DotWriter {
 public:
  DotWriter(const Profile& profile, const ReportView& view) : scopes_(profile.scopes), view_(view) {}

  std::string write() {
    text_ = "digraph scopes {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n";
    const std::vector<std::vector<ScopeMemory>> memory = memory_with_inner(scopes_);
    for (size_t i = 0; i < scopes_.scopes.size(); ++i) add_scope(i, memory[i]);
    for (size_t i = 0; i < scopes_.scopes.size(); ++i) add_edges(i);
    if (!scopes_.outside.kernels.empty()) {
      text_ += "  outside [label=\"outside all scopes\", style=dotted];\n";
      add_launches("outside", scopes_.outside);
    }
    return text_ + "}\n";
  }

 private:
  std::string bytes(uint64_t value) const {
    return view_.exact_bytes ? format_bytes_exact(value) : format_bytes(value);
  }

  void add_scope(size_t i, const std::vector<ScopeMemory>& memory) {
    const Scope& scope = scopes_.scopes[i];
    std::string label = scope.name.empty() ? "[no name]" : quoted(scope.name);
    if (!scope.category.empty()) label = quoted(scope.category) + ": " + label;
    label += "\\n" + format_count(scope.begun) + " ×";
    if (!view_.stable && scope.ended != 0)
      label += fmt::format(" {}, own {}", format_time(scope.time_ns), format_time(scope.own_time_ns));
    for (const ScopeMemory& of : memory)
      label += fmt::format("\\n{}: {} allocated, {} kept, peak {}", quoted(of.device), bytes(of.allocated_bytes),
                           format_change_bytes({of.freed_bytes, of.allocated_bytes}), bytes(of.peak_inside_bytes));
    text_ += fmt::format("  scope{} [label=\"{}\"];\n", i, label);
  }

  // Adds the scope's edges. Their labels say how often, and for calls also how long.
  void add_edges(size_t i) {
    const Scope& scope = scopes_.scopes[i];
    if (scope.parent != 0)
      text_ += fmt::format("  scope{} -> scope{} [label=\"{}\"];\n", scope.parent - 1, i, format_count(scope.begun));
    add_launches(fmt::format("scope{}", i), scope);
    for (const ScopeCall& call : scope.calls)
      add_call(i, call.call, call.count, view_.stable ? "" : ", " + format_time(call.duration_ns));
  }

  // A kernel is one node in total, for all its shapes. All launches without a known kernel are one more node.
  void add_launches(const std::string& from, const Scope& scope) {
    uint64_t rest = scope.kernel_launches;
    rest -= std::min(rest, add_launches(from, scope.launches));
    if (rest != 0) add_target(from, "launch kernel", format_count(rest), "ellipse");
  }
  uint64_t add_launches(const std::string& from, const Launches& launches) {
    std::map<std::string, uint64_t> counts;
    uint64_t sum = 0;
    for (const KernelLaunches& kernel : launches.kernels) {
      uint64_t& count = counts[kernel.name];
      count = add_saturating(count, kernel.count);
      sum = add_saturating(sum, kernel.count);
    }
    for (const auto& [name, count] : counts) add_target(from, name, format_count(count), "component");
    return sum;
  }

  void add_call(size_t i, const std::string& call, uint64_t count, const std::string& time) {
    add_target(fmt::format("scope{}", i), call, format_count(count) + time, "ellipse");
  }

  // A node for what is called or launched, and the edge to it.
  void add_target(const std::string& from, const std::string& what, const std::string& label,
                  const std::string& shape) {
    const auto [at, is_new] = calls_.try_emplace(shape + what, calls_.size());
    if (is_new)
      text_ += fmt::format("  call{} [label=\"{}\", shape={}, style=dashed];\n", at->second, quoted(what), shape);
    text_ += fmt::format("  {} -> call{} [label=\"{}\", style=dashed];\n", from, at->second, label);
  }

  const Scopes& scopes_;
  const ReportView& view_;
  std::string text_;
  std::map<std::string, size_t> calls_;  // shape and name to number
};

}  // namespace

std::string render_scopes_dot(const Profile& profile, const ReportView& view, const Terminal&) {
  return DotWriter(profile, view).write();
}

}  // namespace heapprof::cli
