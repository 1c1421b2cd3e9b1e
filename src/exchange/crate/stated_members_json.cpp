#include "croissant/terms_json.hpp"

#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/exchange/run_crate.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sabath::exchange {
namespace {

using nlohmann::json;

bool is_file_of_crate(const json& entity) {
  if (!entity.is_object() || !entity.contains("@type") || !entity.contains("@id")) return false;
  const auto types = texts_in(entity["@type"]);
  const std::string id = text_in(entity["@id"]);
  return std::ranges::find(types, "File") != types.end() && !id.starts_with('#') &&
         id.find("://") == std::string::npos;
}

}  // namespace

std::vector<StatedMember> stated_members(std::string_view metadata) {
  base::JsonDocument document = base::JsonDocument::parse(metadata, crate_metadata);
  const json& root = document.root().json();
  std::vector<StatedMember> members;
  if (!root.is_object() || !root.contains("@graph")) return members;
  for (const json& entity : root["@graph"]) {
    if (!is_file_of_crate(entity)) continue;
    StatedMember member;
    member.path = base::percent_decoded(text_in(entity["@id"]));
    if (entity.contains("contentSize"))
      member.size_bytes = base::number_in<std::uint64_t>(text_in(entity["contentSize"]));
    if (entity.contains("sha256")) {
      member.has_digest = true;
      member.digest = base::parse_digest(base::DigestAlgorithm::sha256, text_in(entity["sha256"]));
    }
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace sabath::exchange
