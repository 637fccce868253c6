// cli/run/symbol_cache.cc: see symbol_cache.h.
#include "cli/run/symbol_cache.h"

namespace heapprof::cli {

namespace {

constexpr size_t kMostKnown = 2'000'000;  // locations; beyond it the cache begins anew

std::string identity_of(const Module& module) {
  return module.build_id.empty() ? "path " + module.path : "build " + module.build_id;
}

}  // namespace

SymbolTable SymbolCache::symbolize(const std::vector<Module>& modules, const std::vector<Location>& locations,
                                   const SymbolizeOptions& options, std::vector<std::string>* unread_modules) {
  const std::lock_guard guard(mutex_);
  if (known_count_ > kMostKnown) {
    known_.clear();
    known_count_ = 0;
  }
  std::vector<ModuleNames*> names;
  names.reserve(modules.size());
  for (const Module& module : modules) names.push_back(&known_[identity_of(module)]);

  std::vector<Location> missing;
  for (const Location& location : locations) {
    if (location.module < names.size() && !names[location.module]->contains(location.svma)) missing.push_back(location);
  }
  if (!missing.empty()) {
    SymbolizeReport report;
    SymbolTable found = heapprof::cli::symbolize(modules, missing, options, &report);
    for (size_t i = 0; i < missing.size(); ++i) {
      (*names[missing[i].module])[missing[i].svma] = std::move(found.frames[i]);
    }
    known_count_ += missing.size();
    unread_.insert(report.unreadable_modules.begin(), report.unreadable_modules.end());
  }
  for (const Module& module : modules) {
    if (unread_.contains(module.path)) unread_modules->push_back(module.path);
  }

  SymbolTable table;
  table.frames.resize(locations.size());
  for (size_t i = 0; i < locations.size(); ++i) {
    if (locations[i].module < names.size()) table.frames[i] = (*names[locations[i].module])[locations[i].svma];
  }
  return table;
}

}  // namespace heapprof::cli
