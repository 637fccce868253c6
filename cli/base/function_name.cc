// cli/base/function_name.cc: a small scanner that knows brackets and operators; names are too irregular for more.
#include "cli/base/function_name.h"

#include "cli/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace heapprof::cli {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

// Length of an operator's name at `offset` ("operator<<", "operator()", "operator->"); 0: no operator. For conversions,
// new and delete it is only the length of the word "operator", because what follows is read like a type.
size_t operator_length(std::string_view name, size_t offset) {
  constexpr std::string_view kWord = "operator";
  if (offset >= name.size() || name[offset] != 'o') return 0;  // called at every byte of every name
  if (name.substr(offset, kWord.size()) != kWord || (offset > 0 && is_word(name[offset - 1]))) return 0;
  const std::string_view rest = name.substr(offset + kWord.size());
  for (const std::string_view sign : {"<<=", ">>=", "<=>", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "<", ">"}) {
    if (rest.substr(0, sign.size()) == sign) return kWord.size() + sign.size();
  }
  if (rest.empty() || !is_word(rest[0])) return kWord.size();
  return 0;
}

// The depth of brackets at each byte; a bracket has the depth of its content. Valid only if `paired`.
struct Scan {
  std::vector<unsigned> angle;  // depth in <>
  std::vector<unsigned> any;    // depth in all kinds
  bool paired = false;
};

Scan scan_brackets(std::string_view name) {
  Scan scan;
  scan.angle.resize(name.size());
  scan.any.resize(name.size());
  std::string open;
  unsigned angles = 0;
  const auto mark = [&](size_t i, unsigned extra_angle, unsigned extra) {
    scan.angle[i] = angles + extra_angle;
    scan.any[i] = static_cast<unsigned>(open.size()) + extra;
  };
  for (size_t i = 0; i < name.size(); ++i) {
    if (const size_t length = operator_length(name, i); length > 0) {
      for (size_t end = i + length; i < end; ++i) mark(i, 0, 0);
      --i;
      continue;
    }
    const char c = name[i];
    const bool arrow = c == '>' && i > 0 && name[i - 1] == '-';
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      open += c;
      if (c == '<') ++angles;
      mark(i, 0, 0);
    } else if (!arrow && (c == '>' || c == ')' || c == ']' || c == '}')) {
      const char partner = c == '>' ? '<' : c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || open.back() != partner) return scan;
      mark(i, 0, 0);
      open.pop_back();
      if (c == '>') --angles;
    } else {
      mark(i, 0, 0);
    }
  }
  scan.paired = open.empty();
  return scan;
}

// One past the bracket that closes the one at `open`; the end of the name if none does. pre: name[open] is a bracket
size_t end_of_group(std::string_view name, const Scan& scan, size_t open) {
  const unsigned depth = scan.any[open];
  for (size_t i = open + 1; i < name.size(); ++i) {
    if (scan.any[i] < depth) return i;
    if (scan.any[i] == depth && (name[i] == '>' || name[i] == ')' || name[i] == ']' || name[i] == '}')) return i + 1;
  }
  return name.size();
}

void replace_all(std::string* text, std::string_view from, std::string_view to) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size()))
    text->replace(at, from.size(), to);
}

// The type that a Rust function is implemented for: "<a::Disk as b::Store>", "<impl b::Store for a::Disk>".
struct ImplGroup {
  size_t begin = 0;  // of the bracket
  size_t end = 0;    // one past the closing one; 0: no such group
};

ImplGroup find_impl_group(std::string_view name, const Scan& scan) {
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '<' || scan.angle[i] != 1) continue;
    const bool is_first = i == 0;
    const bool is_impl = i > 1 && name[i - 1] == ':' && name.substr(i + 1, 5) == "impl ";
    if (is_first || is_impl) return {i, end_of_group(name, scan, i)};
  }
  return {};
}

// "<a::Disk<b::Key> as b::Store>" is "<Disk<Key> as Store>".
std::string without_paths(std::string_view group) {
  std::string text;
  for (size_t i = 0; i < group.size(); ++i) {
    const bool is_path = group.substr(i, 2) == "::" && !text.empty() && is_word(text.back());
    if (!is_path) {
      text += group[i];
      continue;
    }
    while (!text.empty() && is_word(text.back())) text.pop_back();
    ++i;
  }
  return text;
}

// "<Disk as Store>" is "<Disk>"; "<impl Store for Disk>" is "<impl Disk>".
std::string without_trait(std::string_view group) {
  const Scan scan = scan_brackets(group);
  for (size_t i = 0; scan.paired && i < group.size(); ++i) {
    if (scan.angle[i] != 1) continue;
    if (group.substr(i, 4) == " as ") return std::string(group.substr(0, i)).append(">");
    if (group.starts_with("<impl ") && group.substr(i, 5) == " for ")
      return std::string("<impl ").append(group.substr(i + 5));
  }
  return std::string(group);
}

// Removes each ", NAME<…>" that is a default template argument, because source code does not write it.
void drop_default_arguments(std::string* name) {
  for (const std::string_view argument : {", std::allocator<", ", std::char_traits<", ", std::default_delete<",
                                          ", std::less<", ", std::hash<", ", std::equal_to<"}) {
    for (size_t at = name->find(argument); at != std::string::npos; at = name->find(argument, at)) {
      const Scan scan = scan_brackets(*name);
      if (!scan.paired) return;
      const size_t end = end_of_group(*name, scan, at + argument.size() - 1);
      // If a nested name follows ("std::allocator<int>::pointer"), it is not a default argument.
      if (end < name->size() && (*name)[end] != ',' && (*name)[end] != '>' && (*name)[end] != ' ') {
        at += argument.size();
        continue;
      }
      name->erase(at, end - at);
    }
  }
}

