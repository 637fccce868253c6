// tests/unit/inner/elf_maker.h: makes ELF files with one segment of code and a symbol table.
#pragma once

#include <elf.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace heapprof::cli {

class ElfMaker {
 public:
  static constexpr uint64_t kCodeSvma = 0x401000;

  // Appends a function; its address. An alignment of 16 as compilers have it, filled with nops.
  uint64_t add(const std::string& name, const std::vector<int>& bytes, unsigned type = STT_FUNC, bool has_size = true) {
    while (code_.size() % 16 != 0) code_.push_back(0x90);
    const uint64_t svma = kCodeSvma + code_.size();
    for (const int byte : bytes) code_.push_back(static_cast<unsigned char>(byte));
    add_name(name, svma, has_size ? bytes.size() : 0, type);
    return svma;
  }
  void add_name(const std::string& name, uint64_t svma, uint64_t size_bytes, unsigned type = STT_FUNC) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings_.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
    symbol.st_shndx = 1;
    symbol.st_value = svma;
    symbol.st_size = size_bytes;
    symbols_.push_back(symbol);
    strings_ += name + '\0';
  }
  uint64_t next_svma() const { return kCodeSvma + (code_.size() + 15) / 16 * 16; }

  std::string bytes() const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_EXEC;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = PF_R | PF_X;
    segment.p_vaddr = kCodeSvma;
    segment.p_offset = 0x1000;
    segment.p_filesz = segment.p_memsz = code_.size();
    std::string file(0x1000, '\0');
    file.append(reinterpret_cast<const char*>(code_.data()), code_.size());
    Elf64_Shdr sections[3] = {};
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_link = 2;
    sections[1].sh_offset = file.size();
    sections[1].sh_size = symbols_.size() * sizeof(Elf64_Sym);
    sections[1].sh_entsize = sizeof(Elf64_Sym);
    file.append(reinterpret_cast<const char*>(symbols_.data()), sections[1].sh_size);
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = file.size();
    sections[2].sh_size = strings_.size();
    file += strings_;
    header.e_shoff = file.size();
    file.append(reinterpret_cast<const char*>(sections), sizeof sections);
    std::memcpy(file.data(), &header, sizeof header);
    std::memcpy(file.data() + sizeof header, &segment, sizeof segment);
    Elf64_Phdr loader{};
    loader.p_type = PT_INTERP;
    std::memcpy(file.data() + sizeof header + sizeof segment, &loader, sizeof loader);
    return file;
  }

 private:
  std::vector<unsigned char> code_;
  std::vector<Elf64_Sym> symbols_;
  std::string strings_ = std::string(1, '\0');
};

// An unnamed file with these bytes, at its begin.
class MadeFile {
 public:
  explicit MadeFile(const std::string& bytes) : file_(std::tmpfile()) {
    std::fwrite(bytes.data(), 1, bytes.size(), file_);
    std::fflush(file_);
  }
  ~MadeFile() { std::fclose(file_); }
  MadeFile(const MadeFile&) = delete;
  MadeFile& operator=(const MadeFile&) = delete;
  int fd() const { return ::fileno(file_); }

 private:
  std::FILE* file_;
};

}  // namespace heapprof::cli
