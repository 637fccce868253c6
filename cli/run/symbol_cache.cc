// cli/run/symbol_cache.cc: names are looked up once a run, unless the file may have changed. They are kept for later
// runs only if they all came from complete debug information of one file, or from a file without any. If names from
// incomplete information were kept, a later run would not find the rest in a debug package that was installed since.
#include "cli/run/symbol_cache.h"

#include "cli/base/file_name.h"
#include "cli/model/profile/inferred_calls.h"

#include <unistd.h>

#include <ctime>

namespace heapprof::cli {

namespace {

constexpr size_t kMostLocations = 2'000'000;  // if the cache has more, it is emptied

CallPair without_module(const CallPair& pair) { return {0, pair.outer_svma, pair.inner_svma}; }

// "render (/build/render.dwo is not there)". The .dwo files may be packed in one .dwp file, which libdw can read since
// 0.192.
std::string partly_read_text(const std::string& path, const std::string& missing_file) {
  const std::string package = path + ".dwp";
  const bool has_package = ::access(package.c_str(), R_OK) == 0;
  return base_name(path) + (has_package ? " (" + package + " cannot be read)" : " (" + missing_file + " is not there)");
}

uint64_t real_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

SymbolCache::~SymbolCache() {
  try {
    keep_all();
  } catch (const std::exception&) {  // then the next run looks these names up itself
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

// The pairs that have to be looked up: those with an unknown location, and open calls that were never looked up.
std::vector<CallPair> SymbolCache::missing_of(const std::vector<CallPair>& neighbours,
                                              const std::vector<Entry*>& known) const {
  std::vector<CallPair> missing;
  for (const CallPair& pair : neighbours) {
    if (pair.module >= known.size()) continue;
    const KeptNames& names = known[pair.module]->second.names;
    const auto keys_at = [&](uint64_t svma) {
      const auto found = names.calls.find(svma);
      return found == names.calls.end() ? CallKeys() : found->second;
    };
    if (names.frames.contains(pair.outer_svma) && (pair.inner_svma == 0 || names.frames.contains(pair.inner_svma))) {
      const CallKeys outer = keys_at(pair.outer_svma);
      const bool is_open = pair.inner_svma == 0 ? is_open_call(outer) : is_open_call(outer, keys_at(pair.inner_svma));
      if (!is_open || names.inferred.contains(without_module(pair))) continue;
    }
    missing.push_back(pair);
  }
  return missing;
}

// Takes the file's names from the store. Called when they are first needed.
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
    KeptNames& names = known[missing[i].module]->second.names;
    names.frames[missing[i].svma] = std::move(found.frames[i]);
    if (found.calls[i] != CallKeys()) names.calls[missing[i].svma] = found.calls[i];
  }
  for (auto& [pair, path] : found.inferred)
    known[pair.module]->second.names.inferred[without_module(pair)] = std::move(path);
  known_count_ += missing.size();
  for (size_t i = 0; i < modules.size(); ++i) {
    if (!is_read[i]) continue;
    auto& [identity, module] = *known[i];
    const ModuleSymbols& symbols = report.modules[i];
    const FileFacts debug = facts_of_path(symbols.debug_path);
    if (identity.facts != NameStore::facts_of(modules[i]) || !identity.facts.is_settled(before_ns) ||
        !debug.is_settled(before_ns))
      module.is_settled = false;
    const bool is_whole = symbols.has_debug_info ? symbols.missing_file.empty() : !symbols.sought_paths.empty();
    if (!symbols.is_read || !is_whole) module.may_keep = false;
    if (module.has_source && module.names.sought_paths.empty() != symbols.sought_paths.empty()) module.may_keep = false;
    if (module.has_source && (module.names.debug_path != symbols.debug_path || module.names.debug != debug))
      module.may_keep = false;
    if (!symbols.missing_file.empty()) module.missing_file = symbols.missing_file;
    module.names.debug_path = symbols.debug_path;
    module.names.debug = debug;
    module.names.sought_paths = symbols.sought_paths;
    module.has_source = module.is_new = true;
    module.is_unreadable = module.is_unreadable || symbols.is_unreadable;
  }
}

SymbolTable SymbolCache::symbolize(const std::vector<Module>& modules, const std::vector<Location>& locations,
                                   const SymbolizeOptions& options, std::vector<std::string>* unread_modules) {
  const std::lock_guard guard(mutex_);
  if (known_count_ > kMostLocations) keep_all();
  std::vector<Entry*> known;
  known.reserve(modules.size());
  for (const Module& module : modules)
    known.push_back(&*known_.try_emplace({module.path, module.build_id, NameStore::facts_of(module)}).first);

  for (const Location& location : missing_of(locations, known)) {
    if (!known[location.module]->second.is_begun) begin(known[location.module]);
  }
  std::vector<Location> missing = missing_of(locations, known);
  SymbolizeOptions with_missing = options;
  with_missing.neighbours = missing_of(options.neighbours, known);
  // Of a pair, both locations are looked up, even if one is known.
  for (const CallPair& pair : with_missing.neighbours) {
    const KeptNames& names = known[pair.module]->second.names;
    for (const uint64_t svma : {pair.outer_svma, pair.inner_svma})
      if (svma != 0 && names.frames.contains(svma)) missing.push_back({pair.module, svma});
  }
  if (!missing.empty()) read(modules, missing, with_missing, known);

  SymbolTable table;
  table.frames.resize(locations.size());
  table.calls.resize(locations.size());
  for (size_t i = 0; i < locations.size(); ++i) {
    if (locations[i].module >= known.size()) continue;
    KeptNames& names = known[locations[i].module]->second.names;
    table.frames[i] = names.frames[locations[i].svma];
    const auto call = names.calls.find(locations[i].svma);
    if (call != names.calls.end()) table.calls[i] = call->second;
  }
  for (const CallPair& pair : options.neighbours) {
    if (pair.module >= known.size()) continue;
    const InferredCalls& inferred = known[pair.module]->second.names.inferred;
    const auto path = inferred.find(without_module(pair));
    if (path != inferred.end() && !path->second.empty()) table.inferred.emplace(pair, path->second);
  }
  for (const Entry* entry : known) {
    if (entry->second.is_unreadable) unread_modules->push_back(entry->first.path);
    if (!entry->second.missing_file.empty())
      unread_modules->push_back(partly_read_text(entry->first.path, entry->second.missing_file));
  }
  std::erase_if(known_, [](const Entry& entry) { return !entry.second.is_settled; });
  return table;
}

}  // namespace heapprof::cli
