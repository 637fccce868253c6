// cli/symbolize/symbolizer.cc: sorts the locations by module and passes each module's to a worker process.
#include "cli/symbolize/symbolizer.h"

#include "cli/symbolize/module_names.h"
#include "cli/symbolize/worker.h"

#include <algorithm>
#include <span>

namespace heapprof::cli {
namespace {

struct ModuleWork {
  uint32_t module;
  std::vector<uint64_t> addresses_svma;  // sorted, distinct: return addresses less one
  std::span<const CallPair> neighbours;  // pairs of the module
};

// The kernel's code page has no file, and no symbol table that is worth reading.
bool is_vdso(const Module& module) { return module.path == "[vdso]" || module.path.starts_with("linux-vdso.so"); }

bool has_names(const std::vector<Module>& modules, const Location& location) {
  return location.module < modules.size() && location.svma != 0 && !is_vdso(modules[location.module]);
}

std::vector<ModuleWork> group_by_module(const std::vector<Module>& modules, const std::vector<Location>& locations,
                                        std::span<const CallPair> neighbours) {
  std::vector<ModuleWork> works(modules.size());
  for (uint32_t i = 0; i < works.size(); ++i) works[i].module = i;
  for (const Location& location : locations) {
    if (has_names(modules, location)) works[location.module].addresses_svma.push_back(location.svma - 1);
  }
  for (size_t first = 0; first < neighbours.size();) {
    const uint32_t module = neighbours[first].module;
    size_t last = first;
    while (last < neighbours.size() && neighbours[last].module == module) ++last;
    if (module < works.size()) works[module].neighbours = neighbours.subspan(first, last - first);
    first = last;
  }
  std::erase_if(works, [](const ModuleWork& work) { return work.addresses_svma.empty(); });
  for (ModuleWork& work : works) {
    std::vector<uint64_t>& addresses = work.addresses_svma;
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  }
  return works;
}

bool has_function(const std::vector<SourceFrame>& frames) {
  return std::any_of(frames.begin(), frames.end(), [](const SourceFrame& frame) { return !frame.function.empty(); });
}

void report_module(const Module& module, const ModuleNames& names, SymbolizeReport* report) {
  if (names.state == DebugFileState::kChanged) {
    report->changed_modules.push_back(module.path);
  } else if (std::none_of(names.frames.begin(), names.frames.end(), has_function)) {
    report->modules_without_symbols.push_back(module.path);
  } else if (!names.has_debug_info) {
    report->modules_without_debug_info.push_back(module.path);
  }
}

}  // namespace

SymbolTable symbolize(const std::vector<Module>& modules, const std::vector<Location>& locations,
                      const SymbolizeOptions& options, SymbolizeReport* report) {
  *report = SymbolizeReport();
  report->modules.resize(modules.size());
  const DebugSources sources{options.debug_folders, options.debug_index};
  std::vector<ModuleWork> works = group_by_module(modules, locations, options.neighbours);
  std::vector<ModuleNames> found(modules.size());  // by module
  std::vector<const ModuleWork*> work_of(modules.size(), nullptr);
  for (const ModuleWork& work : works) work_of[work.module] = &work;

  SymbolTable table;

  auto read = [&](size_t i) {
    return encode(read_module_names(modules[works[i].module], works[i].addresses_svma, works[i].neighbours, sources));
  };
  auto take = [&](size_t i, const std::string& bytes) {
    uint32_t module = works[i].module;
    if (decode(bytes, &found[module]) && found[module].frames.size() == works[i].addresses_svma.size()) {
      report_module(modules[module], found[module], report);
      report->modules[module] = {found[module].state == DebugFileState::kOpen,
                                 false,
                                 found[module].has_debug_info,
                                 found[module].missing_file,
                                 found[module].debug_path,
                                 found[module].sought_paths,
                                 found[module].debuginfod_answer};
      for (auto& [pair, path] : found[module].inferred)
        table.inferred.emplace(CallPair{module, pair.outer_svma, pair.inner_svma}, std::move(path));
    } else {
      found[module] = ModuleNames();
      report->modules[module].is_unreadable = true;
      report->unreadable_modules.push_back(modules[module].path);
    }
    if (options.progress) options.progress(i + 1, works.size());
  };
  WorkerLimits limits;
  if (options.worker_data_bytes != 0) limits.data_bytes = options.worker_data_bytes;
  for (size_t failed : run_in_worker(works.size(), limits, read, take)) {
    report->modules[works[failed].module].is_unreadable = true;
    report->unreadable_modules.push_back(modules[works[failed].module].path);
  }

  table.frames.resize(locations.size());
  table.calls.resize(locations.size());
  std::vector<std::vector<size_t>> users(modules.size());  // by module and address: the first location there, plus one
  for (const ModuleWork& work : works) users[work.module].resize(work.addresses_svma.size());
  for (size_t i = 0; i < locations.size(); ++i) {
    const Location& location = locations[i];
    if (has_names(modules, location) && !found[location.module].frames.empty()) {
      const std::vector<uint64_t>& addresses = work_of[location.module]->addresses_svma;
      auto at = std::lower_bound(addresses.begin(), addresses.end(), location.svma - 1);
      size_t position = static_cast<size_t>(at - addresses.begin());
      table.calls[i] = found[location.module].calls[position];
      size_t& user = users[location.module][position];
      if (user == 0) {
        table.frames[i] = std::move(found[location.module].frames[position]);
        user = i + 1;
      } else {
        table.frames[i] = table.frames[user - 1];
      }
    }
    ++(has_function(table.frames[i]) ? report->resolved_locations : report->unresolved_locations);
  }
  return table;
}

}  // namespace heapprof::cli
