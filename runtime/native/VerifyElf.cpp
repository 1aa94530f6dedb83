// Is a shared object whole enough for the dynamic linker, which trusts what it is given? Every
// offset, address and size the linker follows before the first symbol is looked up is checked here.
#include "kiln/runtime/native_program.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

using namespace kiln;

static Status bad(const char *what) {
  return Status(StatusCode::InvalidArgument, std::string("not a shared object: ") + what);
}

namespace {

/// No object Kiln makes has more, in any respect.
constexpr uint64_t maxSegments = 64, maxMemory = uint64_t{1} << 32;

class Elf {
public:
  explicit Elf(std::string_view bytes) : Bytes(bytes) {}

  Status verify() {
    for (Status (Elf::*check)() : {&Elf::header, &Elf::segments, &Elf::dynamic})
      if (Status wrong = (this->*check)(); !wrong.isOk())
        return wrong;
    return Status::ok();
  }

private:
  bool isInside(uint64_t offset, uint64_t size) const {
    return offset <= Bytes.size() && size <= Bytes.size() - offset;
  }
  template <typename T> T read(uint64_t offset) const {
    T value;
    std::memcpy(&value, Bytes.data() + offset, sizeof value);
    return value;
  }
  /// Whether bytes of the file are mapped at all of these addresses.
  bool isMapped(uint64_t address, uint64_t size) const {
    return std::any_of(Loaded.begin(), Loaded.end(), [&](const Elf64_Phdr &segment) {
      return address >= segment.p_vaddr && address - segment.p_vaddr <= segment.p_filesz &&
             size <= segment.p_filesz - (address - segment.p_vaddr);
    });
  }

  Status header() {
    if (Bytes.size() < sizeof(Elf64_Ehdr))
      return bad("it is too short");
    Header = read<Elf64_Ehdr>(0);
    if (std::memcmp(Header.e_ident, ELFMAG, SELFMAG) != 0 ||
        Header.e_ident[EI_CLASS] != ELFCLASS64 || Header.e_ident[EI_DATA] != ELFDATA2LSB ||
        Header.e_type != ET_DYN)
      return bad("its header is that of something else");
#if defined(__x86_64__)
    constexpr uint16_t here = EM_X86_64;
#elif defined(__aarch64__)
    constexpr uint16_t here = EM_AARCH64;
#else
    const uint16_t here = Header.e_machine;
#endif
    if (Header.e_machine != here)
      return bad("it is for another kind of CPU");
    return Header.e_phentsize == sizeof(Elf64_Phdr) && Header.e_phnum > 0 &&
                   Header.e_phnum <= maxSegments &&
                   isInside(Header.e_phoff, Header.e_phnum * sizeof(Elf64_Phdr))
               ? Status::ok()
               : bad("its table of segments lies outside of it");
  }

  Status segments() {
    uint64_t end = 0;
    for (uint64_t i = 0; i < Header.e_phnum; ++i) {
      auto segment = read<Elf64_Phdr>(Header.e_phoff + i * sizeof(Elf64_Phdr));
      if (segment.p_type == PT_INTERP || segment.p_type == PT_TLS)
        return bad("it has a segment that no kernel needs");
      bool isUsed = segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC ||
                    segment.p_type == PT_NOTE || segment.p_type == PT_GNU_RELRO;
      if (isUsed &&
          (!isInside(segment.p_offset, segment.p_filesz) || segment.p_filesz > segment.p_memsz ||
           segment.p_memsz > maxMemory || segment.p_vaddr > maxMemory))
        return bad("a segment lies outside of it");
      if (segment.p_type == PT_LOAD) {
        bool isAligned = segment.p_align >= 4096 && segment.p_align <= uint64_t{1} << 21 &&
                         (segment.p_align & (segment.p_align - 1)) == 0 &&
                         (segment.p_vaddr - segment.p_offset) % segment.p_align == 0;
        if (!isAligned || segment.p_vaddr < end)
          return bad("its segments are not in order");
        end = segment.p_vaddr + segment.p_memsz;
        Loaded.push_back(segment);
      }
      if (segment.p_type == PT_DYNAMIC)
        Dynamic = segment;
      if (segment.p_type == PT_GNU_RELRO)
        Relro = segment;
    }
    if (Relro.p_memsz != 0 &&
        std::none_of(Loaded.begin(), Loaded.end(), [&](const Elf64_Phdr &segment) {
          return Relro.p_vaddr >= segment.p_vaddr &&
                 Relro.p_vaddr + Relro.p_memsz <=
                     ((segment.p_vaddr + segment.p_memsz + 4095) & ~uint64_t{4095});
        }))
      return bad("what is to be read-only lies outside of its segments");
    return Dynamic.p_filesz != 0 && isMapped(Dynamic.p_vaddr, Dynamic.p_filesz) &&
                   Dynamic.p_vaddr % 8 == 0
               ? Status::ok()
               : bad("it says nothing to the dynamic linker");
  }

  uint64_t fileOffset(uint64_t address) const {
    for (const Elf64_Phdr &segment : Loaded)
      if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
        return segment.p_offset + (address - segment.p_vaddr);
    return Bytes.size();
  }

