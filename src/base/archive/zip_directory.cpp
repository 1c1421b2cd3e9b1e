#include "zip_directory.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/unique_fd.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::base {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t in_zip64 = 0xffffffff;
constexpr auto local_mark = "PK\x03\x04"sv;

/// The directory: its bytes, and where the file's own begin lies, before which other bytes may be.
struct Place {
  std::uint64_t begin = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t members = 0;
};

struct Member {
  std::string name{};
  std::uint64_t offset = 0;
  std::uint64_t packed_bytes = 0;
};

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i > 0; --i)
    value = value << 8U | static_cast<unsigned char>(bytes[at + i - 1]);
  return value;
}

class ZipFile {
 public:
  explicit ZipFile(const std::filesystem::path& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
      throw_errno(path.string(), "cannot unpack", errno);
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  /// What is there of the bytes that were asked for.
  std::string bytes(std::uint64_t offset, std::uint64_t size) const {
    std::string text(std::min(size, size_ - std::min(size_, offset)), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
      const auto got = ::pread(
          file_.get(), text.data() + done, text.size() - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw_errno(path_.string(), "cannot read", errno);
      if (got == 0) refuse("it changes");
      done += static_cast<std::size_t>(got);
    }
    return text;
  }

  /// Where the end record begins: its comment reaches to the end of the file.
  std::optional<std::uint64_t> end_record() const {
    constexpr std::uint64_t record = 22;
    const std::uint64_t searched = std::min<std::uint64_t>(size_, record + 0xffff);
    const std::string tail = bytes(size_ - searched, searched);
    if (tail.size() < record) return std::nullopt;
    for (std::size_t at = tail.size() - record;; --at) {
      if (std::string_view(tail).substr(at, 4) == "PK\x05\x06"sv &&
          at + record + number(tail, at + 20, 2) == tail.size()) {
        return size_ - searched + at;
      }
      if (at == 0) return std::nullopt;
    }
  }

  std::size_t check() const {
    const Place place = directory();
    std::vector<Member> members = members_of(place);
    std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return a.offset < b.offset;
    });
    std::uint64_t end = 0;
    for (const Member& member : members) {
      check_gap(end, member.offset);
      end = end_of(place, member);
    }
    check_gap(end, place.begin + place.offset);
    return members.size();
  }

  [[noreturn]] void refuse(const std::string& cause) const {
    throw Error(ErrorKind::integrity, printable(path_.string() + ": cannot be unpacked: " + cause));
  }

 private:
  Place directory() const {
    const auto end = end_record();
    if (!end) refuse("its directory is missing, with which a zip file ends");
    const std::string record = bytes(*end, 22);
    std::uint64_t directory_end = *end;
    Place place{0, number(record, 16, 4), number(record, 12, 4), number(record, 10, 2)};
    const std::string locator = *end < 20 ? std::string() : bytes(*end - 20, 20);
    if (locator.starts_with("PK\x06\x07"sv)) {
      constexpr std::uint64_t smallest = 56;
      directory_end = number(locator, 8, 8);
      std::string large = bytes(directory_end, smallest);
      if (!large.starts_with("PK\x06\x06"sv) && *end >= 20 + smallest) {
        directory_end = *end - 20 - smallest;  // other bytes lie before the file's own begin
        large = bytes(directory_end, smallest);
      }
      if (large.size() < smallest || !large.starts_with("PK\x06\x06"sv)) {
        refuse("its directory is damaged");
      }
      place = {0, number(large, 48, 8), number(large, 40, 8), number(large, 32, 8)};
    }
    if (place.size > directory_end || place.offset > directory_end - place.size) {
      refuse("its directory is damaged");
    }
    place.begin = directory_end - place.size - place.offset;
    return place;
  }

  std::vector<Member> members_of(const Place& place) const {
    const std::string text = bytes(place.begin + place.offset, place.size);
    std::vector<Member> members;
    std::size_t at = 0;
    while (at < text.size()) {
      constexpr std::size_t fixed = 46;
      const std::string_view record = std::string_view(text).substr(at);
      if (record.size() < fixed || !record.starts_with("PK\x01\x02"sv)) break;
      const std::size_t name = number(record, 28, 2);
      const std::size_t extra = number(record, 30, 2);
      const std::size_t whole = fixed + name + extra + number(record, 32, 2);
      if (record.size() < whole) break;
      members.push_back(member_of(place, record, record.substr(fixed + name, extra)));
      at += whole;
    }
    // Old programs write the number of more than 65,535 members without its upper bits.
    const bool is_number = members.size() == place.members ||
                           (place.members <= 0xffff && members.size() % 0x10000 == place.members);
    if (at != text.size() || !is_number) {
      refuse("its directory is damaged: it has " + std::to_string(members.size()) +
             " members, not " + std::to_string(place.members));
    }
    return members;
  }

  Member member_of(const Place& place, std::string_view record, std::string_view extra) const {
    Member member{std::string(record.substr(46, number(record, 28, 2))),
                  number(record, 42, 4),
                  number(record, 20, 4)};
    const bool has_large_size = number(record, 24, 4) == in_zip64;
    while (extra.size() >= 4) {
      const std::size_t size = number(extra, 2, 2);
      if (size > extra.size() - 4) break;
      if (number(extra, 0, 2) == 1) {
        // Only what did not fit above is there, in this order.
        std::string_view values = extra.substr(4, size);
        if (has_large_size && values.size() >= 8) values.remove_prefix(8);
        for (std::uint64_t* value : {&member.packed_bytes, &member.offset}) {
          if (*value != in_zip64 || values.size() < 8) continue;
          *value = number(values, 0, 8);
          values.remove_prefix(8);
        }
      }
      extra.remove_prefix(4 + size);
    }
    if (member.offset > size_ || member.packed_bytes > size_) {
      refuse(member.name + " does not lie where the directory says");
    }
    member.offset += place.begin;
    return member;
  }

  /// Where the member's data end. Its header before them has the same name as the directory.
  std::uint64_t end_of(const Place& place, const Member& member) const {
    constexpr std::size_t fixed = 30;
    const std::string header = bytes(member.offset, fixed + member.name.size());
    if (header.size() < fixed || !header.starts_with(local_mark)) {
      refuse(member.name + " does not lie where the directory says");
    }
    const std::size_t name = number(header, 26, 2);
    if (name != member.name.size() || header.substr(fixed) != member.name) {
      refuse(member.name + " has another name in the directory than in the file");
    }
    const std::uint64_t end =
        member.offset + fixed + name + number(header, 28, 2) + member.packed_bytes;
    if (end > place.begin + place.offset) refuse(member.name + " is cut short");
    return end;
  }

  /// Between two members may lie the sizes of the first, and what is not a member.
  void check_gap(std::uint64_t begin, std::uint64_t end) const {
    if (begin > end) refuse("two of its members overlap");
    constexpr std::uint64_t sizes = 24;
    const std::string gap =
        bytes(begin, std::min<std::uint64_t>(end - begin, sizes + local_mark.size()));
    if (gap.find(local_mark) != std::string::npos) {
      refuse("it holds a member that is not in its directory");
    }
  }

  std::filesystem::path path_;
  UniqueFd file_;
  std::uint64_t size_ = 0;
};

}  // namespace

bool has_zip_end(const std::filesystem::path& path) {
  return ZipFile(path).end_record().has_value();
}

std::size_t check_zip_directory(const std::filesystem::path& path) {
  return ZipFile(path).check();
}

}  // namespace sabath::base
