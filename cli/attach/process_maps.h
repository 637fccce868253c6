// cli/attach/process_maps.h: what is mapped in a process, and where functions of its libraries are.
//
// Symbols are read from the memory of the process, from the tables that its loader uses. So it does not matter if a
// file was replaced or deleted since, or is in a container.
//
// Trust:    every number comes from the process. Each read goes through process_vm_readv, which may fail but never
//           faults, and each loop is bounded.
// Cost:     some 20 system calls for a name.
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
  bool is_writable = false;
  bool is_code = false;
  std::string path;  // as the process sees it; "[stack]"; empty
};

// Lines of /proc/PID/maps, by address. Empty: the process is gone, or another user's.
std::vector<Mapping> read_mappings(pid_t pid);
const Mapping* mapping_at(const std::vector<Mapping>& mappings, uint64_t address_avma);

bool read_memory(pid_t pid, uint64_t from_avma, void* to, size_t bytes);
bool write_memory(pid_t pid, uint64_t to_avma, const void* from, size_t bytes);

struct RemoteSymbol {
  uint64_t start_avma = 0;
  uint64_t size_bytes = 0;
};

// An ELF object that a process has loaded.
class RemoteObject {
 public:
  // The object whose headers are at this address. nullopt: no valid headers.
  static std::optional<RemoteObject> read(pid_t pid, const Mapping& first);
  // True if its segments are mapped as a loader maps them. A file that is mapped as data, for example to read its
  // symbols, is not loaded: the addresses of its segments belong to other mappings.
  bool is_loaded(const std::vector<Mapping>& mappings) const;

  const std::string& path() const { return path_; }
  bool is_deleted() const { return path_.ends_with(" (deleted)"); }
  bool has(uint64_t address_avma) const { return address_avma - start_avma_ < end_avma_ - start_avma_; }
  // The symbol of this name that the object's dynamic symbol table defines; if it has several versions, the first one.
  std::optional<RemoteSymbol> find(const char* name) const;
  // Where these bytes first occur in its code; 0: nowhere.
  uint64_t find_code(const std::string& bytes) const;
  // The unused zeros between its last variable and the end of that page.
  RemoteSymbol unused_bytes() const;

 private:
  struct Segment {
    uint64_t start_avma;
    uint64_t end_avma;
    uint64_t file_off;
    bool is_code;
    bool is_writable;
  };
  bool read_dynamic(uint64_t dynamic_avma, uint64_t bytes);
  std::optional<RemoteSymbol> symbol_at(uint32_t index, const char* name) const;

  pid_t pid_ = 0;
  std::string path_;
  uint64_t bias_ = 0;
  uint64_t start_avma_ = 0;
  uint64_t end_avma_ = 0;
  std::vector<Segment> segments_;
  uint64_t symbols_avma_ = 0;
  uint64_t strings_avma_ = 0;
  uint64_t gnu_hash_avma_ = 0;
  uint64_t sysv_hash_avma_ = 0;
};

// All objects that are loaded from files, ordered by address. An object that is loaded twice is listed twice.
std::vector<RemoteObject> read_objects(pid_t pid, const std::vector<Mapping>& mappings);
// The first object whose file name begins with `file_name` ("libc.so.6", "ld-linux").
const RemoteObject* find_object(const std::vector<RemoteObject>& objects, const std::string& file_name);

}  // namespace heapprof::cli
