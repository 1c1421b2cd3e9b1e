#include "elf_file.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/base/unique_fd.hpp>

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Section = ElfW(Shdr);
using Note = ElfW(Nhdr);

constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr unsigned char own_order =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
/// Notes, comments and names of sections are short; longer ones are damaged or hostile.
constexpr std::size_t most_bytes = std::size_t{1} << 20U;

/// Returns bytes of the file; empty where it is shorter.
std::string bytes_at(int fd, std::uint64_t offset, std::uint64_t size) {
  if (size > most_bytes) return {};
  std::string bytes(static_cast<std::size_t>(size), '\0');
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (got < 0 || static_cast<std::size_t>(got) != bytes.size()) return {};
  return bytes;
}

template <class Value>
std::optional<Value> value_in(std::string_view bytes, std::size_t offset = 0) {
  if (bytes.size() < offset || bytes.size() - offset < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string hexadecimal(std::string_view bytes) {
  const auto* const first = reinterpret_cast<const unsigned char*>(bytes.data());
  return fmt::format("{:02x}", fmt::join(first, first + bytes.size(), ""));
}

std::size_t padded(std::size_t size) {
  return (size + 3) / 4 * 4;
}

std::string build_id_in(std::string_view notes) {
  while (const auto note = value_in<Note>(notes)) {
    const std::size_t name_at = sizeof(Note);
    const std::size_t content_at = name_at + padded(note->n_namesz);
    const std::size_t end = content_at + padded(note->n_descsz);
    if (content_at + note->n_descsz > notes.size()) return {};
    const auto name = notes.substr(name_at, note->n_namesz);
    if (note->n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
      return hexadecimal(notes.substr(content_at, note->n_descsz));
    }
    notes.remove_prefix(std::min(end, notes.size()));
  }
  return {};
}

std::string build_id_of(int fd, const Header& header) {
  const std::string table =
      bytes_at(fd, header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Segment));
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = value_in<Segment>(table, i * sizeof(Segment));
    if (!segment || segment->p_type != PT_NOTE) continue;
    std::string id = build_id_in(bytes_at(fd, segment->p_offset, segment->p_filesz));
    if (!id.empty()) return id;
  }
  return {};
}

/// The section's texts end with zero bytes; linkers write each once, most of the time.
std::set<std::string> comments_of(int fd, const Header& header) {
  std::set<std::string> comments;
  const std::string table =
      bytes_at(fd, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Section));
  const auto names_section =
      value_in<Section>(table, std::size_t{header.e_shstrndx} * sizeof(Section));
  if (!names_section) return comments;
  const std::string names = bytes_at(fd, names_section->sh_offset, names_section->sh_size);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = value_in<Section>(table, i * sizeof(Section));
    if (!section || section->sh_name >= names.size()) continue;
    if (std::string_view(names.c_str() + section->sh_name) != ".comment") continue;
    const std::string texts = bytes_at(fd, section->sh_offset, section->sh_size);
    for (std::size_t at = 0; at < texts.size();) {
      const std::string text = texts.c_str() + at;
      if (!text.empty()) comments.insert(text);
      at += text.size() + 1;
    }
  }
  return comments;
}

}  // namespace

std::optional<ElfFacts> read_elf(const fs::path& file) {
  const base::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return std::nullopt;
  const auto header = value_in<Header>(bytes_at(fd.get(), 0, sizeof(Header)));
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header->e_ident[EI_CLASS] != own_class || header->e_ident[EI_DATA] != own_order) {
    return std::nullopt;
  }
  ElfFacts facts;
  facts.build_id = build_id_of(fd.get(), *header);
  const auto comments = comments_of(fd.get(), *header);
  facts.compilers.assign(comments.begin(), comments.end());
  return facts;
}

std::string compiler_name(const std::string& comment) {
  static const base::Form gcc(R"(GCC: \(.*\) (\d+(?:\.\d+)*).*)");
  static const base::Form clang(R"(.*clang version (\d+(?:\.\d+)*).*)");
  if (const auto parts = gcc.parts(comment)) return "GCC " + parts->at(1);
  if (const auto parts = clang.parts(comment)) return "clang " + parts->at(1);
  return comment;
}

}  // namespace sabath::probe
