#pragma once

#include <sabath/base/text/json_reader.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

// What the members of documents may be that people write: io(key, member, rule, note). A member
// that is missing keeps its default, and one that has its default is not written. Reader, writer
// and schema use the same rule.

namespace sabath::spec {

/// What every rule says.
struct Presence {
  bool required = false;  ///< a document without the member is wrong
  bool always = false;    ///< written although it has its default
};
inline constexpr Presence required{true, true};
inline constexpr Presence always{false, true};

/// A text.
struct TextRule {
  const char* pattern = "";  ///< of the whole text (base::Form); empty: any
  const char* problem = "";  ///< of a text without that form; '%' stands for it
  const char* hint = "";
  bool one_line = false;  ///< no control characters but the tab
  bool may_be_empty = true;
  void (*check)(const std::string&, const base::JsonReader&) = nullptr;  ///< what else to look at
  Presence presence{};
};
/// A name, by base::is_safe_name.
struct NameRule {
  Presence presence{};
};
struct FlagRule {
  Presence presence{};
};
/// An integer.
struct CountRule {
  int least = 0;
  int most = std::numeric_limits<int>::max();
  Presence presence{};
};
/// A finite number.
struct AmountRule {
  bool may_be_negative = false;
  Presence presence{};
};
/// A number of bytes, or a text such as "4 GiB".
struct SizeRule {
  Presence presence{};
};
/// A length of time above 0: seconds, or a text such as "10m".
struct TimeRule {
  std::chrono::seconds otherwise{};
  Presence presence{};
};
/// A list of texts.
template <class Item>
struct ListRule {
  Item item{};
  bool distinct = true;
  bool may_be_empty = true;
  Presence presence{};
};
template <class Key, class Item>
struct MapRule {
  Key key{};
  Item item{};
  Presence presence{};
};
/// An object. `Form` has the function `describe(io, value)`, and `check(value, reader)` for what
/// depends on several members.
template <class Form>
struct PartRule {
  Presence presence{};
};
/// A list of objects.
template <class Form>
struct PartsRule {
  void (*check)(const std::vector<typename Form::Value>&, std::vector<base::JsonReader>&) = nullptr;
  Presence presence{};
};

/// Rules of several documents.
inline constexpr TextRule filled_text{.may_be_empty = false};
inline constexpr TextRule one_line_text{.one_line = true};
inline constexpr TextRule filled_line{.one_line = true, .may_be_empty = false};
inline constexpr TextRule absolute_path{.pattern = "/[\\s\\S]*",
                                        .problem = "'%' is not an absolute path"};
inline constexpr TextRule variable_name{.pattern = "[A-Za-z_][A-Za-z0-9_]*",
                                        .problem = "'%' is not the name of a variable",
                                        .hint = "letters, digits and '_', not a digit first"};
/// RFC 3986, in lower case for comparisons.
inline constexpr TextRule url_scheme{
    .pattern = "[a-z][a-z0-9+.-]*",
    .problem = "'%' is not a scheme",
    .hint = "lower-case letters, digits, '+', '-' and '.', a letter first; without '://'"};
inline constexpr TextRule resource_name{.pattern = "nodes|tasks|cpus|gpus|memory|time",
                                        .problem = "'%' is not a resource of a job",
                                        .hint = "one of nodes, tasks, cpus, gpus, memory, time"};

/// Notes what is wrong with a text; false: something is.
bool check_by(const TextRule& rule, const std::string& text, const base::JsonReader& reader);
bool check_by(const NameRule& rule, const std::string& text, const base::JsonReader& reader);

void read_by(const TextRule& rule, base::JsonReader& reader, std::string& value);
void read_by(const NameRule& rule, base::JsonReader& reader, std::string& value);
void read_by(const FlagRule& rule, base::JsonReader& reader, bool& value);
void read_by(const CountRule& rule, base::JsonReader& reader, int& value);
void read_by(const AmountRule& rule, base::JsonReader& reader, double& value);
void read_by(const SizeRule& rule, base::JsonReader& reader, std::uint64_t& value);
void read_by(const TimeRule& rule, base::JsonReader& reader, std::chrono::seconds& value);
void read_by(const TimeRule& rule,
             base::JsonReader& reader,
             std::optional<std::chrono::seconds>& value);

template <class Rule, class T>
void read_by(const Rule& rule, base::JsonReader& reader, std::optional<T>& value) {
  read_by(rule, reader, value.emplace());
}
template <class Item>
void read_by(const ListRule<Item>& rule,
             base::JsonReader& reader,
             std::vector<std::string>& value) {
  std::set<std::string> seen;
  for (base::JsonReader& item : reader.items()) {
    std::string& text = value.emplace_back();
    read_by(rule.item, item, text);
    if (rule.distinct && item.is_string() && !seen.insert(text).second)
      item.problem("'" + text + "' stands twice");
  }
  if (!rule.may_be_empty && reader.is_array() && value.empty()) reader.problem("must not be empty");
}
template <class Key, class Item>
void read_by(const MapRule<Key, Item>& rule,
             base::JsonReader& reader,
             std::map<std::string, std::string>& value) {
  for (auto& [name, item] : reader.members()) {
    check_by(rule.key, name, item);
    read_by(rule.item, item, value[name]);
  }
}

/// Has the member its default?
template <class Rule, class T>
bool is_usual(const Rule&, const T& value) {
  return value == T{};
}
inline bool is_usual(const TimeRule& rule, const std::chrono::seconds& value) {
  return value == rule.otherwise;
}

}  // namespace sabath::spec
