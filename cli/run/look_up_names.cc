// cli/run/look_up_names.cc: see look_up_names.h.
#include "cli/run/look_up_names.h"

#include "cli/model/profile/inferred_calls.h"
#include "cli/symbolize/jit_names.h"
#include "cli/symbolize/python_names.h"

#include <new>
#include <string>
#include <vector>

namespace heapprof::cli {

namespace {

// Sets the main program's path, because the loader's name for that module is empty.
void name_main_module(Recording* recording) {
  for (Module& module : recording->modules) {
    if (module.path.empty()) module.path = recording->run.executable;
  }
}

// The CUDA driver gives kernels' mangled names.
void demangle_kernels(Launches* launches) {
  for (KernelLaunches& kernel : launches->kernels) kernel.name = demangle(kernel.name);
  sort_launches(launches);
}
void demangle_kernels(Scopes* scopes) {
  demangle_kernels(&scopes->outside);
  for (Scope& scope : scopes->scopes) demangle_kernels(&scope.launches);
}

}  // namespace

void give_up_names(Recording* recording) {
  recording->run.coverage.unread_modules.clear();
  for (const Module& module : recording->modules) recording->run.coverage.unread_modules.push_back(module.path);
}

SymbolTable look_up_names(const SymbolizeOptions& options, SymbolCache* cache, Recording* recording) {
  name_main_module(recording);
  demangle_kernels(&recording->scopes);
  for (RecordedDevice& device : recording->devices) {
    for (Holder& holder : device.held_by) {
      for (std::string& name : holder.names) name = demangle(name);
    }
  }
  std::vector<std::string>& unread = recording->run.coverage.unread_modules;
  try {
    if (cache == nullptr) {
      SymbolTable table;
      table.frames.resize(recording->locations.size());
      add_python_names(recording, &table);
      return table;
    }
    SymbolizeOptions with_neighbours = options;
    with_neighbours.neighbours = find_neighbours(*recording);
    SymbolTable table = cache->symbolize(recording->modules, recording->locations, with_neighbours, &unread);
    const std::string map_path = jit_map_path(recording->run.pid);
    if (add_jit_names(map_path, recording, &table) == JitMap::kRefused) unread.push_back(map_path);
    add_python_names(recording, &table);
    add_inferred_calls(recording, &table);
    return table;
  } catch (const std::bad_alloc&) {
    give_up_names(recording);
    return {};
  }
}

}  // namespace heapprof::cli
