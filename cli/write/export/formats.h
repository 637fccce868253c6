// cli/write/export/formats.h: the formats in which a profile can be exported.
//
// A new format is one file with one function, one line in formats.cc, and one golden test.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heapprof::cli {

// What of a profile is exported.
struct ExportView {
  std::string device;            // empty: the format's own choice, see its header
  std::optional<Metric> metric;  // none: likewise
  bool full_names = false;       // where the format shortens names of functions: not so
};

struct ExportFormat {
  std::string_view name;       // of --format
  std::string_view extension;  // of files, with its dots
  std::string_view summary;    // what opens it; one line
  std::string_view next;   // a command that shows the file {0}, {1} is one beside it; empty: none that can be pasted
  bool is_binary = false;  // nothing for a terminal
  bool takes_metric = true;
  // pre: the profile is canonical, the view's device is one of it, and the profile has the metric.
  void (*write)(const Profile& profile, const ExportView& view, ByteSink* sink);
  bool is_of_trace = false;  // it shows DeviceTrace; pre: the profile has one, and the view's device is in it
};

std::span<const ExportFormat> export_formats();
const ExportFormat* find_export_format(std::string_view name);  // nullptr: there is none of that name

// The device that formats of one device export: the named one, else the host. pre: as above; the profile has a device.
const Device& exported_device(const Profile& profile, const ExportView& view);

// The metric that formats of one metric export: the asked one, else peak; total, where the profile has no lifetimes.
Metric exported_metric(const Profile& profile, const ExportView& view);

}  // namespace heapprof::cli
