// cli/write/registry.h: the formats in which a profile can be written.
//
// A new format is one file with one function, one line in registry.cc, and one golden test.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/model/profile.h"

#include <span>
#include <string_view>

namespace heapprof::cli {

struct Format {
  std::string_view name;                                  // of --format
  std::string_view extension;                             // of files, with its dot
  std::string_view summary;                               // one line for --help
  void (*write)(const Profile& profile, ByteSink* sink);  // pre: the profile is canonical
};

std::span<const Format> formats();
const Format* find_format(std::string_view name);  // nullptr: there is none of that name

}  // namespace heapprof::cli
