// cli/attach/process_maps.h: what is mapped in a process, and where functions of its libraries are.
//
// Trust:    files are read as ELF by libelf, as the process sees them: who may trace it, and so call in it, trusts it
//           that far. What is no ordinary file is not opened.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

struct Mapping {
  uint64_t start_avma = 0;
  uint64_t end_avma = 0;
  uint64_t offset = 0;  // in the file
  bool is_readable = false;
  bool is_code = false;
  std::string path;  // as the process sees it; "[stack]"; empty
};

// Lines of /proc/PID/maps, by address. Empty: the process is gone, or another user's.
std::vector<Mapping> read_mappings(pid_t pid);
const Mapping* mapping_at(const std::vector<Mapping>& mappings, uint64_t address_avma);

// An object that is mapped.
struct MappedObject {
  std::string path;   // as the process sees it
  std::string file;   // as we do: below /proc/PID/root
  uint64_t bias = 0;  // what is added to its addresses
  uint64_t start_avma = 0;
  uint64_t end_avma = 0;
};
// The first object whose file name begins so ("libc.so.6", "ld-linux"). nullopt: none is mapped.
std::optional<MappedObject> find_object(pid_t pid, const std::vector<Mapping>& mappings, const std::string& file_name);
std::optional<MappedObject> object_at(pid_t pid, const std::vector<Mapping>& mappings, uint64_t address_avma);

// Where a function of its dynamic symbol table is; 0: it has none of that name.
uint64_t function_in(const MappedObject& object, const std::string& name);
// Where these bytes stand in its code for the first time; 0: nowhere.
uint64_t bytes_in(pid_t pid, const std::vector<Mapping>& mappings, const MappedObject& object,
                  const std::string& bytes);

}  // namespace heapprof::cli
