// cli/write/export/call_graph_dot.cc: two walks over the sites. The first finds each function's total, which decides
// the functions that are shown. The second finds the edges between shown functions and skips the others, so the callees
// of a left-out function are still connected to its caller.
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/label_tree.h"
#include "cli/model/analysis/sampling.h"
#include "cli/model/profile/frame_text.h"
#include "cli/write/export/exports.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {
namespace {

// pprof's defaults: -nodefraction 0.005, -edgefraction 0.001, -nodecount 80.
constexpr uint64_t kNodeShare = 200;  // a node with less than 1/200 is left out
constexpr uint64_t kEdgeShare = 1000;
constexpr size_t kMostNodes = 80;

struct GraphNode {
  uint32_t frame = 0;  // one of the frames that it represents
  bool has_frame = false;
  uint64_t flat = 0;
  uint64_t cumulative = 0;
  bool is_shown = false;
};

struct GraphEdge {
  uint64_t amount = 0;
  bool has_left_out = false;  // on at least one stack, a function between the two is left out
  uint32_t last_walk = 0;     // the number of the last stack that has it: an edge counts once per stack
};

class CallGraph {
 public:
  CallGraph(const Profile& profile, const Device& device, Metric metric)
      : profile_(profile), device_(device), metric_(metric), tree_(build_place_tree(profile)) {
    uint32_t functions = 0;
    for (const uint32_t function : tree_.functions) functions = std::max(functions, function + 1);
    stackless_ = functions;
    nodes.resize(functions + 1);
    seen_.resize(nodes.size());
    add_nodes();
    choose_nodes();
    add_edges();
    choose_edges();
  }

  std::vector<GraphNode> nodes;                              // by function; the last one: no stack
  std::map<std::pair<uint32_t, uint32_t>, GraphEdge> edges;  // from caller to callee
  uint64_t total = 0;
  size_t all_nodes = 0;
  size_t shown_nodes = 0;
  size_t all_edges = 0;

 private:
  uint64_t amount_of(const Site& site) const { return site.numbers.*metric_field_of(metric_).number; }

  // Calls visit(function, frame) for the place, then for the user's own functions that called it, outwards.
  template <typename Visit>
  void walk(const Site& site, const Visit& visit) const {
    uint32_t node = site.node == 0 ? 0 : tree_.place_node[site.node];
    if (node == 0) return visit(stackless_, uint32_t{0});
    while (node != 0) {
      const uint32_t frame = profile_.nodes[node].frame;
      visit(tree_.functions[frame], frame);
      const uint32_t parent = profile_.nodes[node].parent;
      node = parent == 0 ? 0 : tree_.user_node[parent];
    }
  }

  void add_nodes() {
    uint32_t walk_number = 0;
    for (const Site& site : device_.sites) {
      const uint64_t amount = amount_of(site);
      if (amount == 0) continue;
      total = add_saturating(total, amount);
      ++walk_number;
      bool is_innermost = true;
      walk(site, [&](uint32_t function, uint32_t frame) {
        GraphNode& node = nodes[function];
        if (!node.has_frame && function != stackless_) node.frame = frame, node.has_frame = true;
        if (is_innermost) node.flat = add_saturating(node.flat, amount);
        is_innermost = false;
        if (std::exchange(seen_[function], walk_number) == walk_number) return;
        node.cumulative = add_saturating(node.cumulative, amount);
      });
    }
  }

  void choose_nodes() {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].cumulative == 0) continue;
      ++all_nodes;
      if (nodes[i].cumulative >= total / kNodeShare) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
      const GraphNode& x = nodes[a];
      const GraphNode& y = nodes[b];
      return x.cumulative != y.cumulative ? x.cumulative > y.cumulative : x.flat > y.flat;
    });
    if (order.size() > kMostNodes) order.resize(kMostNodes);
    for (const uint32_t i : order) nodes[i].is_shown = true;
    shown_nodes = order.size();
  }

  void add_edges() {
    uint32_t walk_number = 0;
    for (const Site& site : device_.sites) {
      const uint64_t amount = amount_of(site);
      if (amount == 0) continue;
      ++walk_number;
      uint32_t inner = UINT32_MAX;
      bool has_left_out = false;
      walk(site, [&](uint32_t function, uint32_t) {
        if (!nodes[function].is_shown) {
          has_left_out = has_left_out || inner != UINT32_MAX;
          return;
        }
        if (inner != UINT32_MAX && inner != function) {
          GraphEdge& edge = edges[{function, inner}];
          if (std::exchange(edge.last_walk, walk_number) != walk_number)
            edge.amount = add_saturating(edge.amount, amount);
          edge.has_left_out = edge.has_left_out || has_left_out;
        }
        inner = function;
        has_left_out = false;
      });
    }
  }

  void choose_edges() {
    all_edges = edges.size();
    std::erase_if(edges, [this](const auto& it) { return it.second.amount < total / kEdgeShare; });
  }

  const Profile& profile_;
  const Device& device_;
  Metric metric_;
  PlaceTree tree_;
  uint32_t stackless_ = 0;
  std::vector<uint32_t> seen_;  // by function: the number of the last stack that has it
};

