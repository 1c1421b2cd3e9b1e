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

/// What a copy on a node's own disk is made of.
struct CopySource {
  std::string key{};                       ///< names the content: the digits of its digest
  std::filesystem::path path{};            ///< what is read where there is no copy
  std::function<std::uint64_t()> bytes{};  ///< that the copy takes
  /// Makes the copy, read-only, where nothing is yet.
  std::function<void(const std::filesystem::path& copy)> make{};
};

/// Of a file, or of a folder with all in it.
CopySource files_to_copy(const std::string& key,
                         const std::filesystem::path& path,
                         const std::stop_token& stop);

/// For whom a copy stays: as long as the node is not started anew, `while_there` is there, and
/// `until_there` is not.
struct Loan {
  std::string name{};
  std::filesystem::path while_there{};
  std::filesystem::path until_there{};
};

/// A copy of a file or folder on the node's own disk, as long as this lives. There is one of each
/// content for all processes of the user on the node. Whoever uses it last removes it; what was
/// left by processes that were killed is removed by the next one that comes.
class StagedCopy {
 public:
  /// Nothing where there is not room enough, the folder for copies is not this user's own, or
  /// copying fails, which is told: then the source is what there is. Throws Error{interrupted}.
  static std::optional<StagedCopy> make(const std::filesystem::path& folder,
                                        const CopySource& source,
                                        base::Clock& clock,
                                        base::Observer& observer,
                                        const std::stop_token& stop);
  /// The one that was lent to somebody. It is this process's, too, when that becomes another
  /// program.
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

  /// It is there for processes that are still to come, until `end_loan` or the loan lasts no more.
  /// Throws Error{storage}.
  void lend(const Loan& loan) const;
  /// Removes copies that were lent to somebody, unless others use them: those who do not yet have
  /// ended, as they must, are waited for a short while.
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
