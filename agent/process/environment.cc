// agent/process/environment.cc: finds, removes and adds the agent's two variables, in memory that it does not own.
//
// If the first call of a hook comes before libc has set `environ`, the strings are found where the kernel put them,
// above argc and argv. setenv and putenv are not called: they allocate, and a vfork child would change its parent's
// variables.
//
// The environment that a program passes to another may be an invalid address (own_memory.h). Its strings are read in
// windows of 512 bytes, because they mostly lie side by side: 100 variables take some fifteen system calls, or 20 µs;
// an exec takes 300 µs and more.
#include "agent/process/environment.h"

#include "agent/libc/variables.h"
#include "agent/process/own_memory.h"
#include "agent/process/sanitizer_check.h"
#include "shared/env.h"

#include <string.h>
#include <sys/un.h>

namespace heapprof::agent {

namespace {

constexpr size_t kMostEntries = 128 << 10;  // 1 MiB of pointers on the stack: with more, nothing is changed
constexpr size_t kMaxPreloadBytes = 2048;   // if paths are longer, children that lost the variables are not followed

// "HEAPPROF=…" and "agent[:reference]", as they were at the start.
char g_socket_entry[sizeof wire::kSocketVariable + 8 + sizeof(sockaddr_un::sun_path)];
char g_preload[kMaxPreloadBytes];
char g_agent_path[kMaxPreloadBytes];
Invitation g_invitation;
bool g_has_looked = false;
bool g_has_taken = false;

char** environment() {
  if (environ != nullptr) return environ;
  long* stack = static_cast<long*>(__libc_stack_end);
  if (stack == nullptr || stack[0] < 0) return nullptr;
  return reinterpret_cast<char**>(stack + 1 + stack[0] + 1);  // argc, argv…, 0
}

// The value if `entry` is "NAME=value"; else nullptr.
const char* value_of(const char* entry, const char* name) {
  const size_t length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : nullptr;
}

// The first entry of that name; its value goes to *value.
char** find_variable(char** variables, const char* name, const char** value) {
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    if ((*value = value_of(*variables, name)) != nullptr) return variables;
  }
  return nullptr;
}

void remove_variable(char** slot) {
  for (; *slot != nullptr; ++slot) slot[0] = slot[1];
}

// The next object of a preload list: [*at, *at + length), or length 0 at the end. The loader splits at colons and
// spaces.
size_t next_object(const char** at) {
  while (**at == ':' || **at == ' ') ++*at;
  return strcspn(*at, ": ");
}

bool is_named(const char* path, size_t length, const char* file) {
  const size_t file_length = strlen(file);
  if (length < file_length || memcmp(path + length - file_length, file, file_length) != 0) return false;
  return length == file_length || path[length - file_length - 1] == '/';
}

bool is_ours(const char* path, size_t length) {
  return is_named(path, length, wire::kAgentFile) || is_named(path, length, wire::kReferenceFile);
}

// Appends an object to a list, with a colon before it unless it is the first. Returns the new end.
char* append_object(char* list, char* end, const char* path, size_t length) {
  if (end != list) *end++ = ':';
  memcpy(end, path, length);
  end[length] = 0;
  return end + length;
}

// Copies the objects of `from` that are the agent's (`ours`), or those that are not. `to` may be `from`. Returns the
// end.
char* copy_objects(char* to, char* end, const char* from, bool ours) {
  for (size_t length; (length = next_object(&from)) != 0;) {
    const char* object = from;
    from += length;  // before it is overwritten
    if (is_ours(object, length) != ours) continue;
    if (end != to) *end++ = ':';
    memmove(end, object, length);
    end += length;
  }
  return end;
}

// "+2/tmp/heapprof-…"
bool parse_invitation(const char* value, Invitation* invitation) {
  if (value[0] != wire::kFollow && value[0] != wire::kNoFollow) return false;
  invitation->follow = value[0] == wire::kFollow;
  for (++value; *value >= '0' && *value <= '9'; ++value) {
    invitation->collector_filters = invitation->collector_filters * 10 + static_cast<uint32_t>(*value - '0');
  }
  if (value[0] != '/' || strlen(value) + 2 > sizeof(sockaddr_un::sun_path)) return false;
  invitation->socket_path = value;
  return true;
}

void remember_preload(const char* list) {
  if (strlen(list) >= kMaxPreloadBytes) return;
  *copy_objects(g_preload, g_preload, list, true) = 0;
  const char* at = g_preload;
  for (size_t length; (length = next_object(&at)) != 0; at += length) {
    if (is_named(at, length, wire::kAgentFile)) *append_object(g_agent_path, g_agent_path, at, length) = 0;
  }
}

bool is_whole(const Invitation& invitation) { return invitation.socket_path != nullptr && g_preload[0] != 0; }

// Which entries of an environment the agent may change.
struct Survey {
  bool is_readable = true;
  size_t count = 0;
  // the list that counts, in the caller's memory; if there are several, the loader uses the last
  const char* preload = nullptr;
  size_t preload_bytes = 0;  // with its zero byte
  size_t preload_index = 0;
  bool has_socket = false;
  bool is_others = false;  // the invitation belongs to another run: heapprof within heapprof
  bool lists_objects = false;
};

// Compares piece by piece, as `at` may be an invalid address. False also if it cannot be read.
bool is_same_memory(const char* at, const char* text, size_t bytes) {
  char piece[256];
  for (size_t done = 0; done < bytes;) {
    const size_t piece_bytes = bytes - done < sizeof piece ? bytes - done : sizeof piece;
    if (!read_given_memory(piece, at + done, piece_bytes) || memcmp(piece, text + done, piece_bytes) != 0) return false;
    done += piece_bytes;
  }
  return true;
}

bool names_ours_first(const char* list) {
  const size_t length = strlen(g_preload);
  char next;
  if (!is_same_memory(list, g_preload, length) || !read_given_memory(&next, list + length, 1)) return false;
  return next == 0 || next == ':' || next == ' ';
}

bool names_ours(const char* list) {
  for (size_t length; (length = next_object(&list)) != 0; list += length) {
    if (is_ours(list, length)) return true;
  }
  return false;
}

// Adds one entry to the survey. False: it cannot be read.
bool survey_entry(const char* entry, StringBeginnings* beginnings, Survey* found) {
  const char* beginning = beginnings->of(entry);
  if (beginning == nullptr) return false;
  if (value_of(beginning, wire::kPreloadVariable) != nullptr) {
    found->preload = entry + sizeof wire::kPreloadVariable;
    found->preload_index = found->count;
    const size_t length = measure_own_string(found->preload, kMostStringBytes);
    if (length == kNoString) return false;
    found->preload_bytes = length + 1;
  } else if (value_of(beginning, wire::kSocketVariable) != nullptr) {
    found->has_socket = true;
    if (!is_same_memory(entry, g_socket_entry, strlen(g_socket_entry) + 1)) found->is_others = true;
  } else if (const char* value = value_of(beginning, "LD_TRACE_LOADED_OBJECTS"); value != nullptr) {
    found->lists_objects = true;
  }
  return true;
}

__attribute__((noinline)) Survey survey(char* const* variables) {
  Survey found;
  StringBeginnings beginnings;
  char* entries[32];
  while (variables != nullptr) {
    const size_t got = read_given_part(entries, variables + found.count, sizeof entries) / sizeof *entries;
    for (size_t i = 0; i < got && found.is_readable; ++i, ++found.count) {
      if (entries[i] == nullptr) return found;
      found.is_readable = found.count < kMostEntries && survey_entry(entries[i], &beginnings, &found);
    }
    if (got == 0) found.is_readable = false;
    if (!found.is_readable) break;
  }
  return found;
}

// True if the environment needs no change. With kRemove, a list is only searched for the agent's objects in its copy
// (change_environment).
bool is_right(const Survey& found, EnvironmentChange change) {
  if (!found.is_readable) return true;  // nothing to change: the kernel will refuse it
  if (change == EnvironmentChange::kRemove) return !found.has_socket && found.preload == nullptr;
  if (found.is_others) return true;
  return found.has_socket && found.preload != nullptr && names_ours_first(found.preload);
}

// "LD_PRELOAD=" with the agent's objects first (kInvite) or without them. Returns the end of the text, or `text` if
// nothing is left.
char* write_preload(char* text, const char* list, EnvironmentChange change) {
  constexpr size_t kNameBytes = sizeof wire::kPreloadVariable;  // with '=' in the place of the zero byte
  memcpy(text, wire::kPreloadVariable, kNameBytes - 1);
  text[kNameBytes - 1] = '=';
  char* objects = text + kNameBytes;
  char* end = objects;
  if (change == EnvironmentChange::kInvite) end = append_object(objects, end, g_preload, strlen(g_preload));
  end = copy_objects(objects, end, list, false);
  *end = 0;
  return end == objects ? text : end + 1;
}

}  // namespace

