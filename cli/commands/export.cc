// cli/commands/export.cc: reads profiles, checks that format and profiles have what the flags ask for, writes.
#include "cli/base/atomic_file.h"
#include "cli/base/file_name.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/metrics.h"
#include "cli/model/analysis/trace_replay.h"
#include "cli/model/analysis/warnings.h"
#include "cli/read/read_profile.h"
#include "cli/run/names_advice.h"
#include "cli/write/encode/gzip_sink.h"
#include "cli/write/export/formats.h"
#include "cli/write/report/report_view.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

struct ExportOptions {
  std::vector<std::string> files;
  const ExportFormat* format = nullptr;
  ExportView view;
  std::string output;
  bool quiet = false;
  ColorMode color = ColorMode::kAuto;
};

std::string joined_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// The names of formats that hold several profiles.
std::string formats_of_many() {
  std::vector<std::string> names;
  for (const ExportFormat& format : export_formats()) {
    if (format.write_many != nullptr) names.push_back("--format " + std::string(format.name));
  }
  return joined_names(names);
}

Result<Done> check_usage(const ExportOptions& options) {
  if (options.format == nullptr) {
    std::vector<std::string> names;
    for (const ExportFormat& format : export_formats()) names.emplace_back(format.name);
    return format_not_named(joined_names(names), options.files.empty() ? "" : options.files[0]);
  }
  const auto is_empty = [](const std::string& file) { return file.empty(); };
  if (options.files.empty() || std::any_of(options.files.begin(), options.files.end(), is_empty))
    return missing_profile("export");
  const std::string format(options.format->name);
  if (options.files.size() > 1 && options.format->write_many == nullptr)
    return one_profile_in_format(format, options.files[1], formats_of_many());
  if (options.view.metric && !options.format->takes_metric)
    return metric_not_exported(
        format, options.format->is_of_trace ? "it shows single blocks, and no sums" : "the file holds all of them");
  if (options.format->is_binary && options.output.empty() && isatty(STDOUT_FILENO) != 0)
    return binary_on_terminal(format, options.files[0]);
  return Done{};
}

bool has_trace_of(const DeviceTrace& trace, const std::string& device) {
  return trace.has_any() && (device.empty() || !replay_trace(trace, device).empty());
}

std::string why_no_trace(const Profile& profile, const std::string& device) {
  if (!profile.merged.empty()) return "it is a sum of profiles";
  if (profile.trace.has_any()) return "none of " + device;
  return "it is of a program without device memory, of --device-trace 0, or of an older heapprof";
}

Result<Done> check_profile(const ExportOptions& options, const std::string& file, const Profile& profile) {
  std::vector<std::string> names;
  for (const Device& device : profile.devices) names.push_back(device.name);
  const std::string& device = options.view.device;
  if (!device.empty() && std::find(names.begin(), names.end(), device) == names.end())
    return unknown_device(device, joined_names(names));
  if (options.view.metric && !has_metric(profile, *options.view.metric))
    return metric_not_in_profile(file, metric_word(*options.view.metric));
  if (options.format->is_of_trace && !has_trace_of(profile.trace, device))
    return no_device_trace(file, why_no_trace(profile, device));
  return Done{};
}

void print_what_is_left_out(const DeviceTrace& trace) {
  if (trace.older_events != 0)
    fmt::print(stderr, "older  {} before these {} not in it: heapprof run --device-trace N keeps more\n",
               format_counted(trace.older_events, "event"), trace.older_events == 1 ? "is" : "are");
  if (trace.left_out_blocks != 0)
    fmt::print(stderr, "less   {} of those live at the end {} not in it\n",
               format_counted(trace.left_out_blocks, "block"), trace.left_out_blocks == 1 ? "is" : "are");
}

void write_all(const ExportOptions& options, const std::vector<ExportInput>& profiles, ByteSink* sink) {
  if (profiles.size() > 1) return options.format->write_many(profiles, options.view, sink);
  options.format->write(profiles[0].profile, options.view, sink);
}

bool is_packed(const ExportOptions& options) { return options.format->is_packable && options.output.ends_with(".gz"); }

