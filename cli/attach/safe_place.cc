// cli/attach/safe_place.cc: see safe_place.h. Stacks are walked by libdwfl, by the tables of the process's objects.
#include "cli/attach/safe_place.h"

#include "cli/base/file_name.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace heapprof::cli {

namespace {

constexpr uint64_t kStackRoom = 192 << 10;  // loading a library takes some 10 KiB; the loader's audits more
constexpr size_t kMostFrames = 1024;

// Of libc: what holds, while it runs, a lock that a call of ours may want, or changes lists that it walks. What is not
// named here, and stands on the stack, waits for something else or computes.
constexpr std::array kRefused = {
    "malloc",
    "free",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "malloc_trim",
    "malloc_info",
    "mallopt",
    "mallinfo",
    "mallinfo2",
    "malloc_stats",
    "malloc_usable_size",
    "cfree",
    "fork",
    "_Fork",
    "vfork",
    "posix_spawn",
    "posix_spawnp",
    "system",
    "popen",
    "pthread_create",
    "pthread_exit",
    "exit",
    "quick_exit",
    "_exit",
    "abort",
    "dlopen",
    "dlclose",
    "dlsym",
    "dlvsym",
    "dlmopen",
    "dladdr",
    "dladdr1",
    "dlinfo",
    "dlerror",
    "dl_iterate_phdr",
    "execve",
    "__libc_freeres",
    "__cxa_finalize",
    "pthread_atfork",
    "__register_atfork",
    "sbrk",
    "brk",
    "setenv",
    "putenv",
    "unsetenv",
    "__tls_get_addr",
};
bool is_refused(std::string_view name) {
  while (name.starts_with("__libc_")) name.remove_prefix(sizeof "__libc_" - 1);
  return std::any_of(kRefused.begin(), kRefused.end(), [name](const char* refused) { return name == refused; });
}

bool is_libc(const std::string& file) {
  constexpr std::array kFiles = {"libc.so.", "libpthread.so.", "libc-2.", "libpthread-2."};  // before glibc 2.34
  return std::any_of(kFiles.begin(), kFiles.end(), [&](const char* start) { return file.starts_with(start); });
}
bool is_loader(const std::string& file) { return file.starts_with("ld-linux") || file.starts_with("ld-2"); }

}  // namespace

struct SafePlaces::State {
  pid_t pid;
  std::vector<Mapping> mappings;
  std::string agent_file;
  std::string allocator;  // file name of the object whose malloc is called; empty: libc's
  Dwfl* dwfl = nullptr;
  bool is_ready = false;

  std::string obstacle;  // of the walk that goes on
  size_t frames = 0;
  bool has_left_libc = false;  // a frame that is not libc's was seen

  bool prepare();
  std::string judge(Dwarf_Addr pc, bool is_activation);
};

namespace {

// What a function is called stands in libc's own tables: no other file is looked for, nor asked of a server.
int find_no_debuginfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
  return -1;
}
constexpr Dwfl_Callbacks kCallbacks = {dwfl_linux_proc_find_elf, find_no_debuginfo, dwfl_offline_section_address,
                                       nullptr};

}  // namespace

bool SafePlaces::State::prepare() {
  if (dwfl != nullptr) return is_ready;
  dwfl = dwfl_begin(&kCallbacks);
  if (dwfl == nullptr) return false;
  is_ready = dwfl_linux_proc_report(dwfl, pid) == 0 && dwfl_report_end(dwfl, nullptr, nullptr) == 0 &&
             dwfl_linux_proc_attach(dwfl, pid, true) == 0;
  return is_ready;
}

std::string SafePlaces::State::judge(Dwarf_Addr pc, bool is_activation) {
  const Mapping* const mapping = mapping_at(mappings, pc);
  const std::string file = mapping == nullptr ? "" : base_name(mapping->path);
  if (is_loader(file)) return "it is in the loader";
  if (file == agent_file) return "it is in the agent";
  if (!allocator.empty() && file == allocator) return "it is in the allocator";
  if (!is_libc(file)) {
    has_left_libc = true;
    return "";
  }
  const Dwarf_Addr at = is_activation ? pc : pc - 1;
  Dwfl_Module* const module = dwfl_addrmodule(dwfl, at);
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* const name =
      module == nullptr ? nullptr : dwfl_module_addrinfo(module, at, &offset, &symbol, nullptr, nullptr, nullptr);
  // A function that libc does not export stands for itself: whoever called it is looked at next. The allocator's own
  // ones are called by those that are named.
  if (name == nullptr || offset >= symbol.st_size) return "";
  return is_refused(name) ? fmt::format("it is in {}", name) : "";
}

SafePlaces::SafePlaces(pid_t pid, const std::vector<Mapping>& mappings, const std::string& agent_file)
    : state_(std::make_unique<State>()) {
  state_->pid = pid;
  state_->mappings = mappings;
  state_->agent_file = agent_file;
  for (const Mapping& mapping : mappings) {
    if (mapping.offset != 0 || mapping.path.empty() || mapping.path[0] != '/') continue;
    const std::string file = base_name(mapping.path);
    if (is_libc(file) || is_loader(file) || file == agent_file || file == state_->allocator) continue;
    const std::optional<MappedObject> object = find_object(pid, mappings, file);
    if (object && function_in(*object, "malloc") != 0) {
      state_->allocator = file;
      break;
    }
  }
}

SafePlaces::~SafePlaces() {
  if (state_->dwfl != nullptr) dwfl_end(state_->dwfl);
}

std::string SafePlaces::find_obstacle(const StoppedThread& thread) {
  const user_regs_struct& registers = thread.registers();
  const Mapping* const stack = mapping_at(state_->mappings, registers.rsp);
  if (stack == nullptr) return "its stack is not known";
  const bool is_first = thread.id() == state_->pid;
  if (is_first ? stack->path != "[stack]" : registers.fs_base < registers.rsp || registers.fs_base >= stack->end_avma)
    return "it is on a stack of the program's own";
  if (!is_first && registers.rsp - stack->start_avma < kStackRoom) return "its stack has too little room";
  if (!state_->prepare()) return std::string("its stack cannot be walked: ") + dwfl_errmsg(-1);
  state_->obstacle.clear();
  state_->frames = 0;
  state_->has_left_libc = false;
  const auto visit = [](Dwfl_Frame* frame, void* argument) -> int {
    State& state = *static_cast<State*>(argument);
    Dwarf_Addr pc = 0;
    bool is_activation = false;
    if (!dwfl_frame_pc(frame, &pc, &is_activation)) return DWARF_CB_ABORT;
    state.obstacle = state.judge(pc, is_activation);
    if (!state.obstacle.empty() || ++state.frames > kMostFrames) return DWARF_CB_ABORT;
    return DWARF_CB_OK;
  };
  const int walked = dwfl_getthread_frames(state_->dwfl, thread.id(), visit, state_.get());
  if (!state_->obstacle.empty()) return state_->obstacle;
  if (walked != 0) return "its stack cannot be walked to its end";
  if (!state_->has_left_libc) return "its stack cannot be walked out of libc";
  return "";
}

}  // namespace heapprof::cli
