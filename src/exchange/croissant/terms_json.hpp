#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::exchange {

/// What the terms of Croissant do not say of an asset, as a merge patch of its document.
inline constexpr const char* patch_term = "sabath:asset";
/// The extension of an asset that keeps the document from which it was imported.
inline constexpr const char* kept_extension = "x-croissant";

/// Names of schema.org and of Croissant without their prefix, whatever a document writes before
/// them. No context is fetched: terms of a document's own context are looked up in it.
class Terms {
 public:
  explicit Terms(const nlohmann::json& root);

  /// "name" for "sc:name", "schema:name", "https://schema.org/name"; "fileSet" for "cr:fileSet".
  std::string short_name(std::string_view term) const;
  /// The member of a node by its short name; null where it has none.
  const nlohmann::json& member(const nlohmann::json& node, std::string_view name) const;
  /// The key that a node has for a short name; "" for none.
  std::string key_of(const nlohmann::json& node, std::string_view name) const;
  /// Whether the "@type" of a node has this short name.
  bool is_a(const nlohmann::json& node, std::string_view type) const;
  /// Contexts that a document refers to by an address.
  const std::vector<std::string>& foreign() const { return foreign_; }

 private:
  void add_context(const nlohmann::json& context);

  std::map<std::string, std::string, std::less<>> aliases_{};
  std::vector<std::string> foreign_{};
};

/// The text of a value: a text, a number, or the "@id", "@value", "url" or "name" of an object; of
/// a list the first. "" for anything else.
std::string text_in(const nlohmann::json& value);
/// Texts of a value that is one, or a list.
std::vector<std::string> texts_in(const nlohmann::json& value);
/// The items of a list; the value itself where it is not one; nothing of null.
std::vector<const nlohmann::json*> items_of(const nlohmann::json& value);

}  // namespace sabath::exchange