  /// The values of the dynamic section, each tag once; needed libraries are not looked at.
  Status dynamic() {
    uint64_t value[DT_NUM] = {}, gnuHash = 0;
    bool isEnded = false;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= Dynamic.p_filesz && !isEnded;
         at += sizeof(Elf64_Dyn)) {
      auto entry = read<Elf64_Dyn>(fileOffset(Dynamic.p_vaddr) + at);
      isEnded = entry.d_tag == DT_NULL;
      if (entry.d_tag == DT_INIT || entry.d_tag == DT_FINI || entry.d_tag == DT_INIT_ARRAY ||
          entry.d_tag == DT_FINI_ARRAY || entry.d_tag == DT_PREINIT_ARRAY ||
          entry.d_tag == DT_TEXTREL)
        return bad("it has code that runs when it is loaded, which no kernel needs");
      if (entry.d_tag > 0 && entry.d_tag < DT_NUM)
        value[entry.d_tag] = entry.d_un.d_val;
      if (entry.d_tag == DT_GNU_HASH)
        gnuHash = entry.d_un.d_val;
    }
    if (!isEnded || value[DT_SYMENT] != sizeof(Elf64_Sym) ||
        !isMapped(value[DT_STRTAB], std::max<uint64_t>(value[DT_STRSZ], 1)) ||
        !isMapped(value[DT_SYMTAB], sizeof(Elf64_Sym)) ||
        value[DT_SYMTAB] >= value[DT_STRTAB] + maxMemory)
      return bad("its symbols lie outside of it");
    // Names end inside the table.
    if (Bytes[fileOffset(value[DT_STRTAB]) + value[DT_STRSZ] - 1] != '\0')
      return bad("its names do not end");
    if (gnuHash == 0 && value[DT_HASH] == 0)
      return bad("it has no table of symbols");
    Expected<uint64_t> count = gnuHash ? gnuSymbols(gnuHash) : sysvSymbols(value[DT_HASH]);
    if (!count)
      return count.status();
    if (*count > Bytes.size() / sizeof(Elf64_Sym) ||
        !isMapped(value[DT_SYMTAB], *count * sizeof(Elf64_Sym)))
      return bad("its symbols lie outside of it");
    for (uint64_t i = 0; i < *count; ++i) {
      auto symbol = read<Elf64_Sym>(fileOffset(value[DT_SYMTAB]) + i * sizeof(Elf64_Sym));
      bool isDefined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS;
      if (symbol.st_name >= value[DT_STRSZ] || ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC ||
          (isDefined && !isInMemory(symbol.st_value)))
        return bad("a symbol lies outside of it");
    }
    if (Status wrong = relocations(value[DT_RELA], value[DT_RELASZ], *count); !wrong.isOk())
      return wrong;
    return relocations(value[DT_JMPREL], value[DT_PLTRELSZ], *count);
  }

  bool isInMemory(uint64_t address) const {
    return std::any_of(Loaded.begin(), Loaded.end(), [&](const Elf64_Phdr &segment) {
      return address >= segment.p_vaddr && address - segment.p_vaddr <= segment.p_memsz;
    });
  }

  Expected<uint64_t> sysvSymbols(uint64_t table) const {
    if (!isMapped(table, 8))
      return bad("its table of symbols lies outside of it");
    auto buckets = read<uint32_t>(fileOffset(table)),
         chains = read<uint32_t>(fileOffset(table) + 4);
    if (buckets == 0 || !isMapped(table, (uint64_t{2} + buckets + chains) * 4))
      return bad("its table of symbols lies outside of it");
    for (uint64_t i = 0; i < uint64_t{buckets} + chains; ++i)
      if (read<uint32_t>(fileOffset(table) + 8 + i * 4) >= chains)
        return bad("its table of symbols leads outside of it");
    return uint64_t{chains};
  }

  Expected<uint64_t> gnuSymbols(uint64_t table) const {
    if (!isMapped(table, 16))
      return bad("its table of symbols lies outside of it");
    uint64_t at = fileOffset(table);
    auto buckets = read<uint32_t>(at), first = read<uint32_t>(at + 4),
         words = read<uint32_t>(at + 8);
    uint64_t bucketsAt = table + 16 + uint64_t{words} * 8,
             chainsAt = bucketsAt + uint64_t{buckets} * 4;
    if (buckets == 0 || words == 0 || (words & (words - 1)) != 0 ||
        !isMapped(table, 16 + uint64_t{words} * 8 + uint64_t{buckets} * 4))
      return bad("its table of symbols lies outside of it");
    uint64_t last = 0;
    for (uint64_t i = 0; i < buckets; ++i) {
      uint64_t symbol = read<uint32_t>(fileOffset(bucketsAt) + i * 4);
      if (symbol != 0 && symbol < first)
        return bad("its table of symbols leads outside of it");
      last = std::max(last, symbol);
    }
    if (last == 0)
      return uint64_t{first};
    // A chain ends with an odd word.
    for (;; ++last) {
      uint64_t word = chainsAt + (last - first) * 4;
      if (!isMapped(word, 4))
        return bad("its table of symbols does not end");
      if (read<uint32_t>(fileOffset(word)) & 1)
        return last + 1;
    }
  }

  Status relocations(uint64_t table, uint64_t size, uint64_t symbols) const {
    if (size == 0)
      return Status::ok();
    if (size % sizeof(Elf64_Rela) != 0 || !isMapped(table, size))
      return bad("its relocations lie outside of it");
    for (uint64_t at = 0; at < size; at += sizeof(Elf64_Rela)) {
      auto item = read<Elf64_Rela>(fileOffset(table) + at);
      if (!isInMemory(item.r_offset) || !isInMemory(item.r_offset + 7) ||
          ELF64_R_SYM(item.r_info) >= std::max<uint64_t>(symbols, 1))
        return bad("a relocation leads outside of it");
    }
    return Status::ok();
  }

  std::string_view Bytes;
  Elf64_Ehdr Header{};
  Elf64_Phdr Dynamic{}, Relro{};
  std::vector<Elf64_Phdr> Loaded;
};

} // namespace

Status kiln::verifyElf(std::string_view bytes) { return Elf(bytes).verify(); }
