#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/spec/enum_words.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/parameter.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

enum class AssetKind { dataset, model, tool };
constexpr auto words_of(AssetKind) {
  return std::to_array<std::string_view>({"dataset", "model", "tool"});
}

/// One file of an asset and where its bytes can be had.
struct AssetFile {
  std::string path{};  ///< relative, beneath the asset
  std::optional<std::uint64_t> size_bytes{};
  std::vector<base::Digest> digests{};  ///< all that are given are checked
  std::vector<std::string> sources{};   ///< URLs; several are mirrors; the order is a preference
  std::string unpack{};                 ///< "", "tar", "zip", "gz", "bz2", "xz" or "zst"
  /// The most bytes that it may become. Nothing: a hundred times its own, and 256 MiB in any case.
  std::optional<std::uint64_t> unpacked_bytes{};

  bool operator==(const AssetFile&) const = default;
};

/// Is the file an archive whose entries belong to the asset, instead of the file itself?
bool is_archive(const AssetFile& file);
/// The path of what comes of the file: without ".gz" and the like where that is unpacked. Of an
/// archive the folder that its entries come into ("" for the asset's own).
std::string unpacked_path(const AssetFile& file);

/// Who may have the bytes. With policy "login" `steps` tell a person what to do.
struct Access {
  std::string policy = "open";  ///< "open" or "login"
  std::vector<std::string> steps{};
  std::string credential{};  ///< a label for messages

  bool operator==(const Access&) const = default;
};

/// An asset that is computed: a stage of a recipe makes it.
struct Generator {
  std::string recipe{};
  std::string stage{};

  bool operator==(const Generator&) const = default;
};

/// What can be done with an asset once it is here: `sabath fetch ASSET --apply SCRIPT`.
struct AssetScript {
  std::string name{};
  std::string description{};
  std::vector<std::string> command{};  ///< with {asset} {output} {arg.NAME} {script.NAME}
  std::vector<Parameter> arguments{};  ///< by name; others that the command names must be given
  std::vector<std::string> outputs{};  ///< relative to {output}
  std::vector<std::string> needs{};    ///< scripts that run before

  bool operator==(const AssetScript&) const = default;
};

/// Where a model's code comes from.
struct CodeSource {
  std::string git{};
  std::string commit{};  ///< 40 hexadecimal digits; empty where the code is open
  std::vector<std::string> patches{};
  std::string open{};  ///< why no commit is known; such a model can be described but not executed

  bool operator==(const CodeSource&) const = default;
};

/// A data set, a model or a tool, as its document says.
struct Asset {
  AssetKind kind = AssetKind::dataset;
  std::string name{};
  std::string version{};
  std::string title{};
  std::string description{};
  std::vector<std::string> keywords{};
  std::string license{};
  std::string citation{};
  std::string homepage{};
  std::string identifier{};
  std::string task{};
  std::string metrics{};
  std::string withdrawn{};  ///< why the data are gone; the description outlives them
  Access access{};
  // The bytes come from one of the next four; `base` and `limit` go with `list` and `manifest`.
  std::vector<AssetFile> files{};
  std::string list{};                    ///< URL of a text that lists files, or of a folder
  std::vector<AssetFile> manifest{};     ///< many files; none is unpacked
  std::string base{};                    ///< URL that relative paths begin with
  std::optional<std::uint64_t> limit{};  ///< only the first so many
  std::optional<Generator> generate{};
  std::vector<AssetScript> scripts{};
  std::optional<CodeSource> code{};
  std::string framework{};
  std::string format{};
  std::optional<EnvironmentSpec> environment{};
  std::map<std::string, std::string> parameters{};  ///< descriptive: name -> JSON text of the value
  /// Members of the document that begin with "x-": name -> JSON text of the value.
  std::map<std::string, std::string> extensions{};

  bool operator==(const Asset&) const = default;
};

/// Names that a document had before it was imported: it is found by them, too.
std::vector<std::string> former_names(const Asset& asset);

/// Reads an asset document strictly. `origin` (a path) begins every message. Throws Error{usage}
/// with all problems.
Asset parse_asset(std::string_view text, const std::string& origin);
nlohmann::ordered_json to_json(const Asset& asset);

}  // namespace sabath::spec
