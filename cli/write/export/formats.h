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
#include <vector>

namespace heapprof::cli {

// What of a profile is exported.
struct ExportView {
  std::string device;            // empty: the format's own choice, see its header
  std::optional<Metric> metric;  // none: likewise
  bool full_names = false;       // where the format shortens names of functions: not so
};

// One of several that go into one file.
struct ExportInput {
  std::string file;  // as the user named it
  Profile profile;
};

struct ExportFormat {
  std::string_view name;       // of --format
  std::string_view extension;  // of files, with its dots
  std::string_view summary;    // what opens it; one line
  std::string_view next = {};  // a command that shows the file {0}, {1} is beside it; empty: none that can be pasted
  bool is_binary = false;      // nothing for a terminal
  bool takes_metric = true;
  // pre: the profile is canonical, the view's device is one of it, and the profile has the metric.
  void (*write)(const Profile& profile, const ExportView& view, ByteSink* sink) = nullptr;
  bool is_of_trace = false;  // it shows DeviceTrace; pre: the profile has one, and the view's device is in it
  bool is_folded = false;    // it goes by places: pre: mark_folded(), else wrappers are places
  bool is_packable = false;  // by gzip, where the file's name ends in .gz
  // What the file does not say, a line each: for stderr. nullptr: nothing.
  std::vector<std::string> (*find_notes)(const Profile& profile, const ExportView& view) = nullptr;
  // Several profiles in one file. nullptr: it holds one. pre: as of write, of each
  void (*write_many)(std::span<const ExportInput> profiles, const ExportView& view, ByteSink* sink) = nullptr;
};

std::span<const ExportFormat> export_formats();
const ExportFormat* find_export_format(std::string_view name);  // nullptr: there is none of that name

// The device that formats of one device export: the named one, else the host. pre: as above; the profile has a device.
const Device& exported_device(const Profile& profile, const ExportView& view);

// The devices that formats of all devices export: the named one alone, else all.
std::vector<const Device*> exported_devices(const Profile& profile, const ExportView& view);

// The metric that formats of one metric export: the asked one, else peak; total, where the profile has no lifetimes.
Metric exported_metric(const Profile& profile, const ExportView& view);

}  // namespace heapprof::cli
