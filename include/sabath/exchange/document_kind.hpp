#pragma once

#include <sabath/spec/enum_words.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace sabath::exchange {

/// What a file holds that sabath can take in or check, as `--from KIND` spells it.
enum class DocumentKind {
  table,
  asset,
  recipe,
  croissant,
  upstream,
  hpcfair,
  jsonld,
  crate,
  baseline,
  lock
};
constexpr auto words_of(DocumentKind) {
  return std::to_array<std::string_view>({"table",
                                          "asset",
                                          "recipe",
                                          "croissant",
                                          "upstream",
                                          "hpcfair",
                                          "jsonld",
                                          "crate",
                                          "baseline",
                                          "lock"});
}

/// Recognises a JSON document by its members. `crate` is the metadata document of an RO-Crate,
/// `upstream` a data set or model of the Python SABATH. Returns nothing for a document of another
/// kind. Throws Error{usage} with the place in `origin` where the text is not JSON.
std::optional<DocumentKind> kind_of_document(std::string_view text, const std::string& origin);

}  // namespace sabath::exchange
