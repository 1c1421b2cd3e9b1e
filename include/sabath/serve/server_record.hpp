#pragma once

#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/unique_fd.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::serve {

/// A server that runs on this machine, as others of the same user find it. It has the token: its
/// file is readable by its owner only.
struct ServerRecord {
  base::ProcessIdentity process{};
  std::string url{};     ///< of a TCP server; else empty
  std::string socket{};  ///< of a server on a Unix socket; else empty
  std::string token{};
};

/// A folder of this user alone on a file system of this machine: in XDG_RUNTIME_DIR, else in /tmp.
/// Throws Error{storage} where another user could write there.
std::filesystem::path runtime_folder();

/// The place of one server for one home. While an object lives it is taken.
class ServerPlace {
 public:
  /// `home`: the folder that is served.
  ServerPlace(std::filesystem::path folder, const std::filesystem::path& home);
  ~ServerPlace();
  ServerPlace(const ServerPlace&) = delete;
  ServerPlace& operator=(const ServerPlace&) = delete;

  /// Returns false while another process has the place.
  bool take();
  /// The server that has the place; nothing where none runs.
  std::optional<ServerRecord> read() const;
  void write(const ServerRecord& record) const;
  /// Removes what `write` wrote.
  void forget() const noexcept;
  std::filesystem::path socket() const { return stem_.string() + ".sock"; }
  std::filesystem::path file() const { return stem_.string() + ".json"; }

 private:
  std::filesystem::path stem_;
  base::UniqueFd lock_{};
};

}  // namespace sabath::serve
