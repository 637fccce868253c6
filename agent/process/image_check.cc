// agent/process/image_check.cc: reads the first bytes of the program, as the kernel will, and follows scripts to their
// interpreter.
//
// The checks are those of cli/target/elf_check.cc, as far as they matter here. The code is not shared, because here it
// may neither allocate nor change errno, and runs in vfork children.
#include "agent/process/image_check.h"

#include "agent/libc/own_file_table.h"
#include "agent/libc/raw.h"
#include "agent/libc/variables.h"
#include "agent/process/environment.h"
#include "agent/process/own_memory.h"
#include "agent/process/sanitizer_check.h"
#include "agent/process/state.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heapprof::agent {

namespace {

using wire::ImageObstacle;

constexpr int kMaxScripts = 5;          // the kernel's own limit is 4
constexpr size_t kHeadBytes = 256;      // what the kernel reads of a program
constexpr uint32_t kMaxHeaders = 1024;  // program headers that are read

// Only a regular file is opened: a process at the other end of a FIFO, or a device, would notice.
long open_regular(int folder_fd, const char* path, struct stat* facts) {
  const long seen =
      raw_syscall(SYS_newfstatat, folder_fd, reinterpret_cast<long>(path), reinterpret_cast<long>(facts), 0);
  if (is_error(seen)) return seen;
  if (!S_ISREG(facts->st_mode)) return -ENOEXEC;
  return raw_syscall(SYS_openat, folder_fd, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

// If the file is open already, it is read by its own descriptor if possible: then *is_lent is set, and /proc is not
// needed.
long open_again(int fd, const char* link, struct stat* facts, bool* is_lent) {
  const long seen =
      raw_syscall(SYS_newfstatat, fd, reinterpret_cast<long>(""), reinterpret_cast<long>(facts), AT_EMPTY_PATH);
  if (seen == -EBADF) return -ENOENT;
  if (is_error(seen)) return seen;
  if (!S_ISREG(facts->st_mode)) return -ENOEXEC;
  char byte;
  *is_lent = !is_error(raw_syscall(SYS_pread64, fd, reinterpret_cast<long>(&byte), sizeof byte, 0));
  if (*is_lent) return fd;
  const long opened = open_regular(AT_FDCWD, link, facts);  // O_PATH
  return opened == -ENOENT || opened == -ENOTDIR ? -EACCES : opened;
}

class File {
 public:
  File(int folder_fd, const char* path, bool is_link = false)
      : fd_(is_link ? open_again(folder_fd, path, &facts_, &is_lent_) : open_regular(folder_fd, path, &facts_)) {}
  ~File() {
    if (is_open() && !is_lent_) sys_close(static_cast<int>(fd_));
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return !is_error(fd_); }
  bool has_no_descriptor() const { return fd_ == -EMFILE; }
  // True if the kernel will not start the file either.
  bool is_no_program() const { return fd_ == -ENOEXEC || fd_ == -ENOENT || fd_ == -ENOTDIR; }
  int fd() const { return static_cast<int>(fd_); }
  const struct stat& facts() const { return facts_; }

 private:
  struct stat facts_;
  bool is_lent_ = false;  // the program's own descriptor
  long fd_;
};

// Bytes read at `offset`; fewer at the end of the file, 0 on an error.
size_t read_at(int fd, void* to, size_t size_bytes, uint64_t offset) {
  const long got = raw_syscall(SYS_pread64, fd, reinterpret_cast<long>(to), static_cast<long>(size_bytes),
                               static_cast<long>(offset));
  return is_error(got) ? 0 : static_cast<size_t>(got);
}

bool has_prefix(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

const char* file_name(const char* path) {
  const char* name = path;
  for (; *path != 0; ++path) {
    if (*path == '/') name = path + 1;
  }
  return name;
}

// The loader's own file was called ld-2.31.so before glibc 2.34; ld-linux-*.so.2 was a link to it.
bool is_glibc_loader(const char* path) {
  return has_prefix(file_name(path), "ld-linux") || has_prefix(file_name(path), "ld-2.");
}
bool is_musl_loader(const char* path) { return has_prefix(file_name(path), "ld-musl"); }

// Copies the path of PT_INTERP to `loader`, which is empty if there is none. False: the headers cannot be trusted.
bool read_loader(int fd, const Elf64_Ehdr& header, char* loader, size_t loader_bytes) {
  loader[0] = 0;
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return false;
  constexpr uint32_t kAtOnce = 4;
  Elf64_Phdr headers[kAtOnce];
  for (uint32_t first = 0; first < header.e_phnum && first < kMaxHeaders; first += kAtOnce) {
    const size_t got = read_at(fd, headers, sizeof headers, header.e_phoff + first * sizeof(Elf64_Phdr));
    for (uint32_t i = 0; i < got / sizeof(Elf64_Phdr) && first + i < header.e_phnum; ++i) {
      if (headers[i].p_type != PT_INTERP) continue;
      const size_t wanted = headers[i].p_filesz < loader_bytes - 1 ? headers[i].p_filesz : loader_bytes - 1;
      loader[read_at(fd, loader, wanted, headers[i].p_offset)] = 0;
      return true;
    }
  }
  return true;
}

bool gains_privileges(int fd, const struct stat& facts) {
  const auto user = static_cast<uid_t>(raw_syscall(SYS_geteuid));
  if ((facts.st_mode & S_ISUID) != 0 && facts.st_uid != user) return true;
  const bool is_setgid = (facts.st_mode & S_ISGID) != 0 && (facts.st_mode & S_IXGRP) != 0;
  if (is_setgid && facts.st_gid != static_cast<gid_t>(raw_syscall(SYS_getegid))) return true;
  const long capabilities = raw_syscall(SYS_fgetxattr, fd, reinterpret_cast<long>("security.capability"), 0, 0);
  return user != 0 && !is_error(capabilities) && capabilities > 0;
}

// kNoDescriptor: no file can be opened, because no descriptor is available.
constexpr auto kNoDescriptor = static_cast<ImageObstacle>(~uint32_t{0});

// Checks whether the program will be able to read the agent after the exec. access() ignores the capabilities that a
// user other than root loses by the exec.
ImageObstacle check_agent(const char* path) {
  if (path[strcspn(path, " :$")] != 0) return ImageObstacle::kAgentUnreadable;  // LD_PRELOAD cannot hold such a path
  const File file(AT_FDCWD, path);
  if (file.has_no_descriptor()) return kNoDescriptor;
  const bool is_readable =
      file.is_open() && !is_error(raw_syscall(SYS_faccessat, AT_FDCWD, reinterpret_cast<long>(path), R_OK));
  return is_readable ? ImageObstacle::kNone : ImageObstacle::kAgentUnreadable;
}

// name: the end of the path; it identifies a loader that is started as a command. loader: memory for the path of the
// program's own loader.
ImageObstacle check_elf(const File& file, const char* name, const Elf64_Ehdr& header, char (&loader)[kHeadBytes + 1]) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kElfMachine) return ImageObstacle::kOtherMachine;
  if (!read_loader(file.fd(), header, loader, sizeof loader)) return ImageObstacle::kUnread;
  if (loader[0] == 0 && is_musl_loader(name)) return ImageObstacle::kOtherLibc;
  // without PT_INTERP, a program is static, unless it is the loader itself, started as a command
  if (loader[0] == 0 && !is_glibc_loader(name)) return ImageObstacle::kStatic;
  if (loader[0] != 0 && !is_glibc_loader(loader)) return ImageObstacle::kOtherLibc;
  if (gains_privileges(file.fd(), file.facts())) return ImageObstacle::kPrivileges;
  if (has_sanitizer(file.fd(), header)) return ImageObstacle::kSanitizer;
  return check_agent(agent_path());
}

// "#! /bin/sh -e" gives "/bin/sh", in place.
char* script_interpreter(char* head) {
  char* start = head + 2;
  while (*start == ' ' || *start == '\t') ++start;
  start[strcspn(start, " \t\r\n")] = 0;
  return start;
}

bool is_executable_file(const char* path) {
  struct stat facts;
  if (is_error(raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>(path), reinterpret_cast<long>(&facts), 0)))
    return false;
  return S_ISREG(facts.st_mode) && !is_error(raw_syscall(SYS_faccessat, AT_FDCWD, reinterpret_cast<long>(path), X_OK));
}

// What execvp searches, in the program's memory: PATH's value, or its default. nullptr: environ cannot be read.
const char* find_path_variable() {
  StringBeginnings beginnings;
  for (char** variable = environ; variable != nullptr; ++variable) {
    char* entry;
    if (!read_given_memory(&entry, variable, sizeof entry)) return nullptr;
    if (entry == nullptr) break;
    const char* beginning = beginnings.of(entry);
    if (beginning == nullptr) return nullptr;
    if (has_prefix(beginning, "PATH=")) return entry + 5;
  }
  return "/bin:/usr/bin";
}

// current_fd: the process's folder at the exec, where the kernel looks for an interpreter. A crash handler may have
// only a few KiB of stack, so everything that is read, an interpreter's path included, lies in one buffer.
ImageObstacle look_at_image(int folder_fd, int current_fd, const char* path, bool is_link) {
  char head[kHeadBytes + 1];
  char name[64];  // no loader has a longer one
  for (int scripts = 0; scripts < kMaxScripts; ++scripts) {
    const File file(folder_fd, path, is_link);
    if (file.has_no_descriptor()) return kNoDescriptor;
    if (!file.is_open()) return file.is_no_program() ? ImageObstacle::kNone : ImageObstacle::kUnread;
    const bool has_name = read_own_string_end(name, sizeof name, path);
    const size_t got = read_at(file.fd(), head, kHeadBytes, 0);
    head[got] = 0;
    Elf64_Ehdr header;
    memcpy(&header, head, sizeof header);
    if (got >= sizeof header && memcmp(head, ELFMAG, SELFMAG) == 0) {
      return has_name ? check_elf(file, name, header, head) : ImageObstacle::kUnread;
    }
    if (got < 2 || head[0] != '#' || head[1] != '!') return ImageObstacle::kNone;  // execvp gives it to the shell
    path = script_interpreter(head);
    folder_fd = current_fd;
    is_link = false;
    if (path[0] == 0) return ImageObstacle::kNone;
  }
  return ImageObstacle::kNone;
}

ImageObstacle look_from_folder(const ImagePlace& image) {
  if (image.folder == nullptr) return look_at_image(image.folder_fd, AT_FDCWD, image.path, image.is_link);
  const long folder =
      raw_syscall(SYS_openat, image.folder_fd, reinterpret_cast<long>(image.folder), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder == -EMFILE) return kNoDescriptor;
  if (is_error(folder)) return ImageObstacle::kUnread;
  const ImageObstacle obstacle = look_at_image(static_cast<int>(folder), static_cast<int>(folder), image.path, false);
  sys_close(static_cast<int>(folder));
  return obstacle;
}

}  // namespace

