// cli/collect/rings/module_map.h: maps a program counter to a location in an ELF file.
//
// Reads the arena's module table, an endless list (a circular buffer). After an unload another object may take the same
// addresses. Each unload begins a new generation of the list. An entry is valid from its generation on; of several that
// contain an address, the last one is valid.
//
// Guarantees
//  - One location per (object, address in its file): an object that is loaded twice, or elsewhere, keeps its locations.
//    The build id identifies an object; without one, the path does.
// Trust:    every byte of the table is hostile.
// Cost:     locate: one look-up in a hash table that stays in the cache; about 100 ns for a new address.
#pragma once

#include "cli/collect/memory/growing_array.h"
#include "cli/collect/rings/python_lines.h"
#include "cli/model/profile/recording.h"
#include "shared/wire.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

class ModuleMap {
 public:
  // Opens the file of a module that is mapped at the address; `path` is empty for the main program. May return nullptr.
  using Opener = std::function<std::shared_ptr<UniqueFd>(const std::string& path, uint64_t start_avma)>;

  ModuleMap(std::string executable, Opener open_file);

  // From now on the frames of one line of Python are one location. Without it each instruction is one.
  void set_codes(PythonLines::Codes codes) { python_lines_.emplace(std::move(codes)); }
  // Reads the entries that were appended to the table. `table` has wire::kModuleTableBytes bytes and wraps around;
  // `bytes` is how many were ever written to it, modulo 2^32.
  void read(const unsigned char* table, uint32_t bytes);
  // How many of these bytes were read, and may be overwritten.
  uint32_t bytes_read() const { return bytes_read_; }
  // Grows whenever an address may now mean another location than before.
  uint64_t version() const { return entries_.size(); }
  // False: the table held an entry that no agent writes; it is read no further.
  bool is_sound() const { return is_sound_; }

  // The location of a return address, for a thread that is in this generation.
  uint32_t locate(uint64_t pc_avma, uint32_t generation) {
    for (uint64_t i = hash(pc_avma) & cache_mask_;; i = (i + 1) & cache_mask_) {
      const Cached& cached = cache_[i];
      if (cached.pc_avma == pc_avma && generation >= cached.from && generation < cached.to) return cached.location;
      if (cached.pc_avma == pc_avma || cached.pc_avma == kNoPc) [[unlikely]]
        return resolve(i, pc_avma, generation);
    }
  }

  std::vector<Module> take_modules() { return std::move(modules_); }
  std::vector<Location> take_locations() { return std::move(locations_); }
  const std::vector<Module>& modules() const { return modules_; }
  const std::vector<Location>& locations() const { return locations_; }

 private:
  static constexpr uint64_t kNoPc = 0;  // no real return address is 0; a forged 0 is not cached

  struct Entry {
    uint64_t start_avma;
    uint64_t end_avma;
    uint64_t load_bias;
    uint32_t generation;
    uint32_t module;
  };
  struct Cached {
    uint64_t pc_avma;
    uint32_t location;
    uint32_t from;  // valid for generations [from, to)
    uint32_t to;
    uint32_t reserved;
  };

  static uint64_t hash(uint64_t pc_avma) {
    const uint64_t product = pc_avma * 0x9E3779B97F4A7C15ull;
    return product ^ product >> 32;
  }
  bool read_entry(const unsigned char* at, uint32_t bytes_left, uint32_t* entry_bytes);
  uint32_t module_of(const std::string& path, const std::string& build_id, const wire::ModuleEntry& entry);
  void forget(uint64_t start_avma, uint64_t end_avma);
  uint32_t resolve(uint64_t cache_index, uint64_t pc_avma, uint32_t generation);
  uint32_t location_of(uint32_t module, uint64_t svma);
  void grow_cache();

  std::string executable_;
  Opener open_file_;
  std::optional<PythonLines> python_lines_;
  uint32_t bytes_read_ = 0;
  bool is_sound_ = true;
  std::vector<Entry> entries_;
  std::vector<Module> modules_;
  std::unordered_map<std::string, uint32_t> module_by_identity_;
  std::vector<Location> locations_;
  std::vector<uint32_t> location_slots_;  // index + 1; open addressing
  std::vector<Cached> cache_;
  uint64_t cache_mask_ = 0;
  uint64_t cache_used_ = 0;
};

}  // namespace heapprof::cli
