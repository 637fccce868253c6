// cli/write/export/formats.cc: one entry per format, with designated initialisers: most formats need few members.
#include "cli/write/export/formats.h"

#include "cli/write/export/exports.h"
#include "cli/write/export/pprof.h"

namespace heapprof::cli {
namespace {

constexpr ExportFormat kFormats[] = {
    {.name = "folded",
     .extension = ".folded",
     .summary = "flamegraph.pl, inferno, speedscope: a line for each stack",
     .next = "flamegraph.pl --countname bytes {0} >{1}",
     .write = write_folded},
    {.name = "speedscope",
     .extension = ".speedscope.json",
     .summary = "https://www.speedscope.app: open the file there, or run it locally",
     .next = "npx speedscope {0}",
     .write = write_speedscope},
    {.name = "dhat",
     .extension = ".json",
     .summary = "Valgrind's dh_view.html: open the page, and load the file in it",
     .takes_metric = false,
     .write = write_dhat_export},
    {.name = "pprof",
     .extension = ".pb.gz",
     .summary = "go tool pprof, Pyroscope, Parca",
     .next = "go tool pprof -http=: {0}",
     .is_binary = true,
     .write = write_pprof},
    {.name = "memory-viz",
     .extension = ".pickle",
     .summary = "https://pytorch.org/memory_viz: drop the file there, nothing is uploaded",
     .is_binary = true,
     .takes_metric = false,
     .write = write_memory_viz,
     .is_of_trace = true},
    {.name = "perfetto",
     .extension = ".pftrace",
     .summary = "https://ui.perfetto.dev: open the file there, nothing is uploaded",
     .is_binary = true,
     .takes_metric = false,
     .write = write_perfetto,
     .is_packable = true,
     .find_notes = find_perfetto_notes,
     .write_many = write_perfetto_archive},
    {.name = "dot",
     .extension = ".dot",
     .summary = "Graphviz: the graph of calls",
     .next = "dot -Tsvg {0} >{1}",
     .write = write_call_graph_dot,
     .is_folded = true,
     .find_notes = find_call_graph_notes},
    {.name = "sites",
     .extension = ".ndjson",
     .summary = "DuckDB, ClickHouse, Spark, pandas: a line of JSON for each site and metric",
     .write = write_sites,
     .is_folded = true,
     .is_packable = true},
};

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

const ExportFormat* find_export_format(std::string_view name) {
  for (const ExportFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

const Device& exported_device(const Profile& profile, const ExportView& view) {
  for (const Device& device : profile.devices) {
    if (device.name == view.device) return device;
  }
  return profile.devices.front();
}

std::vector<const Device*> exported_devices(const Profile& profile, const ExportView& view) {
  std::vector<const Device*> devices;
  for (const Device& device : profile.devices) {
    if (view.device.empty() || device.name == view.device) devices.push_back(&device);
  }
  return devices;
}

Metric exported_metric(const Profile& profile, const ExportView& view) {
  return view.metric.value_or(profile.has_lifetimes ? Metric::kPeak : Metric::kTotal);
}

}  // namespace heapprof::cli