ImageObstacle check_image(const ImagePlace& image) {
  if (image.is_unknown) return ImageObstacle::kUnread;
  // If the process is a child that was just made and has done nothing yet, it holds no record locks.
  const FileTable table = sys_getpid() != g_pid ? FileTable::kUnseen : FileTable::kOwn;
  ImageObstacle obstacle = kNoDescriptor;
  const auto look = [&] {
    obstacle = look_from_folder(image);
    return obstacle != kNoDescriptor;
  };
  const int kept_fd = image.folder_fd < 0 ? -1 : image.folder_fd;
  // If the kernel makes no task for a process of one thread (a new PID namespace, a limit of processes), the program's
  // table is used. Then the program may lose a record lock that it holds on the very file that it starts.
  if (!run_unseen(table, kept_fd, look) && table == FileTable::kOwn) run_unseen(FileTable::kUnseen, kept_fd, look);
  return obstacle == kNoDescriptor ? ImageObstacle::kUnread : obstacle;
}

DescriptorLink::DescriptorLink(int fd) {
  char* end = path + strlen(path);
  char digits[12];
  size_t count = 0;
  for (unsigned number = static_cast<unsigned>(fd); count == 0 || number != 0; number /= 10) {
    digits[count++] = static_cast<char>('0' + number % 10);
  }
  while (count != 0) *end++ = digits[--count];
  *end = 0;
}

