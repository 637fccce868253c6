// cli/collect/rings/module_map.cc: after a dlclose and a dlopen the same address may be in another object.
//
// A thread writes addresses, and the generation of its events. It notices an unload only at its next event. So no entry
// is ever removed from the list. An address is searched from the newest entry backwards, and the first entry found that
// is not of a later generation than the thread's is taken. If all are of later ones, the thread has not noticed the new
// generation yet. Then the first object that was ever loaded at that address is taken.
//
// The search is linear, and a program may have hundreds of objects. So it is done once for an address: a hash table
// keeps the answer, with the range of generations in which it is valid.
#include "cli/collect/rings/module_map.h"

#include <algorithm>
#include <cstring>

namespace heapprof::cli {

namespace {

constexpr size_t kFirstCached = 4096;
constexpr size_t kFirstLocationSlots = 4096;

std::string hex(const unsigned char* bytes, size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * count);
  for (size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 0xf];
  }
  return text;
}

uint64_t location_hash(uint32_t module, uint64_t svma) {
  const uint64_t product = (svma ^ static_cast<uint64_t>(module) << 40) * 0x9E3779B97F4A7C15ull;
  return product ^ product >> 32;
}

}  // namespace

ModuleMap::ModuleMap(std::string executable, Opener open_file)
    : executable_(std::move(executable)), open_file_(std::move(open_file)) {
  location_slots_.resize(kFirstLocationSlots);
  cache_.resize(kFirstCached);
  cache_mask_ = kFirstCached - 1;
}

void ModuleMap::read(const unsigned char* table, uint32_t bytes) {
  if (!is_sound_ || bytes == bytes_read_) return;
  uint32_t unread_bytes = bytes - bytes_read_;
  is_sound_ = unread_bytes <= wire::kModuleTableBytes && bytes % 8 == 0;
  while (is_sound_ && unread_bytes != 0) {
    const auto at = static_cast<uint32_t>(bytes_read_ % wire::kModuleTableBytes);
    const auto to_end = static_cast<uint32_t>(wire::kModuleTableBytes - at);
    uint32_t entry_bytes = 0;
    std::memcpy(&entry_bytes, table + at, sizeof entry_bytes);
    if (entry_bytes == 0) {  // the next entry begins at the table's start
      entry_bytes = to_end;
      is_sound_ = to_end <= unread_bytes;
    } else {
      is_sound_ = read_entry(table + at, std::min(unread_bytes, to_end), &entry_bytes);
    }
    if (!is_sound_) return;
    bytes_read_ += entry_bytes;
    unread_bytes -= entry_bytes;
  }
}

bool ModuleMap::read_entry(const unsigned char* at, uint32_t bytes_left, uint32_t* entry_bytes) {
  wire::ModuleEntry entry;
  if (bytes_left < sizeof entry) return false;
  std::memcpy(&entry, at, sizeof entry);  // a copy: the target may change the table at any moment
  if (entry.entry_bytes < sizeof entry || entry.entry_bytes > bytes_left || entry.entry_bytes % 8 != 0) return false;
  if (sizeof entry + entry.path_bytes + entry.build_id_bytes > entry.entry_bytes) return false;
  if (entry.start_avma >= entry.end_avma) return false;

  std::string path(entry.path_bytes, '\0');
  std::memcpy(path.data(), at + sizeof entry, entry.path_bytes);
  path.resize(std::strlen(path.c_str()));
  const std::string build_id = hex(at + sizeof entry + entry.path_bytes, entry.build_id_bytes);

  forget(entry.start_avma, entry.end_avma);
  entries_.push_back(
      {entry.start_avma, entry.end_avma, entry.load_bias, entry.generation, module_of(path, build_id, entry)});
  *entry_bytes = entry.entry_bytes;
  return true;
}

