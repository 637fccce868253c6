// cli/run/symbol_cache.cc: names are asked for once a run where nothing can change them. Of a module they are kept for
// later runs only if all of them came from whole debug information of one file: what is found without it, or with a
// part of it, would stand in the way of a package with the rest.
#include "cli/run/symbol_cache.h"

#include <ctime>

namespace heapprof::cli {

namespace {

constexpr size_t kMostKnown = 2'000'000;  // locations; beyond it the cache begins anew

std::string identity_of(const Module& module) {
  return module.build_id.empty() ? "path " + module.path : "build " + module.build_id;
}

uint64_t real_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

SymbolCache::~SymbolCache() {
  try {
    for (auto& [identity, known] : known_) {
      if (known.read_ns != 0 && known.may_keep) store_.keep(known.module, std::move(known.names), known.read_ns);
    }
  } catch (const std::exception&) {  // the next run finds these names itself
  }
}

std::vector<Location> SymbolCache::missing_of(const std::vector<Location>& locations,
                                              const std::vector<Known*>& known) const {
  std::vector<Location> missing;
  for (const Location& location : locations) {
    if (location.module < known.size() && !known[location.module]->names.frames.contains(location.svma))
      missing.push_back(location);
  }
  return missing;
}

void SymbolCache::take(const SymbolizeReport& report, const std::vector<Location>& missing, SymbolTable* found,
                       const std::vector<Known*>& known, uint64_t read_ns) {
  for (size_t i = 0; i < missing.size(); ++i) {
    Known& module = *known[missing[i].module];
    module.names.frames[missing[i].svma] = std::move(found->frames[i]);
    module.read_ns = read_ns;
  }
  for (size_t i = 0; i < known.size(); ++i) {
    Known& module = *known[i];
    if (module.read_ns != read_ns) continue;
    const ModuleSymbols& symbols = report.modules[i];
    if (!symbols.is_read || !symbols.has_debug_info || symbols.lacks_units) module.may_keep = false;
    if (module.has_source && module.names.debug_path != symbols.debug_path) module.may_keep = false;
    module.names.debug_path = symbols.debug_path;
    module.has_source = true;
  }
  known_count_ += missing.size();
  unread_.insert(report.unreadable_modules.begin(), report.unreadable_modules.end());
}

// The first time that names of this module are needed.
void SymbolCache::begin(const Module& module, Known* known) {
  known->is_begun = true;
  known->module = {module.path, module.build_id, 0, nullptr};
  known->names.module = NameStore::facts_of(module);
  std::optional<KeptNames> kept = store_.find(module);
  if (!kept) return;
  known->names = std::move(*kept);
  known->has_source = true;
  known_count_ += known->names.frames.size();
}

SymbolTable SymbolCache::symbolize(const std::vector<Module>& modules, const std::vector<Location>& locations,
                                   const SymbolizeOptions& options, std::vector<std::string>* unread_modules) {
  const std::lock_guard guard(mutex_);
  if (known_count_ > kMostKnown) {
    known_.clear();
    known_count_ = 0;
  }
  std::vector<Known*> known;
  known.reserve(modules.size());
  for (const Module& module : modules) known.push_back(&known_[identity_of(module)]);

  for (const Location& location : missing_of(locations, known)) {
    if (!known[location.module]->is_begun) begin(modules[location.module], known[location.module]);
  }
  const std::vector<Location> missing = missing_of(locations, known);
  if (!missing.empty()) {
    const uint64_t read_ns = real_time_ns();
    SymbolizeReport report;
    SymbolTable found = heapprof::cli::symbolize(modules, missing, options, &report);
    take(report, missing, &found, known, read_ns);
  }
  for (const Module& module : modules) {
    if (unread_.contains(module.path)) unread_modules->push_back(module.path);
  }

  SymbolTable table;
  table.frames.resize(locations.size());
  for (size_t i = 0; i < locations.size(); ++i) {
    if (locations[i].module < known.size())
      table.frames[i] = known[locations[i].module]->names.frames[locations[i].svma];
  }
  return table;
}

}  // namespace heapprof::cli