const char* read_link(const char* link, char* memory, unsigned long bytes) {
  const long got = raw_syscall(SYS_readlinkat, AT_FDCWD, reinterpret_cast<long>(link), reinterpret_cast<long>(memory),
                               static_cast<long>(bytes - 1));
  if (is_error(got)) return link;
  memory[got] = 0;
  return memory;
}

unsigned long search_bytes(const char* file) {
  const size_t file_length = measure_own_string(file, PATH_MAX);
  if (file_length == kNoString || file_length == 0) return 0;
  const char* folders = find_path_variable();
  const size_t folders_length = folders != nullptr ? measure_own_string(folders, kMostStringBytes) : 0;
  if (folders_length == kNoString) return 0;
  return 2 * (file_length + folders_length + 2);
}

const char* find_in_path(const char* file, char* memory, unsigned long bytes) {
  const size_t file_length = read_own_string(memory, bytes, file);
  if (file_length == kNoString) return nullptr;
  const char* name = memory;
  if (strchr(name, '/') != nullptr) return file;
  char* list = memory + file_length + 1;
  const char* variable = find_path_variable();
  if (variable == nullptr) return nullptr;
  const size_t list_length = read_own_string(list, bytes - (file_length + 1), variable);
  if (list_length == kNoString) return nullptr;
  char* path = list + list_length + 1;
  const auto room = static_cast<size_t>(memory + bytes - path);
  for (const char* folders = list;;) {
    const size_t length = strcspn(folders, ":");
    if (length + 1 + file_length + 1 <= room) {
      memcpy(path, folders, length);
      if (length != 0) path[length] = '/';
      strcpy(path + length + (length != 0 ? 1 : 0), name);
      if (is_executable_file(path)) return path;
    }
    if (folders[length] == 0) return nullptr;
    folders += length + 1;
  }
}

}  // namespace heapprof::agent
