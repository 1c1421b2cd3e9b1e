#pragma once

#include <sabath/base/process/process_identity.hpp>

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

/// The place of one server for one home, without a lock: files with numbers that only grow. Who
/// makes the next number has the place, as long as its process lives.
class ServerPlace {
 public:
  /// `home`: the folder that is served.
  ServerPlace(std::filesystem::path folder, const std::filesystem::path& home);

  /// Returns false while another process has the place.
  bool take();
  /// The server that has the place; without an address while it starts. Nothing where none runs.
  std::optional<ServerRecord> read() const;
  /// Tells others the address. To be called by who has the place.
  void write(const ServerRecord& record) const;
  /// Takes the address back; the number stays.
  void forget() const noexcept;
  std::filesystem::path socket() const { return folder_ / (key_ + ".sock"); }
  std::filesystem::path file() const;

 private:
  unsigned newest() const;

  std::filesystem::path folder_;
  std::string key_;
  unsigned number_ = 0;  ///< of this process's own file; 0: it has none
};

}  // namespace sabath::serve
