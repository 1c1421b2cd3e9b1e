#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::base {

/// Collector of the problems of one document; throws them together.
class JsonProblems {
 public:
  explicit JsonProblems(std::string origin) : origin_(std::move(origin)) {}
  void add(const std::string& pointer, const std::string& problem, const std::string& hint = {});
  bool empty() const noexcept { return messages_.empty(); }
  /// Error{usage} with one line "origin:pointer: problem" for each problem, if there are any. The
  /// first hint is the error's; a further one stands behind its problem.
  void throw_if_any() const;
  const std::string& origin() const noexcept { return origin_; }

 private:
  std::string origin_;
  std::vector<std::string> messages_;
  std::string hint_;
};

/// A cursor at one value of a strictly read document. Notes each problem with its JSON pointer and
/// continues with a default, so that all problems are reported at once. Use: `auto document =
/// JsonDocument::parse(text, origin); auto r = document.root(); ... r.finish(); document.finish();`
class JsonReader {
 public:
  JsonReader(const nlohmann::json* value, std::string pointer, JsonProblems* problems);

  bool exists() const noexcept { return value_ != nullptr; }
  const std::string& pointer() const noexcept { return pointer_; }
  const nlohmann::json& json() const;  ///< for *_json.cpp only
  void problem(const std::string& text, const std::string& hint = {}) const;

  /// The member `key` of an object; a missing one is a problem (then `exists()` is false and reads
  /// give defaults).
  JsonReader required(std::string_view key, const std::string& hint = {});
  /// The member `key`, or a reader for which `exists()` is false, silently. A JSON null counts as
  /// missing.
  JsonReader optional(std::string_view key);
  /// The members of an object that is a dictionary: every key is a name.
  std::vector<std::pair<std::string, JsonReader>> members();
  /// The items of an array.
  std::vector<JsonReader> items();
  /// Notes every member that was neither requested nor begins with "x-", with the nearest known
  /// key.
  void finish();

  bool is_string() const;
  bool is_object() const;
  bool is_array() const;
  bool is_number() const;
  bool is_integer() const;
  bool is_boolean() const;

  std::string string();
  std::int64_t integer();  ///< JSON integers only
  std::uint64_t unsigned_integer();
  double number();  ///< any JSON number, and "NaN", "Infinity", "-Infinity" as strings
  bool boolean();
  std::vector<std::string> strings();
  /// `string()` that must be one of `values`; else a problem with the nearest one, or `hint`, and
  /// the first is returned.
  std::string one_of(const std::vector<std::string>& values, const std::string& hint = {});
  /// `string()` that must be a safe name, or a safe relative path.
  std::string name();
  std::string relative_path(bool may_be_folder = false);

 private:
  const nlohmann::json* value_;
  std::string pointer_;
  JsonProblems* problems_;
  std::vector<std::string> asked_;
};

/// A parsed document. Duplicate keys, invalid UTF-8, trailing text and too deep nesting are errors.
class JsonDocument {  // NOLINT: move-only, copies are deleted implicitly
 public:
  /// Throws Error{usage} "origin:line:column: problem" when the text is not JSON; duplicate keys
  /// are noted as problems.
  static JsonDocument parse(std::string_view text, const std::string& origin);
  /// Reads and parses a file; its path is the origin.
  static JsonDocument load(const std::filesystem::path& path);
  ~JsonDocument();
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  JsonReader root();
  /// Throws all problems noted so far, if any.
  void finish() const;

 private:
  struct State;
  explicit JsonDocument(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Text of a value as sabath writes it: two blanks of indentation, and a final newline. A double
/// has the shortest text that reads back to the same bits. The caller makes non-finite doubles
/// strings with `json_number`.
std::string pretty_json(const nlohmann::ordered_json& value);
/// Text of a value in one line, with its keys in their order, for programs that read it at once.
std::string compact_json(const nlohmann::ordered_json& value);
/// One line with sorted keys: what is digested. Equal values give equal bytes.
std::string canonical_json(const nlohmann::json& value);
/// A double as JSON: a number, or "NaN", "Infinity", "-Infinity".
nlohmann::json json_number(double value);

}  // namespace sabath::base
