// cli/write/history/history_json.cc: the series and the findings in them, in integers.
#include "cli/model/analysis/metrics.h"
#include "cli/write/encode/json_stream.h"
#include "cli/write/history/formats.h"

#include <algorithm>
#include <optional>

namespace heapprof::cli {
namespace {

class HistoryJson {
 public:
  HistoryJson(const HistoryView& view, ByteSink* sink) : view_(view), json_(sink) {}

  void run() {
    json_.begin_object();
    json_.count("version", 1);
    json_.text("file", view_.file);
    json_.count("records_count", view_.entries->size());
    json_.count("lines_skipped_count", view_.lines_skipped);
    json_.key("series");
    json_.begin_array();
    for (const Series& series : view_.series) write_series(series);
    json_.end_array();
    json_.end_object();
    json_.finish();
  }

 private:
  void write_series(const Series& series) {
    json_.new_line();
    json_.begin_object();
    json_.text("name", series.name);
    json_.text("device", series.device);
    json_.text("metric", metric_word(series.metric));
    json_.text("unit", is_in_bytes(series.metric) ? "bytes" : "count");
    json_.count("runs_count", series.values.size());
    json_.count("first", series.values.front());
    json_.count("last", series.values.back());
    json_.count("smallest", *std::min_element(series.values.begin(), series.values.end()));
    json_.count("largest", *std::max_element(series.values.begin(), series.values.end()));
    json_.count("median", median_of(series.values));
    json_.key("runs");
    json_.begin_array();
    for (size_t i = 0; i < series.values.size(); ++i) {
      json_.begin_object();
      write_run(series, i);
      json_.count("value", series.values[i]);
      if (const std::optional<bool>& ok = (*view_.entries)[series.runs[i]].ok) {
        json_.key("ok");
        json_.boolean(*ok);
      }
      json_.end_object();
    }
    json_.end_array();
    json_.key("findings");
    json_.begin_array();
    for (const TrendChange& trend_change : series.trend_changes) write_trend_change(series, trend_change);
    json_.end_array();
    json_.end_object();
  }

  void write_run(const Series& series, size_t index) {
    const HistoryEntry& entry = (*view_.entries)[series.runs[index]];
    json_.key("time_unix_ns");
    json_.signed_number(entry.time_unix_ns);
    json_.text("commit", entry.commit);
  }

  void write_trend_change(const Series& series, const TrendChange& trend_change) {
    const bool is_step = trend_change.kind == TrendChange::Kind::kStep;
    json_.begin_object();
    json_.text("kind", is_step ? "step" : "drift");
    json_.count("run", trend_change.first);
    if (!is_step) json_.count("last_run", trend_change.last);
    write_run(series, trend_change.first);
    json_.count("before", trend_change.before);
    json_.count("after", trend_change.after);
    if (is_step) {
      json_.key("confirmed");
      json_.boolean(trend_change.is_confirmed);
    } else {
      json_.count("largest_single_change", trend_change.largest_single);
    }
    json_.end_object();
  }

  const HistoryView& view_;
  JsonWriter json_;
};

}  // namespace

std::string render_history_json(const HistoryView& view, const Terminal&) {
  StringSink sink;
  HistoryJson(view, &sink).run();
  return sink.text();
}

}  // namespace heapprof::cli
