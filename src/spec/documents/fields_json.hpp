#pragma once

#include "member_rules.hpp"
#include "recipes/parameter_json.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/enum_words.hpp>
#include <sabath/spec/parameter.hpp>

#include <boost/preprocessor/seq/for_each.hpp>
#include <boost/preprocessor/stringize.hpp>
#include <boost/preprocessor/tuple/elem.hpp>
#include <boost/preprocessor/variadic/to_seq.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// The documents that sabath itself writes (plan, status, record, locks, facts) have one key for
// each member of a value. `describe(io, value)` lists them once, as io(key, member) or
// io(key, member, note). A FieldWriter makes the JSON of them, a FieldReader reads them back, and
// tests/unit/spec/schema_writer.hpp makes docs/formats/*.schema.json. The note is the description
// in the schema. SABATH_FIELDS lists members whose key is their name, SABATH_DESCRIBE those of a
// value that has no others.

#define SABATH_FIELD(r, io_and_value, member) \
  BOOST_PP_TUPLE_ELEM(0, io_and_value)        \
  (BOOST_PP_STRINGIZE(member), BOOST_PP_TUPLE_ELEM(1, io_and_value).member);
/// io("a", value.a); io("b", value.b); for `SABATH_FIELDS(io, value, a, b)`.
#define SABATH_FIELDS(io, value, ...) \
  BOOST_PP_SEQ_FOR_EACH(SABATH_FIELD, (io, value), BOOST_PP_VARIADIC_TO_SEQ(__VA_ARGS__))
/// The function `describe` of a type, for `SABATH_DESCRIBE(Type, a, b);`.
#define SABATH_DESCRIBE(type, ...)                   \
  template <class Io>                                \
  void describe(Io& io, FieldRef<Io, type> object) { \
    SABATH_FIELDS(io, object, __VA_ARGS__)           \
  }                                                  \
  static_assert(true)

namespace sabath::spec {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;

class FieldWriter {
 public:
  template <class T>
  using Ref = const T&;

  template <class T>
  void operator()(const char* key, const T& member, const char* = "") {
    json_[key] = written(member);
  }
  /// An absent value has no key.
  template <class T>
  void operator()(const char* key, const std::optional<T>& member, const char* = "") {
    if (member) json_[key] = written(*member);
  }
  /// A member of a document that people write.
  template <class T, class Rule>
  requires(!std::is_convertible_v<Rule, const char*>) void operator()(const char* key,
                                                                      const T& member,
                                                                      const Rule& rule,
                                                                      const char* = "") {
    if (!rule.presence.always && is_usual(rule, member)) return;
    json_[key] = written_by(rule, member);
  }
  nlohmann::ordered_json take() { return std::move(json_); }

  template <class T>
  static nlohmann::ordered_json written(const T& value) {
    if constexpr (std::is_same_v<T, double>) {
      return base::json_number(value);
    } else if constexpr (std::is_same_v<T, std::string> || std::is_integral_v<T>) {
      return value;
    } else if constexpr (std::is_enum_v<T>) {
      return std::string(to_string(value));
    } else if constexpr (std::is_same_v<T, base::Digest>) {
      return value.hex.empty() ? std::string() : value.text();
    } else if constexpr (std::is_same_v<T, ParameterValue>) {
      return to_json(value);
    } else if constexpr (std::is_same_v<T, std::chrono::seconds>) {
      return value.count();
    } else if constexpr (is_vector<T>) {
      auto array = nlohmann::ordered_json::array();
      for (const auto& item : value)
        array.push_back(written(item));
      return array;
    } else if constexpr (is_map<T>) {
      auto object = nlohmann::ordered_json::object();
      for (const auto& [name, item] : value)
        object[name] = written(item);
      return object;
    } else {
      FieldWriter io;
      describe(io, value);
      return io.take();
    }
  }

  /// The members of `value` as people write them.
  template <class Form>
  static nlohmann::ordered_json written_as(const typename Form::Value& value) {
    FieldWriter io;
    Form::describe(io, value);
    return io.take();
  }

 private:
  template <class Rule, class T>
  static nlohmann::ordered_json written_by(const Rule& rule, const std::optional<T>& value) {
    return written_by(rule, *value);
  }
  template <class Rule, class T>
  static nlohmann::ordered_json written_by(const Rule&, const T& value) {
    return written(value);
  }
  template <class Form, class T>
  static nlohmann::ordered_json written_by(const PartRule<Form>&, const T& value) {
    return written_as<Form>(value);
  }
  template <class Form, class T>
  static nlohmann::ordered_json written_by(const PartsRule<Form>&, const std::vector<T>& values) {
    auto array = nlohmann::ordered_json::array();
    for (const T& value : values)
      array.push_back(written_as<Form>(value));
    return array;
  }

  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

/// Every key must be there, but for absent optional values.
class FieldReader {
 public:
  template <class T>
  using Ref = T&;

