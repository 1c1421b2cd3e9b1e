#include <sabath/base/archive/zip_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_32 = 0xffffffff;
constexpr std::uint64_t largest_16 = 0xffff;
constexpr std::uint16_t version_zip64 = 45;
constexpr std::uint16_t made_by_unix = 3U << 8U | version_zip64;
constexpr std::uint16_t utf8_names = 1U << 11U;
constexpr std::uint16_t date_1980 = 1U << 5U | 1U;  // 1 January 1980
constexpr std::uint32_t regular_file = 0100644U << 16U;

/// Numbers of a header, the least byte first.
class Header {
 public:
  Header& word(std::uint64_t value) { return put(value, 2); }
  Header& number(std::uint64_t value) { return put(value, 4); }
  Header& large(std::uint64_t value) { return put(value, 8); }
  Header& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Header& put(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i, value >>= 8U)
      bytes_ += static_cast<char>(value & 0xffU);
    return *this;
  }
  std::string bytes_{};
};

bool needs_zip64(const ZipWriter::Member& member) {
  return member.size_bytes >= largest_32 || member.packed_bytes >= largest_32;
}

/// The member's header where its bytes lie. A header of one size whatever the numbers are: they are
/// known once the bytes are written.
std::string local_header(const ZipWriter::Member& member) {
  const bool is_large = needs_zip64(member);
  Header header;
  header.number(0x04034b50).word(is_large ? version_zip64 : 20).word(utf8_names);
  header.word(member.is_deflated ? 8 : 0).word(0).word(date_1980).number(member.crc);
  header.number(is_large ? largest_32 : member.packed_bytes);
  header.number(is_large ? largest_32 : member.size_bytes);
  header.word(member.name.size()).word(is_large ? 20 : 0).text(member.name);
  if (is_large) header.word(1).word(16).large(member.size_bytes).large(member.packed_bytes);
  return header.bytes();
}

std::string directory_entry(const ZipWriter::Member& member) {
  const bool is_large = needs_zip64(member) || member.offset >= largest_32;
  Header header;
  header.number(0x02014b50).word(made_by_unix).word(is_large ? version_zip64 : 20);
  header.word(utf8_names).word(member.is_deflated ? 8 : 0).word(0).word(date_1980);
  header.number(member.crc).number(is_large ? largest_32 : member.packed_bytes);
  header.number(is_large ? largest_32 : member.size_bytes).word(member.name.size());
  header.word(is_large ? 28 : 0).word(0).word(0).word(0).number(regular_file);
  header.number(is_large ? largest_32 : member.offset).text(member.name);
  if (is_large)
    header.word(1)
        .word(24)
        .large(member.size_bytes)
        .large(member.packed_bytes)
        .large(member.offset);
  return header.bytes();
}

std::string end_records(std::uint64_t count, std::uint64_t begin, std::uint64_t size) {
  Header header;
  const bool is_large = count >= largest_16 || begin >= largest_32 || size >= largest_32;
  if (is_large) {
    header.number(0x06064b50).large(44).word(made_by_unix).word(version_zip64).number(0).number(0);
    header.large(count).large(count).large(size).large(begin);
    header.number(0x07064b50).number(0).large(begin + size).number(1);
  }
  const std::uint64_t shown = std::min(count, largest_16);
  header.number(0x06054b50).word(0).word(0).word(shown).word(shown);
  header.number(std::min(size, largest_32)).number(std::min(begin, largest_32)).word(0);
  return header.bytes();
}