// Escaped for a DOT string: a quote ends it, a backslash begins an escape, and so does the "&" of "&lt;".
std::string dot_quoted(std::string_view text) {
  const std::string clean = escape_controls(text);
  std::string safe;
  for (size_t i = 0; i < clean.size(); ++i) {
    const char c = clean[i];
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
    if (c == '&' && clean.find(';', i) != std::string::npos) safe += "amp;";
  }
  return safe;
}

std::string amount_text(Metric metric, uint64_t amount) {
  return is_in_bytes(metric) ? format_bytes(amount) : format_count(amount);
}

std::string exact_text(Metric metric, uint64_t amount) {
  return is_in_bytes(metric) ? format_bytes_exact(amount) : format_count_exact(amount) + " blocks";
}

std::string pruned_text(const CallGraph& graph) {
  return fmt::format("{} of {}, {} of {} between them", format_count(graph.shown_nodes),
                     format_counted(graph.all_nodes, "function"), format_count(graph.edges.size()),
                     format_counted(graph.all_edges, "edge"));
}

std::string left_out_text() { return "left out: functions below 0.5 % and beyond 80, edges below 0.1 %"; }

}  // namespace

void write_call_graph_dot(const Profile& profile, const ExportView& view, ByteSink* sink) {
  if (profile.devices.empty()) return sink->write("digraph calls {\n}\n");
  const Device& device = exported_device(profile, view);
  const Metric metric = exported_metric(profile, view);
  const CallGraph graph(profile, device, metric);
  sink->write("digraph calls {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n");
  sink->write(fmt::format("  labelloc=t;\n  fontname=\"sans-serif\";\n  total=\"{}\";\n", graph.total));
  const std::string sampled = interval_of(profile, device) == 0 ? "" : "\\n" + sampling_words(profile);
  sink->write(fmt::format("  label=\"{} {}: {}\\n{}\\n{}{}\";\n", dot_quoted(device.name), metric_word(metric),
                          exact_text(metric, graph.total), pruned_text(graph), left_out_text(), sampled));
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (!node.is_shown) continue;
    const std::string name =
        node.has_frame ? short_label(profile, profile.frames[node.frame]) : std::string(kNoStackText);
    std::string numbers = amount_text(metric, node.flat) + " of its own";
    if (node.cumulative != node.flat)
      numbers = (node.flat == 0 ? "" : numbers + "\\n") + amount_text(metric, node.cumulative) + " with calls";
    // The font has 8 to 24 points, by the function's own share.
    const double share = graph.total == 0 ? 0 : static_cast<double>(node.flat) / static_cast<double>(graph.total);
    sink->write(fmt::format("  f{} [label=\"{}\\n{}\\n{}\", fontsize={:.1f}, flat=\"{}\", cumulative=\"{}\"];\n", i,
                            dot_quoted(name), numbers, format_percent({node.cumulative, graph.total}), 8 + 16 * share,
                            node.flat, node.cumulative));
  }
  for (const auto& [ends, edge] : graph.edges) {
    const double share = graph.total == 0 ? 0 : static_cast<double>(edge.amount) / static_cast<double>(graph.total);
    sink->write(fmt::format("  f{} -> f{} [label=\" {}\", penwidth={:.2f}, amount=\"{}\"{}];\n", ends.first,
                            ends.second, amount_text(metric, edge.amount), 0.5 + 4.5 * share, edge.amount,
                            edge.has_left_out ? ", style=dashed" : ""));
  }
  sink->write("}\n");
}

std::vector<std::string> find_call_graph_notes(const Profile& profile, const ExportView& view) {
  if (profile.devices.empty()) return {};
  const CallGraph graph(profile, exported_device(profile, view), exported_metric(profile, view));
  if (graph.shown_nodes == graph.all_nodes && graph.edges.size() == graph.all_edges) return {};
  return {"pruned " + pruned_text(graph) + "; " + left_out_text()};
}

}  // namespace heapprof::cli
