#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/serve/server_record.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>

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

std::string record_text(const ServerRecord& record) {
  return base::pretty_json({{"process", record.process.text()},
                            {"url", record.url},
                            {"socket", record.socket},
                            {"token", record.token}});
}

}  // namespace

fs::path runtime_folder() {
  const base::Environment environment = base::current_environment();
  const auto given = environment.find("XDG_RUNTIME_DIR");
  const bool has_given = given != environment.end() && given->second.starts_with('/') &&
                         is_private_folder(given->second);
  fs::path folder = has_given ? fs::path(given->second) / "sabath"
                              : fs::path(fmt::format("/tmp/sabath-{}", ::geteuid()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    base::throw_errno(folder.string(), "cannot create", errno);
  if (is_private_folder(folder)) return folder;
  throw Error(ErrorKind::storage,
              folder.string() + ": is not a folder of this user alone",
              "remove it, or set XDG_RUNTIME_DIR to a folder with mode 0700");
}

ServerPlace::ServerPlace(fs::path folder, const fs::path& home)
    : folder_(std::move(folder)), key_(base::sha256_of(home.string()).hex.substr(0, 16)) {}

fs::path ServerPlace::file() const {
  return folder_ / fmt::format("{}.{}.json", key_, number_ > 0 ? number_ : newest());
}

unsigned ServerPlace::newest() const {
  unsigned newest = 0;
  std::error_code code;
  for (fs::directory_iterator at(folder_, code), end; !code && at != end; at.increment(code)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(key_ + ".") || !name.ends_with(".json")) continue;
    newest =
        std::max(newest, base::leading_number<unsigned>(name.substr(key_.size() + 1)).value_or(0));
  }
  return newest;
}

bool ServerPlace::take() {
  const std::string mine = record_text({base::ProcessIdentity::current(), "", "", ""});
  // Who loses against another one looks at the winner.
  while (true) {
    const unsigned last = newest();
    if (last > 0 && read()) return false;
    if (!base::write_file_once(folder_ / fmt::format("{}.{}.json", key_, last + 1), mine, 0600))
      continue;
    number_ = last + 1;
    std::error_code code;
    for (unsigned old = last; old > 0 && old + 100 > last; --old)
      fs::remove(folder_ / fmt::format("{}.{}.json", key_, old), code);
    fs::remove(socket(), code);  // of a server that was killed
    return true;
  }
}

std::optional<ServerRecord> ServerPlace::read() const {
  try {
    const fs::path place = file();
    const auto text = base::read_file_if_exists(place, most_record_bytes);
    if (!text) return std::nullopt;
    auto document = base::JsonDocument::parse(*text, place.string());
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
  base::write_file_atomically(file(), record_text(record), base::Durability::ordered_only, 0600);
}

void ServerPlace::forget() const noexcept {
  try {
    base::ProcessIdentity nobody = base::ProcessIdentity::current();
    nobody.pid = 0;
    write({nobody, "", "", ""});
  } catch (const Error&) {
    return;  // its process is gone in a moment
  }
}

}  // namespace sabath::serve