  explicit FieldReader(base::JsonReader& reader) : reader_(reader) {}

  template <class T>
  void operator()(const char* key, T& member, const char* = "") {
    read(reader_.required(key), member);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& member, const char* = "") {
    base::JsonReader reader = reader_.optional(key);
    if (reader.exists()) read(reader, member.emplace());
  }

  /// A member of a document that people write.
  template <class T, class Rule>
  requires(!std::is_convertible_v<Rule, const char*>) void operator()(const char* key,
                                                                      T& member,
                                                                      const Rule& rule,
                                                                      const char* = "") {
    base::JsonReader reader =
        rule.presence.required ? reader_.required(key) : reader_.optional(key);
    if (reader.exists()) read_member(rule, reader, member);
  }

  /// An object as people write it.
  template <class Form>
  static void read_as(base::JsonReader& reader, typename Form::Value& value) {
    FieldReader io(reader);
    Form::describe(io, value);
    if constexpr (requires { Form::check(value, reader); }) Form::check(value, reader);
    reader.finish();
  }

  template <class T>
  static void read(base::JsonReader reader, T& value) {
    if constexpr (std::is_same_v<T, double>) {
      value = reader.number();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = reader.string();
    } else if constexpr (std::is_same_v<T, bool>) {
      value = reader.boolean();
    } else if constexpr (std::unsigned_integral<T>) {
      value = reader.unsigned_integer();
    } else if constexpr (std::signed_integral<T>) {
      value = narrowed<T>(reader);
    } else if constexpr (std::is_enum_v<T>) {
      value = *parse_enum<T>(reader.one_of(enum_words<T>()));
    } else if constexpr (std::is_same_v<T, base::Digest>) {
      value = read_digest(reader);
    } else if constexpr (std::is_same_v<T, ParameterValue>) {
      value = read_parameter_value(reader);
    } else if constexpr (std::is_same_v<T, std::chrono::seconds>) {
      value = read_seconds(reader);
    } else if constexpr (is_vector<T>) {
      for (const base::JsonReader& item : reader.items())
        read(item, value.emplace_back());
    } else if constexpr (is_map<T>) {
      for (const auto& [name, item] : reader.members())
        read(item, value[name]);
    } else {
      FieldReader io(reader);
      describe(io, value);
      reader.finish();
    }
  }

 private:
  template <class Rule, class T>
  static void read_member(const Rule& rule, base::JsonReader& reader, T& value) {
    read_by(rule, reader, value);
  }
  template <class Form, class T>
  static void read_member(const PartRule<Form>&, base::JsonReader& reader, T& value) {
    read_as<Form>(reader, value);
  }
  template <class Form, class T>
  static void read_member(const PartsRule<Form>& rule,
                          base::JsonReader& reader,
                          std::vector<T>& values) {
    std::vector<base::JsonReader> items = reader.items();
    for (base::JsonReader& item : items)
      read_as<Form>(item, values.emplace_back());
    if (rule.check != nullptr) rule.check(values, items);
  }

  static std::chrono::seconds read_seconds(base::JsonReader& reader) {
    const std::chrono::seconds value(reader.integer());
    if (value >= -base::longest_duration && value <= base::longest_duration) return value;
    reader.problem(std::to_string(value.count()) + " is out of range");
    return {};
  }

  template <class T>
  static T narrowed(base::JsonReader& reader) {
    const std::int64_t wide = reader.integer();
    if (!std::in_range<T>(wide)) {
      reader.problem(std::to_string(wide) + " is out of range");
      return 0;
    }
    return static_cast<T>(wide);
  }

  static base::Digest read_digest(base::JsonReader& reader) {
    const std::string text = reader.string();
    if (text.empty()) return {};
    const auto digest = base::parse_digest(text);
    if (!digest) reader.problem("'" + text + "' is not a digest", "a digest is 'sha256:<64 hex>'");
    return digest.value_or(base::Digest{});
  }

  base::JsonReader& reader_;
};

template <class Io, class T>
using FieldRef = typename Io::template Ref<T>;

}  // namespace sabath::spec
