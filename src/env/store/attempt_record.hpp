#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/env/prefix.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::env {

/// Beginning of the name of the folder in which an image of an attempt is made.
constexpr std::string_view packing_beginning = ".pack-";

/// Folder of one attempt to build a layer, with the places of its files.
struct AttemptFolder {
  std::filesystem::path path{};

  std::filesystem::path prefix() const { return path / "prefix"; }
  std::filesystem::path work() const { return path / "work"; }
  std::filesystem::path log() const { return path / "build.log"; }
  std::filesystem::path beginning() const { return path / "attempt.json"; }
  std::filesystem::path record() const { return path / "record.json"; }
};

/// Record of one attempt: written first as attempt.json (state "building"), at the end as
/// record.json (state "ready" or "failed").
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

/// Writes durably and atomically. Throws Error{storage}.
void write_attempt_record(const std::filesystem::path& path, const AttemptRecord& record);
/// Reads a record. Nothing where it is missing or unreadable for this version: both mean "not
/// ready".
std::optional<AttemptRecord> read_attempt_record(const std::filesystem::path& path);
/// The same for the text of one.
std::optional<AttemptRecord> parse_attempt_record(const std::string& text);

/// Returns sha256("sabath-env/1\n" + canonical JSON of {"facts": facts, "kind": kind}). The facts
/// identify the layer, its platform and the layer before it, so that a lock explains its key. A
/// change in how sabath builds needs a new number.
base::Digest layer_key(spec::LayerKind kind, const std::map<std::string, std::string>& facts);

}  // namespace sabath::env
