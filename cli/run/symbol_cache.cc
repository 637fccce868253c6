// cli/run/symbol_cache.cc: names are asked for once a run where nothing can change them. Of a module they are kept for
// later runs only if all of them came from whole debug information of one file: what is found without it, or with a
// part of it, would stand in the way of a package with the rest.
#include "cli/run/symbol_cache.h"

#include <ctime>

namespace heapprof::cli {

namespace {

constexpr size_t kMostKnown = 2'000'000;  // locations; beyond it the cache begins anew

uint64_t real_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

SymbolCache::~SymbolCache() {
  try {
    keep_all();
  } catch (const std::exception&) {  // the next run finds these names itself
  }
}

void SymbolCache::keep_all() {
  for (const auto& [identity, known] : known_) {
    if (known.is_new && known.may_keep) store_.keep(identity.build_id, known.names);
  }
  known_.clear();
  known_count_ = 0;
}

std::vector<Location> SymbolCache::missing_of(const std::vector<Location>& locations,
                                              const std::vector<Entry*>& known) const {
  std::vector<Location> missing;
  for (const Location& location : locations) {
    if (location.module < known.size() && !known[location.module]->second.names.frames.contains(location.svma))
      missing.push_back(location);
  }
  return missing;
}

// The first time that names of this file are needed.
void SymbolCache::begin(Entry* entry) {
  auto& [identity, known] = *entry;
  known.is_begun = true;
  known.names.module = identity.facts;
  std::optional<KeptNames> kept = store_.find(identity.build_id, identity.facts);
  if (!kept) return;
  known.names = std::move(*kept);
  known.has_source = true;
  known_count_ += known.names.frames.size();
}

void SymbolCache::read(const std::vector<Module>& modules, const std::vector<Location>& missing,
                       const SymbolizeOptions& options, const std::vector<Entry*>& known) {
  const uint64_t before_ns = real_time_ns();
  SymbolizeReport report;
  SymbolTable found = heapprof::cli::symbolize(modules, missing, options, &report);
  std::vector<bool> is_read(modules.size());
  for (size_t i = 0; i < missing.size(); ++i) {
    is_read[missing[i].module] = true;
    known[missing[i].module]->second.names.frames[missing[i].svma] = std::move(found.frames[i]);
  }
  known_count_ += missing.size();
  for (size_t i = 0; i < modules.size(); ++i) {
    if (!is_read[i]) continue;
    auto& [identity, module] = *known[i];
    const ModuleSymbols& symbols = report.modules[i];
    const FileFacts debug = facts_of_path(symbols.debug_path);
    if (identity.facts != NameStore::facts_of(modules[i]) || !identity.facts.is_settled(before_ns) ||
        !debug.is_settled(before_ns))
      module.is_settled = false;
    if (!symbols.is_read || !symbols.has_debug_info || symbols.lacks_units) module.may_keep = false;
    if (module.has_source && (module.names.debug_path != symbols.debug_path || module.names.debug != debug))
      module.may_keep = false;
    module.names.debug_path = symbols.debug_path;
    module.names.debug = debug;
    module.has_source = module.is_new = true;
    module.is_unreadable = module.is_unreadable || symbols.is_unreadable;
  }
}

SymbolTable SymbolCache::symbolize(const std::vector<Module>& modules, const std::vector<Location>& locations,
                                   const SymbolizeOptions& options, std::vector<std::string>* unread_modules) {
  const std::lock_guard guard(mutex_);
  if (known_count_ > kMostKnown) keep_all();
  std::vector<Entry*> known;
  known.reserve(modules.size());
  for (const Module& module : modules)
    known.push_back(&*known_.try_emplace({module.path, module.build_id, NameStore::facts_of(module)}).first);

  for (const Location& location : missing_of(locations, known)) {
    if (!known[location.module]->second.is_begun) begin(known[location.module]);
  }
  const std::vector<Location> missing = missing_of(locations, known);
  if (!missing.empty()) read(modules, missing, options, known);

  SymbolTable table;
  table.frames.resize(locations.size());
  for (size_t i = 0; i < locations.size(); ++i) {
    if (locations[i].module < known.size())
      table.frames[i] = known[locations[i].module]->second.names.frames[locations[i].svma];
  }
  for (const Entry* entry : known) {
    if (entry->second.is_unreadable) unread_modules->push_back(entry->first.path);
  }
  std::erase_if(known_, [](const Entry& entry) { return !entry.second.is_settled; });
  return table;
}

}  // namespace heapprof::cli