void print_notes(const ExportOptions& options, const std::vector<ExportInput>& profiles) {
  for (const ExportInput& it : profiles) {
    if (options.format->is_of_trace) print_what_is_left_out(it.profile.trace);
    if (options.format->find_notes == nullptr) continue;
    const std::string of = profiles.size() > 1 ? "  (" + escape_controls(it.file) + ")" : "";
    for (const std::string& note : options.format->find_notes(it.profile, options.view))
      fmt::print(stderr, "{}{}\n", note, of);
  }
}

// The exit code.
Result<int> write_export(const ExportOptions& options, const std::vector<ExportInput>& profiles) {
  if (options.output.empty()) {
    OutputSink sink;
    write_all(options, profiles, &sink);
    return sink.finish();
  }
  Result<AtomicFile> file = AtomicFile::create(options.output);
  if (!file) return file.problem();
  if (is_packed(options)) {
    GzipSink packed(&*file);
    write_all(options, profiles, &packed);
    packed.finish();
  } else {
    write_all(options, profiles, &*file);
  }
  const Result<std::string> path = file->commit();
  if (!path) return path.problem();
  if (options.quiet) return 0;
  const bool utf8 = inspect_terminal(STDERR_FILENO, options.color).utf8;
  const std::string shown = pasted_file(*path, utf8);
  fmt::print(stderr, "saved  {}  for {}\n", shown, options.format->summary);
  print_notes(options, profiles);
  if (!options.format->next.empty())
    fmt::print(stderr, "next   {}\n",
               fmt::format(fmt::runtime(options.format->next), shown, pasted_file(*path + ".svg", utf8)));
  return 0;
}

Result<int> export_profiles(const ExportOptions& options) {
  if (const Result<Done> checked = check_usage(options); !checked) return checked.problem();
  std::vector<ExportInput> profiles;
  for (const std::string& file : options.files) {
    if (name_one_file(options.output, file))
      return flags_exclude("-o " + options.output, file, "what is written would replace the profile");
    Result<Profile> profile = read_profile(file);
    if (!profile) return profile.problem();
    if (const Result<Done> checked = check_profile(options, file, *profile); !checked) return checked.problem();
    if (options.format->is_folded) mark_folded({}, &*profile);
    profiles.push_back({file, std::move(*profile)});
  }
  const Result<int> code = write_export(options, profiles);
  if (code && !options.quiet) {
    for (const ExportInput& it : profiles) {
      for (const Problem& warning : find_warnings(it.profile, names_adviser(it.file)))
        print_problem(warning, options.color);
    }
  }
  return code;
}

}  // namespace

CommandText export_text() {
  return {"export",
          "heapprof export --format FORMAT [OPTIONS] FILE...",
          "Write a profile in the format of another tool.",
          {"heapprof export --format folded r.json | flamegraph.pl >r.svg",
           "heapprof export --format speedscope -o r.speedscope.json r.json",
           "heapprof export --format pprof -o r.pb.gz r.json; go tool pprof -top r.pb.gz",
           "heapprof export --format dhat --device cuda:0 -o gpu.json r.json",
           "heapprof export --format dot r.json | dot -Tsvg >r.svg",
           "heapprof export --format perfetto -o all.tar a.json b.json"},
          {"exit status: 0, 1 if it cannot be written, 2 for wrong usage, 3 if FILE is no", "profile or damaged",
           "manual: man heapprof-export"}};
}

int export_main(const std::vector<std::string>& arguments) {
  ExportOptions target;
  Options options(export_text());
  const char* what = "what is written";
  Choices<const ExportFormat*> format_choices;
  for (const ExportFormat& format : export_formats()) format_choices.emplace_back(format.name.data(), &format);
  options.add_choice<const ExportFormat*>({"--format", "FORMAT", what, "{}"}, format_choices, &target.format);
  options.add_choice<std::optional<Metric>>({"--metric", "METRIC", what, "{}"},
                                            {kMetricWords.begin(), kMetricWords.end()}, &target.view.metric);
  options.add_text({"--device", "NAME", what, "one device, such as cuda:0"}, &target.view.device);
  options.add_flag({"--full-names", "", what, "folded: names with their parameters and all"}, &target.view.full_names);
  options.add_text({"-o,--output", "OUT", "output", "write to OUT, replacing it; else to stdout"}, &target.output);
  options.add_flag({"-q,--quiet", "", "output", "say nothing but errors"}, &target.quiet);
  options.add_color(&target.color);
  options.add_positionals(&target.files);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? export_profiles(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
