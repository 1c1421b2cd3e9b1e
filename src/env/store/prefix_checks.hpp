#pragma once

#include "attempt_record.hpp"

#include <sabath/base/digest.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::env {

/// Expectations of a recipe beyond the facts of a prefix, with their digest. Recipes with the same
/// packages share a prefix.
struct Expectations {
  std::vector<std::string> lines{};  ///< for people, too: "import numpy"
  base::Digest digest{};

  explicit Expectations(std::vector<std::string> lines_given);
};

/// Result of checking the expectations of a finished prefix.
struct CheckRecord {
  std::string state{};  ///< "passed" or "failed"
  std::vector<std::string> expected{};
  std::string checked{};  ///< RFC 3339
  std::string problem{};  ///< why it failed, one line
  std::string log{};
  std::map<std::string, std::string> present{};  ///< see EnvironmentLayer::check_expectations

  bool has_passed() const { return state == "passed"; }
};

/// Checks of one finished prefix, one file for each digest of expectations.
class PrefixChecks {
 public:
  /// Checks are kept beside the prefix where this user may write there, else in the user's own
  /// `state_directory`, if any.
  PrefixChecks(AttemptFolder attempt, const std::filesystem::path& state_directory);

  /// Finds a check. One that passed beside the prefix counts for all. A failure there may be
  /// another machine's: the user's own later check overrides it.
  std::optional<CheckRecord> find(const Expectations& expectations) const;
  /// Returns all readable checks, in any order.
  std::vector<CheckRecord> all() const;
  void keep(const Expectations& expectations, const CheckRecord& record) const;
  /// Returns the log for a later check; nothing where checks are not kept.
  std::optional<std::filesystem::path> log_of(const Expectations& expectations) const;

 private:
  std::filesystem::path beside() const;
  std::optional<std::filesystem::path> writable() const;

  AttemptFolder attempt_;
  std::filesystem::path own_{};
};

/// Adds the findings of the checks beside a prefix to `present`, so that a missing library is
/// noticed.
void add_checked(const AttemptFolder& attempt, std::map<std::string, std::string>& present);

/// Writes a check. Throws Error{storage}.
void write_check_record(const std::filesystem::path& path, const CheckRecord& record);
/// Reads a check. Nothing where it is missing or unreadable for this version.
std::optional<CheckRecord> read_check_record(const std::filesystem::path& path);

}  // namespace sabath::env
