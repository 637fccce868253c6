// tests/unit/agent_process/link_map_test.cc: symbols of objects whose tables are whole, cut short, or lead astray.
#include "agent/process/link_map.h"

#include "agent/process/loaded_object.h"

#include <catch2/catch.hpp>
#include <elf.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace heapprof::agent;

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSymbols = 5;  // the first, which names nothing, an import, and three of its own
constexpr const char* kNames[kSymbols] = {"absent", "imported", "first", "second", "third"};

uint32_t gnu_hash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != 0; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}
uint32_t sysv_hash(const char* name) {
  uint32_t hash = 0;
  for (; *name != 0; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
  }
  return hash;
}

// A loaded object of two pages, whose tables end with the second one; before and behind them nothing can be read.
class Object {
 public:
  static constexpr size_t kBytes = 2 * kPage;
  static constexpr size_t kDynamic = 0, kSymbolTable = 512, kGnuHash = 1024, kSysvHash = 1536, kStrings = 2048;

  explicit Object(bool has_gnu_hash) {
    void* at = mmap(nullptr, kBytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    mapped_ = static_cast<unsigned char*>(at);
    REQUIRE(mprotect(image(), kBytes, PROT_READ | PROT_WRITE) == 0);
    fill(has_gnu_hash);
    map_.l_addr = reinterpret_cast<uint64_t>(image());
    map_.l_ld = reinterpret_cast<ElfW(Dyn)*>(image() + kDynamic);
    std::memcpy(name_, "object", sizeof "object");
    map_.l_name = name_;
  }
  ~Object() { munmap(mapped_, kBytes + 2 * kPage); }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  unsigned char* image() { return mapped_ + kPage; }
  template <typename T>
  T* at(size_t offset) {
    return reinterpret_cast<T*>(image() + offset);
  }
  ElfW(Dyn) * dynamic() { return at<ElfW(Dyn)>(kDynamic); }

  // Where each of kNames is found; nullptr: it is not.
  std::vector<const ElfW(Sym) *> find() {
    forget_readable_pages();
    std::vector<SoughtSymbol> sought;
    for (const char* name : kNames) sought.push_back({name});
    find_symbols_in_object(&map_, sought.data(), sought.size());
    std::vector<const ElfW(Sym)*> found;
    for (const SoughtSymbol& one : sought) found.push_back(one.symbol);
    return found;
  }
  std::vector<const ElfW(Sym) *> all() {
    const auto* symbols = at<ElfW(Sym)>(kSymbolTable);
    return {nullptr, nullptr, symbols + 2, symbols + 3, symbols + 4};
  }

 private:
  void fill(bool has_gnu_hash) {
    size_t text = 1;
    for (size_t i = 0; i < kSymbols; ++i) {
      ElfW(Sym)& symbol = at<ElfW(Sym)>(kSymbolTable)[i];
      if (i != 0) {
        symbol.st_name = static_cast<uint32_t>(text);
        std::strcpy(at<char>(kStrings + text), kNames[i]);
        text += std::strlen(kNames[i]) + 1;
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
      }
      if (i >= 2) {
        symbol.st_shndx = 1;
        symbol.st_value = 100 + i;
      }
    }
    auto* gnu = at<uint32_t>(kGnuHash);  // one bucket: the chain has all of them
    gnu[0] = 1, gnu[1] = 2, gnu[2] = 1, gnu[3] = 6;
    *at<uint64_t>(kGnuHash + 16) = ~uint64_t{0};
    gnu[6] = 2;
    for (uint32_t i = 2; i < kSymbols; ++i) gnu[5 + i] = (gnu_hash(kNames[i]) & ~1u) | (i + 1 == kSymbols ? 1 : 0);
    auto* sysv = at<uint32_t>(kSysvHash);
    sysv[0] = 2, sysv[1] = kSymbols;
    for (uint32_t i = 1; i < kSymbols; ++i) {
      uint32_t& bucket = sysv[2 + sysv_hash(kNames[i]) % 2];
      sysv[4 + i] = bucket;
      bucket = i;
    }
    const auto address = [this](size_t offset) { return reinterpret_cast<uint64_t>(image() + offset); };
    ElfW(Dyn)* entry = dynamic();
    *entry++ = {DT_SYMTAB, {address(kSymbolTable)}};
    *entry++ = {DT_STRTAB, {address(kStrings)}};
    *entry++ = {has_gnu_hash ? DT_GNU_HASH : DT_HASH, {address(has_gnu_hash ? kGnuHash : kSysvHash)}};
    *entry++ = {DT_NULL, {0}};
  }

  unsigned char* mapped_ = nullptr;
  link_map map_{};
  char name_[16];
};

}  // namespace

