#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/serve/server_record.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sabath::serve {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t most_record_bytes = 64U << 10U;

/// Whether it is a folder that only this user may enter.
bool is_private_folder(const fs::path& folder) {
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & 0077U) == 0;
}

}  // namespace

fs::path runtime_folder() {
  const char* given = std::getenv("XDG_RUNTIME_DIR");
  const bool has_given = given != nullptr && *given == '/' && is_private_folder(given);
  const fs::path folder =
      has_given ? fs::path(given) / "sabath" : fs::path(fmt::format("/tmp/sabath-{}", ::geteuid()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    base::throw_errno(folder.string(), "cannot create", errno);
  if (is_private_folder(folder)) return folder;
  throw Error(ErrorKind::storage,
              folder.string() + ": is not a folder of this user alone",
              "remove it, or set XDG_RUNTIME_DIR to a folder with mode 0700");
}

ServerPlace::ServerPlace(fs::path folder, const fs::path& home)
    : stem_(std::move(folder) / base::sha256_of(home.string()).hex.substr(0, 16)) {}

ServerPlace::~ServerPlace() {
  if (lock_) forget();
}

bool ServerPlace::take() {
  const std::string file = stem_.string() + ".lock";
  base::UniqueFd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) base::throw_errno(file, "cannot open", errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return false;
  lock_ = std::move(lock);
  std::error_code code;
  fs::remove(socket(), code);  // of a server that was killed
  return true;
}

std::optional<ServerRecord> ServerPlace::read() const {
  try {
    const auto text = base::read_file_if_exists(file(), most_record_bytes);
    if (!text) return std::nullopt;
    auto document = base::JsonDocument::parse(*text, file().string());
    base::JsonReader root = document.root();
    ServerRecord record;
    const auto process = base::ProcessIdentity::parse(root.required("process").string());
    record.url = root.required("url").string();
    record.socket = root.required("socket").string();
    record.token = root.required("token").string();
    root.finish();
    document.finish();
    if (!process || base::liveness_of(*process) == base::Liveness::gone) return std::nullopt;
    record.process = *process;
    return record;
  } catch (const Error&) {
    return std::nullopt;  // half a record is none
  }
}

void ServerPlace::write(const ServerRecord& record) const {
  const nlohmann::ordered_json value{{"process", record.process.text()},
                                     {"url", record.url},
                                     {"socket", record.socket},
                                     {"token", record.token}};
  base::write_file_atomically(
      file(), base::pretty_json(value), base::Durability::ordered_only, 0600);
}

void ServerPlace::forget() const noexcept {
  ::unlink(file().c_str());
}

}  // namespace sabath::serve