uint32_t ModuleMap::module_of(const std::string& path, const std::string& build_id, const wire::ModuleEntry& entry) {
  const std::string identity = build_id.empty() ? "/" + path : build_id;
  const auto [at, is_new] = module_by_identity_.try_emplace(identity, static_cast<uint32_t>(modules_.size()));
  if (is_new) {
    Module module;
    module.path = path.empty() ? executable_ : path;
    module.build_id = build_id;
    module.file = open_file_(path, entry.start_avma);
    modules_.push_back(std::move(module));
  }
  modules_[at->second].load_bias = entry.load_bias;
  return at->second;
}

// Drops cached answers for addresses in this range: another object has come there.
void ModuleMap::forget(uint64_t start_avma, uint64_t end_avma) {
  for (Cached& cached : cache_) {
    if (cached.pc_avma != kNoPc && cached.pc_avma - 1 >= start_avma && cached.pc_avma - 1 < end_avma) {
      cached.from = cached.to = 0;
    }
  }
}

uint32_t ModuleMap::resolve(uint64_t cache_index, uint64_t pc_avma, uint32_t generation) {
  // pc − 1 is inside the calling instruction, and so always inside the object.
  const Entry* found = nullptr;
  Cached cached{pc_avma, 0, 0, UINT32_MAX, 0};
  for (size_t i = entries_.size(); i-- != 0;) {
    const Entry& entry = entries_[i];
    if (pc_avma - 1 < entry.start_avma || pc_avma - 1 >= entry.end_avma) continue;
    if (entry.generation <= generation) {
      found = &entry;
      cached.from = entry.generation;
      break;
    }
    cached.to = std::min(cached.to, entry.generation);
  }
  if (found == nullptr) {  // the thread has not noticed the new generation yet: take the first object that came there
    for (const Entry& entry : entries_) {
      if (pc_avma - 1 < entry.start_avma || pc_avma - 1 >= entry.end_avma) continue;
      found = &entry;
      break;
    }
  }
  if (found != nullptr) {
    cached.location = location_of(found->module, pc_avma - found->load_bias);
  } else {
    const bool has_line = python_lines_ && is_python_frame(pc_avma);
    cached.location = location_of(kNoModule, has_line ? python_lines_->first_of_line(pc_avma) : pc_avma);
  }
  if (pc_avma == kNoPc) return cached.location;

  if (cache_[cache_index].pc_avma == kNoPc) ++cache_used_;
  cache_[cache_index] = cached;
  if (cache_used_ * 2 > cache_.size()) grow_cache();
  return cached.location;
}

void ModuleMap::grow_cache() {
  std::vector<Cached> old(cache_.size() * 2);
  old.swap(cache_);
  cache_mask_ = cache_.size() - 1;
  for (const Cached& cached : old) {
    if (cached.pc_avma == kNoPc) continue;
    uint64_t i = hash(cached.pc_avma) & cache_mask_;
    while (cache_[i].pc_avma != kNoPc) i = (i + 1) & cache_mask_;
    cache_[i] = cached;
  }
}

uint32_t ModuleMap::location_of(uint32_t module, uint64_t svma) {
  uint64_t mask = location_slots_.size() - 1;
  uint64_t i = location_hash(module, svma) & mask;
  for (; location_slots_[i] != 0; i = (i + 1) & mask) {
    const Location& location = locations_[location_slots_[i] - 1];
    if (location.module == module && location.svma == svma) return location_slots_[i] - 1;
  }
  const auto index = static_cast<uint32_t>(locations_.size());
  locations_.push_back({module, svma});
  location_slots_[i] = index + 1;
  if (locations_.size() * 2 > location_slots_.size()) {
    std::vector<uint32_t> slots(location_slots_.size() * 2);
    mask = slots.size() - 1;
    for (uint32_t at = 0; at < locations_.size(); ++at) {
      uint64_t slot = location_hash(locations_[at].module, locations_[at].svma) & mask;
      while (slots[slot] != 0) slot = (slot + 1) & mask;
      slots[slot] = at + 1;
    }
    location_slots_.swap(slots);
  }
  return index;
}

}  // namespace heapprof::cli
