#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::execution {

/// Source of a copy on a node's own disk.
struct CopySource {
  std::string key{};                       ///< digits of the content's digest
  std::filesystem::path path{};            ///< that is read without a copy
  std::function<std::uint64_t()> bytes{};  ///< of the copy
  /// Creates the copy, read-only, where nothing exists yet.
  std::function<void(const std::filesystem::path& copy)> make{};
};

/// Returns the source for a file, or for a directory with everything in it.
CopySource files_to_copy(const std::string& key,
                         const std::filesystem::path& path,
                         const std::stop_token& stop);

/// Conditions under which a copy stays for a later process: the node is not restarted,
/// `while_there` exists, and `until_there` does not.
struct Loan {
  std::string name{};
  std::filesystem::path while_there{};
  std::filesystem::path until_there{};
};

/// A copy of a file or directory on the node's own disk, as long as this lives. All processes of
/// the user on the node share one copy of each content. The last user removes it. The next process
/// removes what killed processes left.
class StagedCopy {
 public:
  /// Returns nothing where there is too little room, the directory for copies belongs to another
  /// user, or copying fails, with a warning. Throws Error{interrupted}.
  static std::optional<StagedCopy> make(const std::filesystem::path& folder,
                                        const CopySource& source,
                                        base::Clock& clock,
                                        base::Observer& observer,
                                        const std::stop_token& stop);
  /// Finds a copy that was kept for a later process. It stays this process's when the process
  /// becomes another program.
  static std::optional<StagedCopy> find(const std::filesystem::path& folder,
                                        const std::string& key,
                                        const std::string& name,
                                        base::Clock& clock) noexcept;
  ~StagedCopy();
  StagedCopy(StagedCopy&& other) noexcept;
  StagedCopy& operator=(StagedCopy&&) = delete;
  StagedCopy(const StagedCopy&) = delete;
  StagedCopy& operator=(const StagedCopy&) = delete;

  std::filesystem::path path() const { return place_ / "data"; }

  /// Keeps the copy for processes that come later, until `end_loans` or the end of the loan's
  /// conditions. Throws Error{storage}.
  void lend(const Loan& loan) const;
  /// Removes copies that were kept for later processes, unless others use them. Waits a short while
  /// for users that are about to end.
  static void end_loans(const std::filesystem::path& folder,
                        const std::vector<std::string>& keys,
                        const std::string& name,
                        base::Clock& clock) noexcept;

 private:
  explicit StagedCopy(std::filesystem::path place) : place_(std::move(place)) {}
  static std::optional<StagedCopy> try_make(const std::filesystem::path& folder,
                                            const CopySource& source,
                                            base::Clock& clock,
                                            base::Observer& observer,
                                            const std::stop_token& stop);
  std::filesystem::path place_;
};

}  // namespace sabath::execution
