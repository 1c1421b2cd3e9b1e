#include "archive_reader.hpp"

#include <sabath/base/archive/zip_reader.hpp>

namespace sabath::base {

struct ZipReader::State {
  explicit State(const std::filesystem::path& path)
      : place(path.string()), reader(path, ArchiveReader::Format::zip) {}

  std::string place;
  ArchiveReader reader;
};

ZipReader::ZipReader(const std::filesystem::path& path) : state_(std::make_unique<State>(path)) {}

ZipReader::~ZipReader() = default;

std::optional<ZipMember> ZipReader::next() {
  const Utf8Names names;  // several readers live at once: none keeps the thread's locale
  while (const auto entry = state_->reader.next()) {
    if (entry->kind != StatedEntry::Kind::file) continue;
    if (!entry->size) {
      throw Error(
          ErrorKind::integrity,
          state_->place + ":" + entry->path + ": cannot be unpacked: it does not say its size");
    }
    return ZipMember{entry->path, *entry->size};
  }
  return std::nullopt;
}

ByteView ZipReader::read() {
  return state_->reader.read();
}

}  // namespace sabath::base
