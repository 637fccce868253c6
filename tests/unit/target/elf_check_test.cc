// tests/unit/target/elf_check_test.cc: files made byte by byte, real programs, and thousands of damaged ones.
#include "cli/target/elf_check.h"

#include "cli/base/fd.h"
#include "cli/target/elf_file.h"

#include <catch2/catch.hpp>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

using namespace heapprof::cli;

namespace {

constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";

// A folder of its own, made current, for one test.
class Folder {
 public:
  Folder() : previous_(std::filesystem::current_path()) {
    std::string name = (std::filesystem::temp_directory_path() / "heapprof-elf.XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
    std::filesystem::current_path(path_);
  }
  ~Folder() {
    std::filesystem::current_path(previous_);
    std::filesystem::remove_all(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }

  static std::string write(const std::string& name, const std::string& bytes, mode_t mode = 0755) {
    std::ofstream(name, std::ios::binary) << bytes;
    REQUIRE(::chmod(name.c_str(), mode) == 0);
    return "./" + name;
  }

 private:
  std::filesystem::path previous_;
  std::string path_;
};

struct FakeElf {
  uint8_t elf_class = ELFCLASS64;
  uint16_t machine = EM_X86_64;
  uint16_t type = ET_DYN;
  std::string loader = kLoader;  // empty: no PT_INTERP
  std::vector<std::string> needed;
  std::vector<std::string> defined;
  std::vector<std::string> undefined;

  // Header, three program headers, loader name, dynamic section, symbols, strings, one after the other.
  std::string bytes() const {
    std::string strings(1, '\0');
    const auto add_string = [&](const std::string& text) {
      const size_t at = strings.size();
      strings += text + '\0';
      return at;
    };
    std::vector<Elf64_Sym> symbols(1);
    for (const std::vector<std::string>* names : {&defined, &undefined}) {
      for (const std::string& name : *names) {
        Elf64_Sym symbol{};
        symbol.st_name = static_cast<Elf64_Word>(add_string(name));
        symbol.st_shndx = names == &defined ? 1 : SHN_UNDEF;
        symbols.push_back(symbol);
      }
    }
    std::vector<Elf64_Dyn> dynamic;
    const auto add_entry = [&](Elf64_Sxword tag, Elf64_Xword value) {
      Elf64_Dyn entry{};
      entry.d_tag = tag;
      entry.d_un.d_val = value;
      dynamic.push_back(entry);
    };
    for (const std::string& name : needed) add_entry(DT_NEEDED, add_string(name));
    const size_t loader_off = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
    const size_t dynamic_off = loader_off + loader.size() + 1;
    const size_t symbols_off = dynamic_off + (dynamic.size() + 4) * sizeof(Elf64_Dyn);
    const size_t strings_off = symbols_off + symbols.size() * sizeof(Elf64_Sym);
    add_entry(DT_SYMTAB, symbols_off);
    add_entry(DT_STRTAB, strings_off);
    add_entry(DT_STRSZ, strings.size());
    add_entry(DT_NULL, 0);

    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = elf_class;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = type;
    header.e_machine = machine;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 3;
    Elf64_Phdr segments[3] = {};
    segments[0].p_type = PT_LOAD;
    segments[0].p_filesz = strings_off + strings.size();
    segments[1].p_type = loader.empty() ? PT_NULL : PT_INTERP;
    segments[1].p_offset = loader_off;
    segments[1].p_filesz = loader.size() + 1;
    segments[2].p_type = PT_DYNAMIC;
    segments[2].p_offset = segments[2].p_vaddr = dynamic_off;
    segments[2].p_filesz = dynamic.size() * sizeof(Elf64_Dyn);
    const auto raw = [](const auto& data, size_t count) {
      return std::string(reinterpret_cast<const char*>(&data), count);
    };
    return raw(header, sizeof header) + raw(segments, sizeof segments) + loader + '\0' +
           raw(dynamic[0], dynamic.size() * sizeof(Elf64_Dyn)) + raw(symbols[0], symbols.size() * sizeof(Elf64_Sym)) +
           strings;
  }
};

std::string id_of(const std::string& program) {
  const Result<ProgramFacts> facts = inspect_program(program);
  return facts ? "" : facts.problem().id;
}

}  // namespace

TEST_CASE("an ordinary program is found and has a loader") {
  const Result<ProgramFacts> facts = inspect_program("/bin/ls");
  REQUIRE(facts.ok());
  CHECK(facts->path == "/bin/ls");
  CHECK(facts->loader == kLoader);
  CHECK(facts->warnings.empty());
  CHECK(facts->scripts.empty());
}

TEST_CASE("a bare name is looked for in PATH as execvp does") {
  const Folder folder;
  const std::string previous = std::getenv("PATH");
  std::filesystem::create_directories("a/tool");  // a folder of that name does not end the search
  std::filesystem::create_directories("b");
  std::filesystem::create_directories("c");
  Folder::write("b/tool", "x", 0644);  // nor does a file that is not executable
  Folder::write("c/tool", FakeElf{}.bytes());
  ::setenv("PATH", (folder.path() + "/a:" + folder.path() + "/b:" + folder.path() + "/c").c_str(), 1);
  CHECK(inspect_program("tool").value().path == folder.path() + "/c/tool");
  CHECK(inspect_program("tool-of-no-one").problem().exit_code == 127);
  ::setenv("PATH", (folder.path() + "/a:" + folder.path() + "/b").c_str(), 1);
  if (::geteuid() != 0 || ::access("b/tool", X_OK) != 0) CHECK(inspect_program("tool").problem().exit_code == 126);
  ::setenv("PATH", ":/nowhere", 1);  // an empty entry is the current folder
  Folder::write("here", FakeElf{}.bytes());
  CHECK(inspect_program("here").value().path == "./here");
  ::setenv("PATH", previous.c_str(), 1);
}

TEST_CASE("what cannot be started has the shell's exit codes") {
  const Folder folder;
  CHECK(inspect_program("./nothing").problem().exit_code == 127);
  CHECK(inspect_program("/bin/ls/x").problem().exit_code == 127);
  CHECK(inspect_program("").problem().exit_code == 127);
  CHECK(id_of(folder.path()) == "HP003");
  CHECK(inspect_program(folder.path()).problem().exit_code == 126);
  Folder::write("plain", FakeElf{}.bytes(), 0644);
  CHECK(id_of("./plain") == "HP002");
  CHECK(id_of("/dev/null") == "HP002");
  CHECK(id_of(Folder::write("binary", std::string("\x01\x02\0\x03", 4))) == "HP011");
  CHECK(id_of(Folder::write("empty", "")).empty());  // the shell runs it, as it does without us
}

TEST_CASE("programs that no agent can enter are named") {
  const Folder folder;
  FakeElf elf;
  CHECK(id_of(Folder::write("ok", elf.bytes())).empty());
  elf.loader = "";
  CHECK(id_of(Folder::write("static", elf.bytes())) == "HP004");
  elf.type = ET_EXEC;
  CHECK(id_of(Folder::write("static-exec", elf.bytes())) == "HP004");
  elf = {};
  elf.machine = EM_AARCH64;
  CHECK(id_of(Folder::write("arm", elf.bytes())) == "HP006");
  elf = {};
  elf.elf_class = ELFCLASS32;
  elf.machine = EM_386;
  CHECK(id_of(Folder::write("i386", elf.bytes())) == "HP006");
  elf = {};
  elf.loader = "/lib/ld-musl-x86_64.so.1";
  CHECK(id_of(Folder::write("musl", elf.bytes())) == "HP007");
  elf.loader = "/lib64/ld-linux-x86-64.so.99";
  CHECK(id_of(Folder::write("loaderless", elf.bytes())) == "HP008");
  elf = {};
  elf.type = ET_REL;
  CHECK(id_of(Folder::write("object", elf.bytes())) == "HP011");
}

TEST_CASE("sanitizers are found by their library or by their symbol") {
  const Folder folder;
  FakeElf elf;
  elf.needed = {"libasan.so.8", "libc.so.6"};
  CHECK(id_of(Folder::write("asan", elf.bytes())) == "HP012");
  elf = {};
  elf.defined = {"__tsan_init"};
  const Result<ProgramFacts> tsan = inspect_program(Folder::write("tsan", elf.bytes()));
  REQUIRE_FALSE(tsan.ok());
  CHECK(tsan.problem().what.find("ThreadSanitizer") != std::string::npos);
  CHECK(tsan.problem().fix.find("-fsanitize=thread") != std::string::npos);
}

TEST_CASE("a malloc of the program's own is a warning that names it") {
  const Folder folder;
  FakeElf elf;
  elf.defined = {"malloc", "free", "my_malloc"};
  elf.undefined = {"calloc"};
  const Result<ProgramFacts> facts = inspect_program(Folder::write("own", elf.bytes()));
  REQUIRE(facts.ok());
  CHECK(facts->own_allocation_functions == std::vector<std::string>{"malloc", "free"});
  CHECK(facts->warnings.empty());  // it is hooked in place, if it can be
}

TEST_CASE("scripts lead to their interpreters") {
  const Folder folder;
  Folder::write("interpreter", FakeElf{}.bytes());
  const std::string absolute = folder.path() + "/interpreter";
  const Result<ProgramFacts> one = inspect_program(Folder::write("one", "#! \t" + absolute + " -x\nmore\n"));
  REQUIRE(one.ok());
  CHECK(one->path == "./one");
  CHECK(one->elf_path == absolute);
  CHECK(one->scripts == std::vector<std::string>{"./one"});
  const Result<ProgramFacts> two = inspect_program(Folder::write("two", "#!" + folder.path() + "/one"));
  REQUIRE(two.ok());
  CHECK(two->elf_path == absolute);
  CHECK(two->scripts.size() == 2);
  const Result<ProgramFacts> shell = inspect_program(Folder::write("shell", "echo hello\n"));
  REQUIRE(shell.ok());
  CHECK(shell->elf_path == "/bin/sh");
}

TEST_CASE("faults of an interpreter are told as its own") {
  const Folder folder;
  FakeElf elf;
  elf.loader = "";
  Folder::write("static", elf.bytes());
  const Result<ProgramFacts> facts = inspect_program(Folder::write("script", "#!" + folder.path() + "/static\n"));
  REQUIRE_FALSE(facts.ok());
  CHECK(facts.problem().id == "HP004");
  CHECK(facts.problem().what.find(folder.path() + "/static") == 0);
  CHECK(id_of(Folder::write("lost", "#!/no/such/interpreter\n")) == "HP009");
  CHECK(inspect_program("./lost").problem().exit_code == 127);
  CHECK(id_of(Folder::write("nameless", "#!\n")) == "HP011");
  CHECK(id_of(Folder::write("loop", "#!" + folder.path() + "/loop\n")) == "HP010");
}

TEST_CASE("a file that may be executed but not read is let through with a warning") {
  if (::geteuid() == 0) return;  // root reads everything
  const Folder folder;
  const Result<ProgramFacts> facts = inspect_program(Folder::write("secret", FakeElf{}.bytes(), 0111));
  REQUIRE(facts.ok());
  CHECK_FALSE(facts->inspected);
  CHECK(facts->warnings.at(0).id == "HP015");
}

TEST_CASE("set-id programs are refused where the loader would ignore the agent") {
  const Folder folder;
  const std::string program = Folder::write("set", FakeElf{}.bytes());
  REQUIRE(::chmod(program.c_str(), 04755) == 0);
  CHECK(id_of(program).empty());  // its owner is us: nothing changes
  if (::geteuid() != 0) return;
  REQUIRE(::chown(program.c_str(), 12345, 12345) == 0);
  REQUIRE(::chmod(program.c_str(), 04755) == 0);
  CHECK(id_of(program) == "HP005");
  REQUIRE(::chmod(program.c_str(), 02755) == 0);
  CHECK(id_of(program) == "HP005");
  REQUIRE(::chmod(program.c_str(), 02745) == 0);  // no execution by the group: a mark for locking, not a right
  CHECK(id_of(program).empty());
}

TEST_CASE("cut and damaged programs never crash the check") {
  const Folder folder;
  FakeElf elf;
  elf.needed = {"libc.so.6"};
  elf.defined = {"malloc"};
  const std::string whole = elf.bytes();
  for (size_t size = 0; size < whole.size(); ++size) (void)inspect_program(Folder::write("cut", whole.substr(0, size)));
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole;
    for (size_t i = 1 + random() % 8; i > 0; --i) {
      const size_t at = 20 + random() % (bytes.size() - 28);
      const uint64_t values[] = {0, 1, 0xff, ~uint64_t{0}, uint64_t{1} << 63, bytes.size(), random()};
      const uint64_t value = values[random() % std::size(values)];
      std::memcpy(&bytes[at], &value, 1 + random() % 8);
    }
    (void)inspect_program(Folder::write("damaged", bytes));
  }
}

TEST_CASE("symbols are counted by the GNU hash table") {
  // Linkers write no DT_HASH today; this binary is one of theirs, and imports what any C++ program imports.
  const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  REQUIRE(file.is_open());
  const Result<ElfFacts> facts = read_elf(file.get(), {"malloc", "memcpy", "strlen", "abort"}, "self");
  REQUIRE(facts.ok());
  CHECK(facts->has_loader);
  CHECK_FALSE(facts->needed.empty());
  CHECK_FALSE(facts->required.empty());
}
