// tests/targets/attack/parts/sites.h: the functions of the attacker that allocate, by number and by name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attack {

enum SiteIndex : uint32_t {
#define SITE(name, call) kSite_##name,
#include "sites.def"
#undef SITE
  kSite_realloc_a,
  kSite_realloc_b,
  kFirstPlugin,
};
constexpr uint32_t kPlugins = 6;
constexpr uint32_t kSites = kFirstPlugin + kPlugins;

using Via = void* (*)(size_t size);
struct Site {
  const char* name;  // as in the profile: site_NAME, or that of a plugin
  Via via;           // null for realloc and plugins
};
extern const Site kTable[kSites];

void* via_realloc_a(void* block, size_t size);
void* via_realloc_b(void* block, size_t size);
// What plugins call: they have no names of ours.
void* allocate_for_plugin(uint32_t site, size_t size);
// Frees a block of any site by the function that belongs to it.
void release(void* block);

}  // namespace attack