namespace {
// pre: the variables are those of the start; later the program may have changed them.
Invitation look_for_invitation(char** variables) {
  const char* value;
  char** slot = find_variable(variables, wire::kSocketVariable, &value);
  if (slot == nullptr || strlen(*slot) >= sizeof g_socket_entry) return {};
  strcpy(g_socket_entry, *slot);
  Invitation invitation;
  if (!parse_invitation(value_of(g_socket_entry, wire::kSocketVariable), &invitation)) return {};
  if (find_variable(variables, wire::kPreloadVariable, &value) != nullptr) remember_preload(value);
  return invitation;
}
}  // namespace

Invitation find_invitation() {
  if (g_has_looked) return g_invitation;
  char** variables = environment();
  if (variables == nullptr) return {};
  g_invitation = look_for_invitation(variables);
  g_has_looked = true;
  return g_invitation;
}

bool take_invitation(const char* value, const char* agent_file) {
  constexpr size_t kNameBytes = sizeof wire::kSocketVariable;  // with '=' in the place of the zero byte
  if (kNameBytes + strlen(value) >= sizeof g_socket_entry || strlen(agent_file) >= kMaxPreloadBytes) return false;
  memcpy(g_socket_entry, wire::kSocketVariable, kNameBytes - 1);
  g_socket_entry[kNameBytes - 1] = '=';
  strcpy(g_socket_entry + kNameBytes, value);
  Invitation invitation;
  if (!parse_invitation(g_socket_entry + kNameBytes, &invitation)) return false;
  g_preload[0] = g_agent_path[0] = 0;
  remember_preload(agent_file);
  g_invitation = invitation;
  g_has_looked = g_has_taken = true;
  return true;
}

