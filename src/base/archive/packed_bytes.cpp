#include "packed_bytes.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::base {
namespace {

constexpr std::size_t buffer_bytes = 1U << 18U;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& cause) {
  throw Error(ErrorKind::integrity,
              printable(path.string() + ": cannot be unpacked: " +
                        (cause.empty() ? std::string("it is damaged") : cause)));
}

/// One member of gzip after the other; zeros may follow the last one, as gzip allows it.
class GzipBytes final : public PackedBytes {
 public:
  GzipBytes(const std::filesystem::path& path, UniqueFd file)
      : path_(path), file_(std::move(file)), packed_(buffer_bytes), plain_(buffer_bytes) {
    constexpr int gzip_only = 16;
    if (::inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) refuse(path_, "out of memory");
  }
  ~GzipBytes() override { ::inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  ByteView read() override {
    std::size_t done = 0;
    while (done < plain_.size() && !at_end_) {
      if (stream_.avail_in == 0 && !load()) refuse(path_, "it is cut short");
      stream_.next_out = reinterpret_cast<Bytef*>(plain_.data() + done);
      stream_.avail_out = static_cast<uInt>(plain_.size() - done);
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      done = plain_.size() - stream_.avail_out;
      if (code == Z_STREAM_END) {
        begin_next_member();
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        refuse(path_, stream_.msg == nullptr ? "" : "gzip: " + std::string(stream_.msg));
      }
    }
    return ByteView(plain_).first(done);
  }
  std::string compression() const override { return "gzip"; }
  std::uint64_t consumed_bytes() const override { return loaded_ - stream_.avail_in; }

 private:
  bool load() {
    ssize_t got = 0;
    do {
      got = ::read(file_.get(), packed_.data(), packed_.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) throw_errno(path_.string(), "cannot read", errno);
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    stream_.avail_in = static_cast<uInt>(got);
    loaded_ += static_cast<std::uint64_t>(got);
    return got > 0;
  }
  void begin_next_member() {
    if (stream_.avail_in == 0 && !load()) {
      at_end_ = true;
    } else if (*stream_.next_in != 0) {
      constexpr Bytef gzip_begin = 0x1f;
      if (*stream_.next_in != gzip_begin) refuse(path_, "other bytes follow the end of gzip");
      ::inflateReset(&stream_);
    } else {
      skip_zeros();
      at_end_ = true;
    }
  }
  void skip_zeros() {
    do {
      Bytef* const end = stream_.next_in + stream_.avail_in;
      if (std::any_of(stream_.next_in, end, [](Bytef byte) { return byte != 0; })) {
        refuse(path_, "other bytes follow the end of gzip");
      }
      stream_.avail_in = 0;
    } while (load());
  }

  std::filesystem::path path_;
  UniqueFd file_;
  std::vector<std::byte> packed_;
  std::vector<std::byte> plain_;
  z_stream stream_{};
  std::uint64_t loaded_ = 0;
  bool at_end_ = false;
};

class FilteredBytes final : public PackedBytes {
 public:
  explicit FilteredBytes(const std::filesystem::path& path)
      : path_(path), archive_(archive_read_new(), archive_read_free), buffer_(buffer_bytes) {
    archive* handle = archive_.get();
    // A filter that libarchive could only run as an outside program answers ARCHIVE_WARN; it is
    // left on, because the program is then named by libarchive and not by the archive.
    archive_read_support_filter_bzip2(handle);
    archive_read_support_filter_xz(handle);
    archive_read_support_filter_zstd(handle);
    archive_read_support_format_raw(handle);
    archive_entry* entry = nullptr;
    if (archive_read_open_filename(handle, path.c_str(), buffer_bytes) != ARCHIVE_OK ||
        archive_read_next_header(handle, &entry) != ARCHIVE_OK) {
      fail();
    }
  }

  ByteView read() override {
    const la_ssize_t got = archive_read_data(archive_.get(), buffer_.data(), buffer_.size());
    if (got < 0) fail();
    // libarchive ends silently where what follows is not bzip2.
    if (got == 0 && consumed_bytes() != std::filesystem::file_size(path_)) {
      refuse(path_, "other bytes follow the end of " + compression());
    }
    return ByteView(buffer_).first(static_cast<std::size_t>(got));
  }
  std::string compression() const override {
    const char* const name = archive_filter_name(archive_.get(), 0);
    return name == nullptr ? std::string() : std::string(name);
  }
  std::uint64_t consumed_bytes() const override {
    return static_cast<std::uint64_t>(
        std::max<la_int64_t>(archive_filter_bytes(archive_.get(), -1), 0));
  }

 private:
  [[noreturn]] void fail() const {
    const char* const cause = archive_error_string(archive_.get());
    refuse(path_, cause == nullptr ? std::string() : std::string(cause));
  }

  std::filesystem::path path_;
  std::unique_ptr<archive, int (*)(archive*)> archive_;
  std::vector<std::byte> buffer_;
};

}  // namespace

std::unique_ptr<PackedBytes> PackedBytes::open(const std::filesystem::path& path) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw_errno(path.string(), "cannot unpack", errno);
  std::array<unsigned char, 2> begin{};
  if (::pread(file.get(), begin.data(), begin.size(), 0) == 2 && begin[0] == 0x1f &&
      begin[1] == 0x8b) {
    return std::make_unique<GzipBytes>(path, std::move(file));
  }
  return std::make_unique<FilteredBytes>(path);
}

}  // namespace sabath::base
