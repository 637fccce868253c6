// cli/run/name_profile.cc: names are looked up by build id and address alone, so that a profile can be named on another
// machine and years later. For a module without a build id any name would be a guess.
// Sets left->why, the reason that functions have no name. The first of these that applies is given: no build id, an
// unreadable file, a missing part, a debug file that does not name the functions.
#include "cli/run/name_profile.h"

#include "cli/model/analysis/unnamed.h"
#include "cli/run/names_advice.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapprof::cli {
namespace {

void tell_why(const Module& module, const ModuleSymbols& symbols, const DebugIndex& index, NamelessModule* left) {
  if (!is_build_id(module.build_id)) {
    left->why = "it has no build id: nothing tells which debug file is its";
  } else if (symbols.is_unreadable) {
    left->why = "its symbols cannot be read: the file is damaged, or reading it did not end";
  } else if (symbols.is_read && !symbols.missing_file.empty()) {
    left->why = "a part of its debug information is missing: " + symbols.missing_file;
  } else if (symbols.is_read && !symbols.debug_path.empty()) {
    left->why = symbols.debug_path + " does not name them";
  } else if (symbols.is_read && symbols.has_debug_info) {
    left->why = "its debug information does not name them";
  } else {
    left->why = "no debug file of build id " + module.build_id;
    if (const std::string other = index.other_build_of(module); !other.empty())
      left->why += fmt::format("; {} is of another build", other);
    left->debuginfod = debuginfod_text(symbols.debuginfod_answer);
  }
}

void add(const NamedFrames& more, NamedFrames* sum) {
  sum->functions_missing += more.functions_missing;
  sum->functions_found += more.functions_found;
  sum->lines_missing += more.lines_missing;
  sum->lines_found += more.lines_found;
}

}  // namespace

Naming name_profile(const NamingOptions& options, Profile* profile) {
  Naming naming;
  const NamelessFrames nameless = find_nameless_frames(*profile);
  const DebugIndex index = DebugIndex::scan(options.debug_folders, nameless.modules);
  naming.is_cut_short = index.is_cut_short();
  SymbolizeOptions symbolize_options;
  symbolize_options.progress = options.progress;
  symbolize_options.debug_index = &index;
  symbolize_options.neighbours = find_neighbours(nameless, *profile);
  // The file at the path of a module without a build id may be any other file, so it is not even opened.
  std::vector<Module> modules = nameless.modules;
  for (Module& module : modules) {
    if (!is_build_id(module.build_id)) module.path.clear();
  }
  SymbolizeReport report;
  const SymbolTable table = symbolize(modules, nameless.locations, symbolize_options, &report);
  const std::vector<NamedFrames> named = add_names(nameless, table, profile);
  const UnnamedMemory unnamed = find_unnamed(*profile);
  for (size_t i = 0; i < named.size(); ++i) {
    add(named[i], &naming.sum);
    const uint64_t left = named[i].functions_missing - named[i].functions_found;
    if (left == 0) continue;
    naming.left.push_back({profile->modules[i], left, unnamed.peak_bytes[i], "", ""});
    tell_why(nameless.modules[i], report.modules[i], index, &naming.left.back());
  }
  std::stable_sort(naming.left.begin(), naming.left.end(), [](const NamelessModule& a, const NamelessModule& b) {
    return a.peak_bytes != b.peak_bytes ? a.peak_bytes > b.peak_bytes : a.functions > b.functions;
  });
  return naming;
}

bool is_bare_checkpoint(const Profile& profile) {
  if (profile.dialect != Dialect::kHeapprof || profile.run.end.kind != EndKind::kRunning) return false;
  return std::none_of(profile.frames.begin(), profile.frames.end(), [](const Frame& frame) {
    return frame.svma != 0 && frame.module != kNoModule && !frame.function.empty();
  });
}

}  // namespace heapprof::cli
