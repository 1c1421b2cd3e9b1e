#pragma once

#include <sabath/base/process/process_identity.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/spec/environment_spec.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace sabath::env {

/// What is written down about one attempt: at its beginning as attempt.json (state "building"), at
/// its end as record.json (state "ready" or "failed").
struct AttemptRecord {
  std::string state = "building";
  spec::BuiltLayer layer{};
  base::ProcessIdentity builder{};
  std::string started{};  ///< RFC 3339
  double build_s = 0;
  PrefixSize size{};                             ///< of the finished prefix
  std::string problem{};                         ///< why it failed, one line
  std::map<std::string, std::string> present{};  ///< see EnvironmentLayer::build

  bool operator==(const AttemptRecord&) const = default;
};

/// Durable, and never replaced by half a file. Throws Error{storage}.
void write_attempt_record(const std::filesystem::path& path, const AttemptRecord& record);
/// Nothing when there is none, or none that this version can read: both mean "not ready".
std::optional<AttemptRecord> read_attempt_record(const std::filesystem::path& path);

}  // namespace sabath::env
