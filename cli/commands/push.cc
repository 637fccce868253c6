// cli/commands/push.cc: each argument is a file, or a pid of which a snapshot is taken; cli/serve/push.h sends them.
// All are read before the first is sent, so if one name is wrong, nothing is sent.
#include "cli/serve/push.h"

#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/terminal.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/commands/commands.h"
#include "cli/model/profile/program_name.h"
#include "cli/read/read_profile.h"
#include "cli/serve/serve.h"
#include "cli/serve/served_processes.h"
#include "cli/target/snapshot_client.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace heapprof::cli {
namespace {

struct PushFlags {
  std::vector<std::string> words;  // the URL, then what to send
  std::string token_file;
  std::string device = "host";
  PushTarget target;
  bool is_quiet = false;
  ColorMode color = ColorMode::kAuto;
};

struct Source {
  std::string shown;
  Profile profile;
  std::vector<std::pair<std::string, std::string>> labels;
};

Result<Profile> profile_of(pid_t pid) {
  std::error_code error;
  std::string folder = (std::filesystem::temp_directory_path(error) / "heapprof-push-XXXXXX").string();
  if (error || mkdtemp(folder.data()) == nullptr) return output_not_writable(folder, errno_text(errno));
  const std::string file = folder + "/profile.json";
  const Result<SnapshotTaken> taken = ask_for_snapshot(pid, file, true);
  Result<Profile> profile = taken ? read_profile(taken->path) : Result<Profile>(taken.problem());
  std::filesystem::remove_all(folder, error);
  return profile;
}

Result<Source> read_source(const std::string& word) {
  pid_t pid = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
  if (error == std::errc{} && rest == word.data() + word.size() && pid > 0) {
    const std::vector<std::pair<std::string, std::string>> labels = describe_process(pid).labels();
    Result<Profile> profile = profile_of(pid);
    if (!profile) return profile.problem();
    return Source{"process " + word, std::move(*profile), labels};
  }
  Result<Profile> profile = read_profile(word);
  if (!profile) return profile.problem();
  const RunInfo& run = profile->run;
  std::vector<std::pair<std::string, std::string>> labels;
  if (run.pid != 0) labels.emplace_back("pid", std::to_string(run.pid));
  if (!run.command.empty()) labels.emplace_back("command", program_name(run.command));
  return Source{word, std::move(*profile), std::move(labels)};
}

const Device* find_device(const Profile& profile, const std::string& name) {
  for (const Device& device : profile.devices) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

Result<int> push_all(PushFlags flags) {
  if (flags.words.empty()) return bad_value("URL", "", "the address of a server, in front of what it gets");
  flags.target.url = flags.words.front();
  if (flags.words.size() == 1) return missing_profile("push " + shell_quoted(flags.target.url));
  Result<std::string> token = read_token(flags.token_file, "HEAPPROF_PUSH_TOKEN");
  if (!token) return token.problem();
  flags.target.token = std::move(*token);
  std::vector<Source> sources;
  for (size_t i = 1; i < flags.words.size(); ++i) {
    Result<Source> source = read_source(flags.words[i]);
    if (!source) return source.problem();
    std::string known;
    for (const Device& device : source->profile.devices) known += (known.empty() ? "" : ", ") + device.name;
    if (find_device(source->profile, flags.device) == nullptr) return unknown_device(flags.device, known);
    sources.push_back(std::move(*source));
  }
  for (const Source& source : sources) {
    const Result<uint64_t> sent =
        push(flags.target, {&source.profile, find_device(source.profile, flags.device), source.labels});
    if (!sent) return sent.problem();
    if (!flags.is_quiet) fmt::print(stderr, "sent   {}  {}\n", escape_controls(source.shown), format_bytes(*sent));
  }
  return 0;
}

}  // namespace

CommandText push_text() {
  return {"push",
          "heapprof push [OPTIONS] URL PID|FILE...",
          "Send profiles to a server that takes pprof, such as Pyroscope.",
          {"heapprof push http://pyroscope:4040 4711         what is live now",
           "heapprof push http://otelcol:4040/v1/pprof r.json   a run that has ended"},
          {"exit status: 0; 1 if one was not taken, 2 for wrong usage, 3 for a profile", "that cannot be read",
           "manual: man heapprof-push"}};
}

int push_main(const std::vector<std::string>& arguments) {
  PushFlags target;
  Options options(push_text());
  const char* what = "what and as whom";
  options.add_text({"--name", "NAME", what, "of the application; default: the program's"}, &target.target.name);
  options.add_text({"--device", "NAME", what, "of this device; default host"}, &target.device);
  options.add_text({"--token-file", "FILE", what, "send the token in it"}, &target.token_file);
  options.add_flag({"-q,--quiet", "", "output", "say nothing but errors"}, &target.is_quiet);
  options.add_color(&target.color);
  options.add_positionals(&target.words);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? push_all(std::move(target)) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
