#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/write_access.hpp>
#include <sabath/home/dated_folder.hpp>

#include <cerrno>
#include <random>

#include <sys/random.h>
#include <sys/stat.h>

namespace sabath::home {
namespace {

std::string dated_name(const std::string& name,
                       std::size_t letters,
                       const std::string& first,
                       base::WallTime now) {
  const std::string time = base::format_rfc3339(now);
  std::string end = first;
  std::uint64_t bits = random_bits();
  while (end.size() < letters) {
    end += static_cast<char>('a' + bits % 26);
    bits /= 26;
  }
  const auto digits = [&](std::size_t from, std::size_t length) {
    return time.substr(from, length);
  };
  return name + "-" + digits(0, 4) + digits(5, 2) + digits(8, 2) + "-" + digits(11, 2) +
         digits(14, 2) + digits(17, 2) + "-" + end;
}

}  // namespace

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof(bits), 0) != static_cast<ssize_t>(sizeof(bits))) {
    std::random_device device;
    bits = (std::uint64_t{device()} << 32U) | device();
  }
  return bits;
}

std::filesystem::path make_dated_folder(const std::filesystem::path& parent,
                                        const std::string& name,
                                        int letters,
                                        base::Clock& clock,
                                        const std::string& first) {
  base::make_directories(parent);
  require_fixed(parent.parent_path());
  require_fixed(parent);
  while (true) {
    std::filesystem::path directory =
        parent / dated_name(name, static_cast<std::size_t>(letters), first, clock.now());
    if (::mkdir(directory.c_str(), 0755) == 0) return directory;
    if (errno != EEXIST) base::throw_errno(directory.string(), "cannot make the folder", errno);
  }
}

void require_fixed(const std::filesystem::path& folder) {
  std::error_code code;
  if (!std::filesystem::exists(folder, code) || !base::can_others_exchange(folder)) return;
  throw base::Error(
      base::ErrorKind::storage,
      folder.string() + ": others can exchange what is in it; nothing is written there",
      "chmod go-w " + folder.string() + ", or set SABATH_HOME to another folder");
}

}  // namespace sabath::home
