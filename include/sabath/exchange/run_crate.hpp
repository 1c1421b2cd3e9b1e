#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/asset.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::exchange {

/// The names of members that every crate of a run has.
inline constexpr const char* crate_metadata = "ro-crate-metadata.json";
inline constexpr const char* crate_manifest = "manifest-sha256.txt";
inline constexpr const char* crate_readme = "README.md";

/// A member of a crate as it was written.
struct CrateMember {
  std::string path{};
  std::uint64_t size_bytes = 0;
  base::Digest digest{};
};

/// What a crate of one run says, beside its members.
struct CrateRun {
  spec::RunRecord record{};
  std::string license{};               ///< an SPDX identifier, or a text
  std::vector<CrateMember> members{};  ///< without the metadata
  std::vector<spec::Asset> inputs{};   ///< documents of the run's inputs, as far as they are known
  std::string derived_from{};          ///< digest of the record that this one was made of
};

/// The metadata document of a Process Run Crate 0.5 in RO-Crate 1.1: the same bytes for the same
/// run.
std::string process_crate(const CrateRun& run);

/// The same of a Provenance Run Crate 0.5: the recipe is a workflow, each stage a step of it.
std::string provenance_crate(const CrateRun& run);

/// A page about the crate for people.
std::string crate_page(const CrateRun& run);

/// What a crate of several runs says, beside its members.
struct CrateGroup {
  std::string name{};
  std::vector<std::string> runs{};     ///< their ids
  std::set<std::string> licenses{};    ///< of the runs
  std::string published{};             ///< when the last run had ended
  std::vector<CrateMember> members{};  ///< without the metadata
};

/// The metadata document, an RO-Crate 1.1, of several runs: each is a crate of its own.
std::string group_crate(const CrateGroup& group);
/// A page about it for people.
std::string group_page(const CrateGroup& group);

/// What the metadata of a crate state of one of its files.
struct StatedMember {
  std::string path{};
  std::optional<std::uint64_t> size_bytes{};
  bool has_digest = false;               ///< a `sha256` stands there
  std::optional<base::Digest> digest{};  ///< nothing: none, or one that is not of the form
};

/// Reads the files of a metadata document. Throws Error{usage} for a text that is not JSON.
std::vector<StatedMember> stated_members(std::string_view metadata);

/// The manifest: "<64 hexadecimal digits>  <member>" for each member, sorted by name.
std::string write_manifest(const std::vector<CrateMember>& members);

/// Reads a manifest: member -> digest. Throws Error{integrity} with the line that is wrong.
std::map<std::string, base::Digest> read_manifest(std::string_view text);

}  // namespace sabath::exchange