TEST_CASE("symbols are found by either hash table, and imports are none") {
  Object object(GENERATE(true, false));
  CHECK(object.find() == object.all());
}

TEST_CASE("a dynamic section that the loader has not relocated leads to the same tables") {
  Object object(true);
  for (size_t i = 0; i < 3; ++i) object.dynamic()[i].d_un.d_ptr -= reinterpret_cast<uint64_t>(object.image());
  CHECK(object.find() == object.all());
}

TEST_CASE("a table that lies where nothing can be read has no symbols") {
  Object object(GENERATE(true, false));
  const size_t entry = GENERATE(0u, 1u, 2u);
  for (const uint64_t address : {uint64_t{0}, uint64_t{8}, ~uint64_t{7}, reinterpret_cast<uint64_t>(object.image()) - 8,
                                 reinterpret_cast<uint64_t>(object.image()) + Object::kBytes, uint64_t{1} << 63}) {
    object.dynamic()[entry].d_un.d_ptr = address;
    const auto found = object.find();
    CHECK(found == std::vector<const ElfW(Sym)*>(kSymbols, nullptr));
  }
}

TEST_CASE("a dynamic section without an end, at the end of what can be read") {
  Object object(true);
  constexpr size_t kCount = Object::kBytes / sizeof(ElfW(Dyn));
  std::memset(object.image(), 0x11, Object::kBytes);
  static_assert(kCount > 0);
  CHECK(object.find() == std::vector<const ElfW(Sym)*>(kSymbols, nullptr));
}

TEST_CASE("chains that are rings, or have no end, are left") {
  Object object(false);
  auto* sysv = object.at<uint32_t>(Object::kSysvHash);
  for (uint32_t i = 1; i < kSymbols; ++i) sysv[4 + i] = 1;
  object.find();
  Object endless(true);
  auto* gnu = endless.at<uint32_t>(Object::kGnuHash);
  for (uint32_t i = 2; i < kSymbols; ++i) gnu[5 + i] &= ~1u;
  CHECK(endless.find() == endless.all());
}

TEST_CASE("names that lead out of the strings, or have no end, are no names") {
  Object object(GENERATE(true, false));
  auto* symbols = object.at<ElfW(Sym)>(Object::kSymbolTable);
  symbols[2].st_name = ~0u;
  std::memset(object.image() + Object::kBytes - 64, 't', 64);
  symbols[4].st_name = static_cast<uint32_t>(Object::kBytes - 3 - Object::kStrings);
  const auto found = object.find();
  CHECK(found[2] == nullptr);
  CHECK(found[3] == symbols + 3);
  CHECK(found[4] == nullptr);
}

TEST_CASE("any bytes in the tables: no look-up faults or goes on for ever") {
  std::mt19937 random(4711);
  for (int round = 0; round < 3000; ++round) {
    Object object(round % 2 == 0);
    const size_t first = round % 3 == 0 ? 0 : Object::kSymbolTable;  // the dynamic section, too, or not
    for (int changes = 0; changes < 1 + round % 40; ++changes) {
      const size_t at = first + random() % (Object::kStrings + 64 - first);
      object.image()[at] = static_cast<unsigned char>(random() % 5 == 0 ? 0xff : random());
    }
    object.find();
  }
}

TEST_CASE("headers are those of a file whose beginning is there") {
  Object object(true);
  auto& header = *object.at<ElfW(Ehdr)>(0);
  std::memset(&header, 0, sizeof header);
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phentsize = sizeof(ElfW(Phdr));
  header.e_phoff = sizeof header;
  header.e_phnum = 3;
  const auto start = reinterpret_cast<uint64_t>(object.image());
  CHECK(headers_at(start).count == 3);
  CHECK(headers_at(start + 8).count == 0);
  CHECK(headers_at(start - kPage).count == 0);
  for (const uint64_t offset : {uint64_t{Object::kBytes}, uint64_t{Object::kBytes - 8}, ~uint64_t{0}, ~uint64_t{7}}) {
    header.e_phoff = offset;
    CHECK(headers_at(start).count == 0);
  }
  // Behind the first page they count where they say that they are mapped.
  header.e_phoff = kPage;
  CHECK(headers_at(start).count == 0);
  auto& part = *object.at<ElfW(Phdr)>(kPage);
  part = {};
  part.p_type = PT_LOAD;
  part.p_filesz = Object::kBytes;
  CHECK(headers_at(start).count == 3);
}