std::uint32_t crc_of(std::uint32_t crc, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

/// The text deflated; "" where that fails.
std::string deflated(std::string_view text) {
  z_stream stream{};
  constexpr int raw_window = -15;
  constexpr int memory_level = 8;
  if (::deflateInit2(&stream, 6, Z_DEFLATED, raw_window, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    return {};
  std::string packed(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = ::deflate(&stream, Z_FINISH);
  packed.resize(code == Z_STREAM_END ? stream.total_out : 0);
  ::deflateEnd(&stream);
  return packed;
}

}  // namespace

ZipWriter::ZipWriter(fs::path to) : to_(std::move(to)) {
  std::string name = (to_.parent_path() / ("." + to_.filename().string() + "-XXXXXX")).string();
  if (to_.parent_path().empty()) name = "./" + name;
  file_ = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
  if (!file_) throw_errno(to_.string(), "cannot be written", errno);
  temporary_ = name;
}

ZipWriter::~ZipWriter() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void ZipWriter::write(std::string_view bytes) {
  write_all(file_.get(), as_bytes(bytes), to_);
  offset_ += bytes.size();
}

/// Writes the header over the one that stands there.
void ZipWriter::write_header(const Member& member) {
  const std::string header = local_header(member);
  std::size_t done = 0;
  while (done < header.size()) {
    const auto wrote = ::pwrite(file_.get(),
                                header.data() + done,
                                header.size() - done,
                                static_cast<off_t>(member.offset + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw_errno(to_.string(), "cannot be written", errno);
    done += static_cast<std::size_t>(wrote);
  }
}

const ZipWriter::Member& ZipWriter::add_text(const std::string& name, std::string_view text) {
  constexpr std::size_t most_deflated = 1U << 30U;
  Member member;
  member.name = name;
  member.size_bytes = text.size();
  member.offset = offset_;
  member.crc = crc_of(0, text);
  member.digest = sha256_of(text);
  const std::string packed = text.size() < most_deflated ? deflated(text) : std::string{};
  member.is_deflated = !packed.empty() && packed.size() < text.size();
  const std::string_view content = member.is_deflated ? std::string_view(packed) : text;
  member.packed_bytes = content.size();
  write(local_header(member));
  write(content);
  return members_.emplace_back(std::move(member));
}

const ZipWriter::Member& ZipWriter::add_file(const std::string& name,
                                             const fs::path& file,
                                             const std::function<void(std::uint64_t)>& report,
                                             const std::stop_token& stop) {
  constexpr std::size_t step = 1U << 20U;
  const UniqueFd from(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (!from || ::fstat(from.get(), &status) != 0) throw_errno(file.string(), "cannot read", errno);
  Member member;
  member.name = name;
  member.offset = offset_;
  member.size_bytes = member.packed_bytes = static_cast<std::uint64_t>(status.st_size);
  write(local_header(member));
  Hasher hasher;
  std::string buffer(step, '\0');
  std::uint64_t done = 0;
  while (true) {
    const auto got = ::read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno(file.string(), "cannot read", errno);
    if (got == 0) break;
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    done += bytes.size();
    if (done > member.size_bytes) break;
    member.crc = crc_of(member.crc, bytes);
    hasher.update(bytes);
    write(bytes);
    if (report) report(done);
    if (stop.stop_requested()) throw Error(ErrorKind::interrupted, to_.string() + ": interrupted");
  }
  if (done != member.size_bytes)
    throw Error(ErrorKind::storage, printable(file.string()) + ": changes while it is read");
  member.digest = hasher.finish();
  write_header(member);
  return members_.emplace_back(std::move(member));
}

void ZipWriter::finish(const std::string& first) {
  std::vector<Member> sorted = members_;
  std::ranges::sort(sorted, [&first](const Member& a, const Member& b) {
    return std::pair(a.name != first, a.name) < std::pair(b.name != first, b.name);
  });
  const std::uint64_t begin = offset_;
  for (const Member& member : sorted)
    write(directory_entry(member));
  write(end_records(sorted.size(), begin, offset_ - begin));
  if (::fchmod(file_.get(), 0644) != 0 || ::fsync(file_.get()) != 0)
    throw_errno(to_.string(), "cannot be written", errno);
  if (::rename(temporary_.c_str(), to_.c_str()) != 0)
    throw_errno(to_.string(), "cannot be written", errno);
  temporary_.clear();
  sync_directory(to_.parent_path().empty() ? fs::path(".") : to_.parent_path());
}

}  // namespace sabath::base
