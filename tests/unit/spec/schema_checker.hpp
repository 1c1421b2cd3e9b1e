#pragma once

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace sabath::test {

/// As much of JSON Schema (draft 2020-12) as the schemas in docs/formats use; a keyword that it
/// does not know is reported, so that no schema says something that nobody checks.
class SchemaChecker {
 public:
  /// `name` of docs/formats/<name>.schema.json.
  explicit SchemaChecker(const std::string& name);
  /// Every way in which `value` breaks the schema, each with its pointer.
  std::vector<std::string> problems(const nlohmann::json& value);
  /// The places of properties that the schema has and no checked value had: "stage.outputs".
  std::set<std::string> unused() const;

 private:
  const nlohmann::json& document(const std::string& file);
  void check(const nlohmann::json& value, const nlohmann::json& schema, const std::string& pointer);
  void check_keyword(const nlohmann::json& value,
                     const std::string& keyword,
                     const nlohmann::json& schema,
                     const std::string& pointer);
  void check_reference(const nlohmann::json& value,
                       const std::string& reference,
                       const std::string& pointer);
  void check_object(const nlohmann::json& value,
                    const nlohmann::json& schema,
                    const std::string& pointer);
  void check_alternatives(const nlohmann::json& value,
                          const std::string& keyword,
                          const nlohmann::json& schemas,
                          const std::string& pointer);
  void note_properties(const nlohmann::json& schema);
  void add(const std::string& pointer, const std::string& problem);

  std::string file_;
  std::map<std::string, nlohmann::json> documents_;
  std::vector<std::string> problems_;
  std::set<const nlohmann::json*> known_;
  std::set<const nlohmann::json*> used_;
  std::map<const nlohmann::json*, std::string> names_;
};

}  // namespace sabath::test
