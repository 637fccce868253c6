// cli/write/report/scopes/critical_path_text.cc: two tables: the runs on the path, in order, and each scope's part of
// it. A path may have very many runs: the longest are shown, and JSON has all.
#include "cli/write/report/scopes/critical_path_text.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/critical_path.h"
#include "cli/write/report/scopes/scope_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace heapprof::cli {

namespace {

std::string shown_name(const PathSum& sum) { return (sum.is_mark ? "mark " : "") + sum.name; }

class PathWriter {
 public:
  PathWriter(const CriticalPath& path, const CriticalPathLook& look) : path_(path), look_(look) {}

  std::string write() const { return head() + runs() + sums() + thinned(); }

 private:
  std::string paragraph(const std::string& text) const { return wrapped(text, {0, 2, look_.columns}) + "\n"; }

  std::string head() const {
    const uint64_t rest = path_.duration_ns() - path_.in_runs_ns;
    return "\n" +
           paragraph(fmt::format("CRITICAL PATH  {} of {}, one after the other: {} of {}; {} between, before and "
                                 "behind them",
                                 format_count(path_.path.size()), format_counted(path_.runs, "innermost run"),
                                 format_time(path_.in_runs_ns), format_time(path_.duration_ns()), format_time(rest)));
  }

  std::string runs() const {
    std::vector<size_t> order(path_.path.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto time = [&](size_t at) { return path_.path[at].end_ns - path_.path[at].begin_ns; };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return time(a) > time(b); });
    order.resize(std::min(order.size(), look_.top));
    std::sort(order.begin(), order.end());
    std::vector<ScopeRow> rows = {{"start", "gap", "took", "thread", "run"}};
    for (const size_t at : order) {
      const PathRun& run = path_.path[at];
      rows.push_back({fmt::format("{:.6f} s", static_cast<double>(run.begin_ns) / 1e9), format_time(run.gap_ns),
                      format_time(time(at)), fmt::format("{}", run.thread), shown_name(path_.sums[run.of]) + how(run)});
    }
    std::string text = lay_out_rows(rows, look_.columns);
    if (order.size() < path_.path.size())
      text += paragraph(fmt::format("the {} longest of {}, in the order of time (--top, --format json)",
                                    format_count(order.size()), format_count(path_.path.size())));
    return text;
  }

  static std::string how(const PathRun& run) {
    std::string text;
    if ((run.flags & kInstanceLeftOpen) != 0) text += ", no end";
    if ((run.flags & kInstanceOpen) != 0) text += ", open at the end";
    return text;
  }

  std::string sums() const {
    std::vector<ScopeRow> rows = {{"on it", "of runs", "time", "share", "least slack", "scope"}};
    for (size_t i = 0; i < std::min(path_.sums.size(), look_.top); ++i) {
      const PathSum& sum = path_.sums[i];
      rows.push_back({format_count(sum.on_path), format_count(sum.runs), format_time(sum.on_path_ns),
                      format_percent({sum.on_path_ns, path_.duration_ns()}),
                      sum.least_slack_ns ? format_time(*sum.least_slack_ns) : "", shown_name(sum)});
    }
    std::string text = "\n" + lay_out_rows(rows, look_.columns);
    if (path_.sums.size() > look_.top)
      text += paragraph(
          fmt::format("and {} (--top, --format json)", format_counted(path_.sums.size() - look_.top, "further scope")));
    return text;
  }

  std::string thinned() const {
    constexpr size_t kMost = 5;
    if (path_.thinned.empty()) return "";
    std::string names;
    for (size_t i = 0; i < std::min(path_.thinned.size(), kMost); ++i) {
      names += fmt::format("{}{} ({} left out)", i == 0 ? "" : ", ", path_.thinned[i].name,
                           format_count(path_.thinned[i].unkept));
    }
    if (path_.thinned.size() > kMost)
      names += fmt::format(" and {}", format_counted(path_.thinned.size() - kMost, "further scope"));
    return "\n" + paragraph("Not all runs were kept, and the path may lack some: of " + names);
  }

  const CriticalPath& path_;
  const CriticalPathLook& look_;
};

template <typename Elements, typename WriteMembers>
void write_objects(const char* name, const Elements& elements, JsonWriter* json, const WriteMembers& write_members) {
  json->key(name);
  json->begin_array();
  for (const auto& element : elements) {
    json->new_line();
    json->begin_object();
    write_members(element);
    json->end_object();
  }
  json->end_array();
}

}  // namespace

std::string critical_path_text(const Scopes& scopes, const CriticalPathLook& look) {
  return PathWriter(find_critical_path(scopes), look).write();
}

void write_critical_path(const Scopes& scopes, JsonWriter* json) {
  const CriticalPath path = find_critical_path(scopes);
  const auto write_name = [&](const PathSum& sum) { json->text(sum.is_mark ? "mark" : "scope", sum.name); };
  json->key("critical_path");
  json->begin_object();
  json->count("begin_ns", path.begin_ns);
  json->count("end_ns", path.end_ns);
  json->count("in_runs_ns", path.in_runs_ns);
  json->count("runs_count", path.runs);
  write_objects("runs", path.path, json, [&](const PathRun& run) {
    write_name(path.sums[run.of]);
    json->count("begin_ns", run.begin_ns);
    json->count("end_ns", run.end_ns);
    json->count("gap_ns", run.gap_ns);
    json->count("thread", run.thread);
  });
  write_objects("scopes", path.sums, json, [&](const PathSum& sum) {
    write_name(sum);
    json->count("runs_count", sum.runs);
    json->count("on_path_count", sum.on_path);
    json->count("on_path_ns", sum.on_path_ns);
    if (sum.least_slack_ns) json->count("least_slack_ns", *sum.least_slack_ns);
  });
  write_objects("not_all_kept", path.thinned, json, [&](const ThinnedScope& scope) {
    json->text("scope", scope.name);
    json->count("unkept_instances_count", scope.unkept);
  });
  json->end_object();
}

}  // namespace heapprof::cli