bool has_taken_invitation() { return g_has_taken; }

const char* agent_path() { return g_agent_path; }

void clean_environment() {
  const char* value;
  if (char** slot = find_variable(environment(), wire::kSocketVariable, &value)) remove_variable(slot);
  char** slot = find_variable(environment(), wire::kPreloadVariable, &value);
  if (slot == nullptr) return;
  char* list = *slot + (value - *slot);
  char* end = copy_objects(list, list, value, false);
  *end = 0;
  if (end == list) remove_variable(slot);
}

namespace {

size_t bytes_needed(const Survey& found) {
  const size_t text_bytes = sizeof wire::kPreloadVariable + strlen(g_preload) + found.preload_bytes + 2;
  return (found.count + 3) * sizeof(char*) + text_bytes + found.preload_bytes;
}

}  // namespace

// lists_sanitizer and write_changed are functions of their own, so that the stack that a survey used is free again when
// they run.
namespace {
__attribute__((noinline)) bool lists_sanitizer(const Survey& found) {
  char list[1024];
  const size_t wanted = found.preload_bytes < sizeof list ? found.preload_bytes : sizeof list;
  if (!read_given_memory(list, found.preload, wanted)) return false;
  list[wanted - 1] = 0;
  const char* at = list;
  for (size_t length; (length = next_object(&at)) != 0; at += length) {
    size_t name = length;
    while (name != 0 && at[name - 1] != '/') --name;
    if (is_sanitizer_library(at + name)) return true;
  }
  return false;
}
}  // namespace

bool preloads_sanitizer(char* const* variables) {
  const Survey found = survey(variables);
  return found.is_readable && found.preload != nullptr && lists_sanitizer(found);
}

bool lists_objects(char* const* variables) { return survey(variables).lists_objects; }

size_t changed_environment_bytes(char* const* variables, EnvironmentChange change) {
  if (!is_whole(find_invitation())) return 0;
  const Survey found = survey(variables);
  return is_right(found, change) ? 0 : bytes_needed(found);
}

namespace {
__attribute__((noinline)) char* const* write_changed(const Survey& found, char* const* variables,
                                                     EnvironmentChange change, void* memory) {
  const bool invite = change == EnvironmentChange::kInvite;
  char** changed = static_cast<char**>(memory);
  char* list = reinterpret_cast<char*>(changed + found.count + 3);
  char* text = list + found.preload_bytes;
  if (found.preload != nullptr && read_own_string(list, found.preload_bytes, found.preload) == kNoString)
    return variables;
  if (!invite && !found.has_socket && (found.preload == nullptr || !names_ours(list))) return variables;
  if (!read_given_memory(changed, variables, found.count * sizeof *changed)) return variables;
  StringBeginnings beginnings;
  size_t count = 0;
  for (size_t i = 0; i < found.count; ++i) {
    if (found.preload != nullptr && i == found.preload_index) {
      if (write_preload(text, list, change) != text) changed[count++] = text;
      continue;
    }
    const char* beginning = invite ? nullptr : beginnings.of(changed[i]);
    if (beginning != nullptr && value_of(beginning, wire::kSocketVariable) != nullptr) continue;
    changed[count++] = changed[i];
  }
  if (invite && found.preload == nullptr) {
    write_preload(text, "", change);
    changed[count++] = text;
  }
  if (invite && !found.has_socket) changed[count++] = g_socket_entry;
  changed[count] = nullptr;
  return changed;
}
}  // namespace

char* const* change_environment(char* const* variables, EnvironmentChange change, void* memory, size_t bytes) {
  const Survey found = survey(variables);
  if (!found.is_readable || bytes_needed(found) > bytes) return variables;
  return write_changed(found, variables, change, memory);
}

}  // namespace heapprof::agent
