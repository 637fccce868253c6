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

// The part of a profile that is exported.
struct ExportView {
  std::string device;            // empty: the format's default (exports.h, pprof.h)
  std::optional<Metric> metric;  // nullopt: likewise
  bool full_names = false;       // do not shorten function names, if the format does
};

// One of several profiles that are exported to one file.
struct ExportInput {
  std::string file;  // as the user named it
  Profile profile;
};

struct ExportFormat {
  std::string_view name;       // of --format
  std::string_view extension;  // of files, with its dots
  std::string_view summary;    // tools that open it; one line
  std::string_view next = {};  // command that shows the file {0}; {1} is {0} with ".svg" added; empty: none
  bool is_binary = false;      // not for a terminal
  bool takes_metric = true;
  // pre: the profile is canonical, and has the view's device and its metric.
  void (*write)(const Profile& profile, const ExportView& view, ByteSink* sink) = nullptr;
  bool is_of_trace = false;  // shows DeviceTrace; pre: the profile has one, and the view's device is in it
  bool is_folded = false;    // shows places; pre: mark_folded() was called, else wrappers are places
  bool is_packable = false;  // compressed with gzip if the file's name ends in .gz
  // Notes on what the file does not say, a line each: for stderr. nullptr: no notes.
  std::vector<std::string> (*find_notes)(const Profile& profile, const ExportView& view) = nullptr;
  // Several profiles in one file. nullptr: one profile only. pre: as for write, for each
  void (*write_many)(std::span<const ExportInput> profiles, const ExportView& view, ByteSink* sink) = nullptr;
};

std::span<const ExportFormat> export_formats();
const ExportFormat* find_export_format(std::string_view name);  // nullptr: unknown name

// The device that formats of one device export: the named one, else the host. pre: as for ExportFormat::write, and the
// profile has a device.
const Device& exported_device(const Profile& profile, const ExportView& view);

// The devices that formats of all devices export: the named one alone, else all.
std::vector<const Device*> exported_devices(const Profile& profile, const ExportView& view);

// The metric that formats of one metric export: the requested one; else the peak, or the total if the profile has no
// lifetimes.
Metric exported_metric(const Profile& profile, const ExportView& view);

}  // namespace heapprof::cli
