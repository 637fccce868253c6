// cli/write/export/formats.cc: one line per format.
#include "cli/write/export/formats.h"

#include "cli/write/export/dhat_export.h"
#include "cli/write/export/folded.h"
#include "cli/write/export/memory_viz.h"
#include "cli/write/export/pprof.h"
#include "cli/write/export/speedscope.h"

namespace heapprof::cli {
namespace {

constexpr ExportFormat kFormats[] = {
    {"folded", ".folded", "flamegraph.pl, inferno, speedscope: a line for each stack",
     "flamegraph.pl --countname bytes {0} >{1}", false, true, write_folded},
    {"speedscope", ".speedscope.json", "https://www.speedscope.app: open the file there, or run it locally",
     "npx speedscope {0}", false, true, write_speedscope},
    {"dhat", ".json", "Valgrind's dh_view.html: open the page, and load the file in it", "", false, false,
     write_dhat_export},
    {"pprof", ".pb.gz", "go tool pprof, Pyroscope, Parca", "go tool pprof -http=: {0}", true, true, write_pprof},
    {"memory-viz", ".pickle", "https://pytorch.org/memory_viz: drop the file there, nothing is uploaded", "", true,
     false, write_memory_viz, true},
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

Metric exported_metric(const Profile& profile, const ExportView& view) {
  return view.metric.value_or(profile.has_lifetimes ? Metric::kPeak : Metric::kTotal);
}

}  // namespace heapprof::cli
