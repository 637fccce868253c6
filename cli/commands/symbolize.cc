// cli/commands/symbolize.cc: reads a profile, finds names, writes it in place or where -o says.
#include "cli/base/atomic_file.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/progress.h"
#include "cli/commands/commands.h"
#include "cli/model/profile/invariants.h"
#include "cli/read/read_profile.h"
#include "cli/run/name_profile.h"
#include "cli/run/naming_text.h"
#include "cli/write/encode/gzip_sink.h"
#include "cli/write/profile/dhat.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace heapprof::cli {
namespace {

struct SymbolizeCommand {
  std::vector<std::string> files;
  std::string output;
  NamingOptions naming;
  bool no_debuginfod = false;
  bool quiet = false;
  ColorMode color = ColorMode::kAuto;
};

bool is_packed(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == 0x1f && file.get() == 0x8b;
}

// Checks that names can be looked up. In a profile of another tool they cannot: it has addresses of one process, but
// not the files that were loaded there.
Result<Done> check(const Profile& profile, const std::string& file) {
  if (profile.dialect != Dialect::kHeapprof)
    return profile_without_offsets(
        file, "it is of " + std::string(profile.dialect == Dialect::kValgrind ? "valgrind" : "dhat-rs"));
  if (profile.modules.empty() && !profile.frames.empty())
    return profile_without_offsets(file, "it does not list the modules that were loaded");
  return Done{};
}

Result<std::string> write(const Profile& profile, const std::string& path, bool is_in_place, bool packs) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return file.problem();
  if (is_in_place) file->keep_owner_and_mode();
  if (packs) {
    GzipSink packed(&*file);
    write_dhat(profile, &packed);
    packed.finish();
  } else {
    write_dhat(profile, &*file);
  }
  return file->commit();
}

Result<Done> symbolize_one(const SymbolizeCommand& command, const std::string& file) {
  struct stat facts {};
  const bool is_in_place = command.output.empty();
  if (is_in_place && stat(file.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))
    return flag_needs_another(file, "-o OUT");
  Result<Profile> profile = read_profile(file);
  if (!profile) return profile.problem();
  if (const Result<Done> checked = check(*profile, file); !checked) return checked.problem();

  Naming naming;
  {
    Progress progress(command.color, command.quiet ? ProgressThread::kNone : ProgressThread::kOwn);
    NamingOptions options = command.naming;
    if (!command.quiet) {
      progress.say("looking up names");
      options.progress = [&progress](size_t done, size_t all) { progress.update(done, all, "modules"); };
    }
    naming = name_profile(options, &*profile);
  }
  if (const std::vector<std::string> violations = find_violations(*profile); !violations.empty())
    return numbers_disagree(violations[0]);
  std::string path;
  if (naming.has_found() || !is_in_place) {
    const bool packs = is_in_place ? is_packed(file) : command.output.ends_with(".gz");
    const Result<std::string> written = write(*profile, is_in_place ? file : command.output, is_in_place, packs);
    if (!written) return written.problem();
    path = *written;
  }
  if (!command.quiet)
    fmt::print(stderr, "{}", naming_text(naming, {file, path}, inspect_terminal(STDERR_FILENO, command.color)));
  return Done{};
}

Result<int> symbolize_all(const SymbolizeCommand& command) {
  if (command.files.empty()) return missing_profile("symbolize");
  if (command.files.size() > 1 && !command.output.empty()) return unexpected_argument(command.files[1], "symbolize");
  for (const std::string& folder : command.naming.debug_folders) {
    if (access(folder.c_str(), R_OK) != 0) return bad_value("--debug-dir", folder, "a folder that can be read");
  }
  if (command.no_debuginfod) unsetenv("DEBUGINFOD_URLS");
  for (const std::string& file : command.files) {
    if (const Result<Done> done = symbolize_one(command, file); !done) return done.problem();
  }
  return 0;
}

}  // namespace

CommandText symbolize_text() {
  return {"symbolize",
          "heapprof symbolize [OPTIONS] FILE...",
          "Name the functions of a profile that was written without symbols.",
          {"heapprof symbolize r.json                    from debug files that are here",
           "heapprof symbolize --debug-dir syms r.json   and from those in a folder",
           "heapprof symbolize -o named.json r.json      leave r.json as it is"},
          {"exit status: 0, 1 if the profile cannot be written, 2 for wrong usage, 3 if",
           "FILE is no profile, damaged, or does not say where its functions lie", "manual: man heapprof-symbolize"}};
}

int symbolize_main(const std::vector<std::string>& arguments) {
  SymbolizeCommand target;
  Options options(symbolize_text());
  const char* from = "where names come from";
  options.add_texts({"--debug-dir", "DIR", from, "debug files in and below DIR; may be repeated"},
                    &target.naming.debug_folders);
  options.add_flag({"--no-debuginfod", "", from, "do not ask the servers of DEBUGINFOD_URLS"}, &target.no_debuginfod);
  options.add_text({"-o,--output", "OUT", "output", "write to OUT, and leave FILE as it is"}, &target.output);
  options.add_flag({"-q,--quiet", "", "output", "say nothing but errors"}, &target.quiet);
  options.add_color(&target.color);
  options.add_positionals(&target.files);
  const Result<Done> parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? symbolize_all(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli
