#pragma once

#include "enum_text.hpp"
#include "recipes/parameter_json.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/parameter.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// The documents that sabath itself writes (plan, status, record, locks, facts) have one key for
// each member of a value. `describe(io, value)` lists them once: a FieldWriter makes the JSON of
// them, a FieldReader reads them back, so that the two cannot disagree.

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
  void operator()(const char* key, const T& member) {
    json_[key] = written(member);
  }
  /// An absent value has no key.
  template <class T>
  void operator()(const char* key, const std::optional<T>& member) {
    if (member) json_[key] = written(*member);
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

 private:
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

/// Every key must be there, but for absent optional values.
class FieldReader {
 public:
  template <class T>
  using Ref = T&;

  explicit FieldReader(base::JsonReader& reader) : reader_(reader) {}

  template <class T>
  void operator()(const char* key, T& member) {
    read(reader_.required(key), member);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& member) {
    base::JsonReader reader = reader_.optional(key);
    if (reader.exists()) read(reader, member.emplace());
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
