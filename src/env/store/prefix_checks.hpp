#pragma once

#include "key_folder.hpp"

#include <sabath/base/digest.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::env {

/// What a recipe expects of a prefix beyond what identifies it, and its digest: recipes with the
/// same packages share a prefix.
struct Expectations {
  std::vector<std::string> lines{};  ///< for people, too: "import numpy"
  base::Digest digest{};

  explicit Expectations(std::vector<std::string> lines_given);
};

/// What came of looking whether a finished prefix meets them.
struct CheckRecord {
  std::string state{};  ///< "passed" or "failed"
  std::vector<std::string> expected{};
  std::string checked{};  ///< RFC 3339
  std::string problem{};  ///< why it failed, one line
  std::string log{};
  std::map<std::string, std::string> present{};  ///< see EnvironmentLayer::check_expectations

  bool has_passed() const { return state == "passed"; }
};

/// The checks of one finished prefix, a file for each digest of expectations.
class PrefixChecks {
 public:
  /// They are kept beside the prefix by whoever may write there, else in the user's own
  /// `state_directory`, else nowhere.
  PrefixChecks(AttemptFolder attempt, const std::filesystem::path& state_directory);

  /// What passed beside the prefix passed for all; a failure there may have been another machine's,
  /// so that the user's own later check goes before it.
  std::optional<CheckRecord> find(const Expectations& expectations) const;
  /// All that can be read, in no order.
  std::vector<CheckRecord> all() const;
  void keep(const Expectations& expectations, const CheckRecord& record) const;
  /// Where a later check may write what it says; nothing where nothing is kept.
  std::optional<std::filesystem::path> log_of(const Expectations& expectations) const;

 private:
  std::filesystem::path beside() const;
  std::optional<std::filesystem::path> writable() const;

  AttemptFolder attempt_;
  std::filesystem::path own_{};
};

/// Adds what the checks beside a prefix found to `present`, so that a library that goes is missed.
void add_checked(const AttemptFolder& attempt, std::map<std::string, std::string>& present);

/// Throws Error{storage}.
void write_check_record(const std::filesystem::path& path, const CheckRecord& record);
/// Nothing where there is none that this version can read.
std::optional<CheckRecord> read_check_record(const std::filesystem::path& path);

}  // namespace sabath::env
