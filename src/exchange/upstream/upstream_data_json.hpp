#pragma once

#include <sabath/base/text/json_reader.hpp>
#include <sabath/exchange/upstream.hpp>

#include <map>
#include <string>
#include <vector>

namespace sabath::exchange {

/// A data set with what commands of models ask of it.
struct UpstreamData {
  std::string file{};  ///< name of the document
  ImportedAsset imported{};
  std::map<std::string, std::string> paths{};  ///< of fragments by their id, as commands see them
};

/// Reads a document with "fragments".
UpstreamData read_upstream_data(base::JsonReader root, const std::string& file);

/// The extension that keeps what has no other place; both names of the document are in it.
void keep_upstream_name(spec::Asset& asset, const std::string& file, const std::string& name);
void keep_upstream(spec::Asset& asset, const std::string& member, const nlohmann::json& value);

}  // namespace sabath::exchange
