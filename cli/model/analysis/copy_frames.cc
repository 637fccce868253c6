// cli/model/analysis/copy_frames.cc: matches demangled names: "std::vector<int, std::allocator<int>
// >::vector(std::vector<int, …> const&)".
#include "cli/model/analysis/copy_frames.h"

#include "cli/base/function_name.h"
#include "cli/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace heapprof::cli {
namespace {

constexpr std::array<std::string_view, 14> kDuplicators = {"strdup",   "__strdup",  "strndup",  "__strndup", "wcsdup",
                                                           "xstrdup",  "xmemdup",   "xmemdupz", "memdup",    "g_strdup",
                                                           "g_memdup", "g_memdup2", "xstrndup", "kmemdup"};
constexpr std::array<std::string_view, 14> kWholeReaders = {"g_file_get_contents",
                                                            "g_file_load_contents",
                                                            "g_file_load_bytes",
                                                            "std::fs::read",
                                                            "std::fs::read::inner",
                                                            "std::fs::read_to_string",
                                                            "std::fs::read_to_string::inner",
                                                            "std::io::default_read_to_end",
                                                            "std::io::default_read_to_string",
                                                            "_io_FileIO_readall",
                                                            "_io_FileIO_readall_impl",
                                                            "_io__Buffered_readall",
                                                            "SDL_LoadFile",
                                                            "SDL_LoadFile_RW"};
constexpr std::array<std::string_view, 7> kRoomMakers = {"_M_range_insert", "_M_default_append", "_M_fill_insert",
                                                         "_M_fill_append",  "_M_insert_aux",     "_M_append_range",
                                                         "__append"};
// Templates over an iterator that make a container. With istreambuf_iterators they read the whole stream.
constexpr std::array<std::string_view, 6> kRangeMakers = {"_M_construct<",     "_M_range_initialize<", "_M_assign_aux<",
                                                          "_M_construct_aux<", "_M_replace_dispatch<", "__init<"};

// Where the parameters of "void f<int>(char) const" begin; npos: no parameters. "operator()" is part of the name.
size_t parameters_begin(std::string_view name) {
  int depth = 0;
  size_t close = name.rfind(')');
  if (close == std::string_view::npos) return close;
  for (size_t i = close + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// The position of the last "::" outside brackets in a name such as "ns::Class<a::b>::name".
size_t last_separator(std::string_view name) {
  int depth = 0;
  for (size_t i = name.size(); i-- > 1;) {
    if (name[i] == '>' && name[i - 1] != '-') ++depth;
    if (name[i] == '<') --depth;
    if (depth == 0 && name[i] == ':' && name[i - 1] == ':') return i - 1;
  }
  return std::string_view::npos;
}

// "std::vector<T, A>::vector(std::vector<T, A> const&)", and the same with operator=. Also with an allocator as last
// parameter.
bool is_standard_copy(std::string_view function) {
  const size_t open = parameters_begin(function);
  if (open == std::string_view::npos) return false;
  std::string_view name = function.substr(0, open);
  const std::string_view parameters = function.substr(open + 1);
  const bool is_assignment = name.ends_with("::operator=");
  const size_t separator = is_assignment ? name.size() - std::string_view("::operator=").size() : last_separator(name);
  if (separator == std::string_view::npos) return false;
  std::string_view self = name.substr(0, separator);
  if (const size_t begin = self.find("std::"); begin != 0 && is_assignment && begin != std::string_view::npos)
    self.remove_prefix(begin);  // a return type
  if (!self.starts_with("std::")) return false;
  const size_t brackets = self.find('<');
  const std::string_view plain = self.substr(0, brackets);
  const size_t colon = plain.rfind(':');
  const std::string_view short_name = plain.substr(colon == std::string_view::npos ? 0 : colon + 1);
  if (!is_assignment && name.substr(separator + 2) != short_name) return false;
  return parameters.starts_with(self) && parameters.substr(self.size()).starts_with(" const&");
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Whether text that ends before a word denies it: zero_copy, NoClone.
bool is_denied_by(std::string_view before) {
  while (before.ends_with('_')) before.remove_suffix(1);
  for (const std::string_view denial : {"zero", "no", "non", "never", "without", "avoid", "skip", "less"}) {
    if (before.size() < denial.size()) continue;
    const std::string_view end = before.substr(before.size() - denial.size());
    const bool is_it = std::equal(end.begin(), end.end(), denial.begin(), [](char a, char b) { return lower(a) == b; });
    const bool begins = before.size() == denial.size() || is_upper(end[0]) ||
                        !std::isalpha(static_cast<unsigned char>(before[before.size() - denial.size() - 1]));
    if (is_it && begins) return true;
  }
  return false;
}

// Whether the name contains the word, and nothing before it denies it: copy_scene, deepCopy, clone, but not
// photocopying.
bool has_word(std::string_view name, std::string_view word) {
  const auto equals = [](char a, char b) { return lower(a) == b; };
  for (auto at = name.begin();; ++at) {
    at = std::search(at, name.end(), word.begin(), word.end(), equals);
    if (at == name.end()) return false;
    const auto end = at + static_cast<std::ptrdiff_t>(word.size());
    const bool begins =
        at == name.begin() || !std::isalpha(static_cast<unsigned char>(at[-1])) || (is_upper(*at) && is_lower(at[-1]));
    const bool ends = end == name.end() || !is_lower(*end);
    const auto before = static_cast<size_t>(at - name.begin());
    if (begins && ends) return !is_denied_by(name.substr(0, before));
  }
}

std::string_view last_part(std::string_view plain) {
  const size_t separator = last_separator(plain);
  return separator == std::string_view::npos ? plain : plain.substr(separator + 2);
}

}  // namespace

bool is_copying(std::string_view function) {
  if (function.empty()) return false;
  if (is_standard_copy(function)) return true;
  const std::string plain = plain_function(function);
  if (is_one_of(plain, kDuplicators)) return true;
  const std::string_view last = last_part(plain);
  if (plain.starts_with("std::"))
    return last.starts_with("_M_allocate_and_copy") || last == "_M_copy" || last.starts_with("_M_copy<");
  const std::string_view own = last.substr(0, last.find('<'));
  const std::string_view method = own.substr(own.rfind('.') + 1);  // Python's "NDFrame.copy"
  for (const std::string_view whole :
       {"copy", "clone", "dup", "duplicate", "deepcopy", "__copy__", "__deepcopy__", "to_vec", "to_owned"}) {
    if (method == whole) return true;
  }
  return false;
}

bool is_named_copy(std::string_view function) {
  const std::string plain = plain_function(function);
  if (plain.starts_with("std::")) return false;
  const std::string_view last = last_part(plain);
  const std::string_view own = last.substr(0, last.find('<'));
  for (const std::string_view word : {"copy", "clone", "dup", "duplicate"}) {
    if (has_word(own, word)) return true;
  }
  return false;
}

bool may_be_growing(std::string_view function) {
  const std::string plain = plain_function(function);
  if (!plain.starts_with("std::")) return false;
  const std::string_view last = last_part(plain);
  const std::string_view name = last.substr(0, last.find('<'));
  return name == "_M_realloc_insert" || name == "_M_realloc_append" || name == "__push_back_slow_path" ||
         name == "__emplace_back_slow_path" || name == "_M_mutate";
}

bool makes_room(std::string_view function) {
  if (may_be_growing(function)) return true;
  const std::string plain = plain_function(function);
  if (!plain.starts_with("std::")) return false;
  const std::string_view last = last_part(plain);
  return is_one_of(last.substr(0, last.find('<')), kRoomMakers);
}

bool is_growing(std::string_view function, std::string_view caller) {
  if (!may_be_growing(function)) return false;
  const std::string plain = plain_function(function);
  if (last_part(plain) != "_M_mutate") return true;
  // Appending copies the string's old content; assigning a new value does not.
  const std::string outer = plain_function(caller);
  const std::string_view outer_name = last_part(outer);
  return outer_name == "_M_append" || outer_name == "push_back";
}

bool is_concatenating(std::string_view function) {
  if (function.find("operator+") == std::string_view::npos) return false;
  const std::string plain = plain_function(function);
  const std::string_view last = last_part(plain);
  return plain.starts_with("std::") && last.substr(0, last.find('<')) == "operator+";
}

bool is_reading_whole(std::string_view function) {
  if (function.find("istreambuf_iterator<") != std::string_view::npos) {
    return std::any_of(kRangeMakers.begin(), kRangeMakers.end(), [&](std::string_view maker) {
      const size_t at = function.find(maker);
      return at != std::string_view::npos &&
             function.substr(at + maker.size()).starts_with("std::istreambuf_iterator<");
    });
  }
  const std::string plain = plain_function(function);
  return is_one_of(plain, kWholeReaders) || plain.starts_with("std::__copy_streambufs_eof") ||
         plain.starts_with("std::__copy_streambufs<") || plain == "std::__copy_streambufs";
}

}  // namespace heapprof::cli