void drop_clone_suffix(std::string* name) {
  if (const size_t at = name->find(" [clone "); at != std::string::npos) name->erase(at);
  for (const std::string_view suffix : {".isra.", ".part.", ".constprop.", ".lto_priv.", ".cold", ".llvm."}) {
    if (const size_t at = name->find(suffix); at != std::string::npos && at > 0) name->erase(at);
  }
}

// Removes parameter lists outside template arguments, and the qualifiers after them.
std::string drop_parameters(std::string_view name, const Scan& scan) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  std::string result;
  for (size_t i = 0; i < name.size();) {
    const bool outside_templates = scan.angle[i] == 0;
    const bool in_operator = operator_length(name, i) > 0;
    if (in_operator) {
      const size_t length = operator_length(name, i);
      result += name.substr(i, length);
      i += length;
    } else if (name.substr(i, kAnonymous.size()) == kAnonymous) {
      i += kAnonymous.size();
      if (name.substr(i, 2) == "::") i += 2;
    } else if (outside_templates && name[i] == '(') {
      if (result.empty() || result.back() == ' ')
        return std::string(name);  // a function that returns a function: unchanged
      i = end_of_group(name, scan, i);
      for (const std::string_view qualifier : {" const", " volatile", " &&", " &", " noexcept"}) {
        if (name.substr(i, qualifier.size()) == qualifier) i += qualifier.size();
      }
    } else {
      result += name[i++];
    }
  }
  return result;
}

void drop_return_type(std::string* name) {
  const Scan scan = scan_brackets(*name);
  if (!scan.paired) return;
  size_t limit = name->size();
  for (size_t i = 0; i < name->size(); ++i) {
    if (scan.any[i] == 0 && operator_length(*name, i) > 0) {
      limit = i;
      break;
    }
  }
  for (size_t i = limit; i-- > 0;) {
    if ((*name)[i] == ' ' && scan.any[i] == 0) {
      name->erase(0, i + 1);
      return;
    }
  }
}

}  // namespace

std::string plain_function(std::string_view demangled) {
  constexpr size_t kLongestParsed = 20'000;  // longer names are returned unchanged, so that the cost stays linear
  if (demangled.size() > kLongestParsed) return std::string(demangled);
  if (std::all_of(demangled.begin(), demangled.end(), is_word)) return std::string(demangled);  // a C function
  std::string name(demangled);
  drop_clone_suffix(&name);
  replace_all(&name, "[abi:cxx11]", "");
  replace_all(&name, "std::__cxx11::", "std::");
  replace_all(&name, "std::__1::", "std::");
  const Scan scan = scan_brackets(name);
  if (!scan.paired) return name.empty() ? std::string(demangled) : name;
  name = drop_parameters(name, scan);
  drop_return_type(&name);
  drop_default_arguments(&name);
  replace_all(&name, " >", ">");
  replace_all(&name, "std::basic_string<char>", "std::string");
  replace_all(&name, "}::operator()", "}");  // a lambda's call operator is the lambda
  return name.empty() ? std::string(demangled) : name;
}

std::string last_two_parts(std::string_view name) {
  const Scan scan = scan_brackets(name);
  if (!scan.paired) return std::string(name);
  int separators = 0;
  for (size_t i = name.size(); i-- > 1;) {
    if (name[i] == ':' && name[i - 1] == ':' && scan.any[i] == 0 && ++separators == 2)
      return std::string(name.substr(i + 1));
  }
  return std::string(name);
}

std::string shorten_function(std::string_view name, size_t columns) {
  if (display_width(name) <= columns) return std::string(name);
  constexpr size_t kLeastOfName = 8;
  if (name.ends_with(kInferredMark) && columns >= kInferredMark.size() + kLeastOfName) {
    name.remove_suffix(kInferredMark.size());
    return shorten_function(name, columns - kInferredMark.size()).append(kInferredMark);
  }
  std::string whole(name);
  Scan scan = scan_brackets(whole);
  unsigned outermost = 1;  // lowest depth of brackets that may be emptied
  const ImplGroup group = scan.paired ? find_impl_group(whole, scan) : ImplGroup();
  if (group.end != 0) {
    const std::string paths = without_paths(whole.substr(group.begin, group.end - group.begin));
    const std::string rest = whole.substr(group.end);
    for (const std::string& front : {whole.substr(0, group.begin) + paths, paths, without_trait(paths)}) {
      whole = front + rest;
      if (display_width(whole) <= columns) return whole;
    }
    scan = scan_brackets(whole);
    outermost = 2;
  }
  name = whole;
  std::string shortened(name);
  if (scan.paired && !scan.angle.empty()) {
    const unsigned deepest = *std::max_element(scan.angle.begin(), scan.angle.end());
    for (unsigned depth = deepest; depth >= outermost; --depth) {
      shortened.clear();
      for (size_t i = 0; i < name.size(); ++i) {
        if (scan.angle[i] < depth) shortened += name[i];
        if (scan.angle[i] == depth && name[i] == '<') shortened += "<…";
        if (scan.angle[i] == depth && name[i] == '>') shortened += ">";
      }
      if (display_width(shortened) <= columns) return shortened;
    }
  }
  // Removes namespaces from the left, as long as a qualified name remains.
  for (size_t at = shortened.find("::"); at != std::string::npos; at = shortened.find("::", at + 2)) {
    if (shortened.find('<') < at) break;
    const std::string rest = "…" + shortened.substr(at);
    if (display_width(rest) <= columns) return rest;
  }
  return shorten_middle(shortened, columns);
}

}  // namespace heapprof::cli
