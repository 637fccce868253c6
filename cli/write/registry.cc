// cli/write/registry.cc: one line per format.
#include "cli/write/registry.h"

#include "cli/write/dhat.h"

namespace heapprof::cli {
namespace {

constexpr Format kFormats[] = {
    {"dhat", ".json", "the profile itself: DHAT JSON version 2 with heapprof's extension", write_dhat},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format* find_format(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace heapprof::cli
