#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sabath::base {
namespace {

/// The pointer to a member of what `parent` points to.
std::string pointer_to(const std::string& parent, std::string_view key) {
  std::string pointer;
  pointer.reserve(parent.size() + key.size() + 1);
  pointer.append(parent) += '/';
  for (const char c : key) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

void JsonProblems::add(const std::string& pointer,
                       const std::string& problem,
                       const std::string& hint) {
  messages_.push_back(
      printable(origin_ + ":" + (pointer.empty() ? "/" : pointer) + ": " + problem));
  if (hint_.empty()) hint_ = printable(hint);
}

void JsonProblems::throw_if_any() const {
  if (messages_.empty()) return;
  std::string text;
  for (const std::string& message : messages_)
    text += (text.empty() ? "" : "\n") + message;
  throw Error(ErrorKind::usage, text, hint_);
}

JsonReader::JsonReader(const nlohmann::json* value, std::string pointer, JsonProblems* problems)
    : value_(value), pointer_(std::move(pointer)), problems_(problems) {}

const nlohmann::json& JsonReader::json() const {
  static const nlohmann::json null;
  return value_ == nullptr ? null : *value_;
}

void JsonReader::problem(const std::string& text, const std::string& hint) const {
  problems_->add(pointer_, text, hint);
}

JsonReader JsonReader::required(std::string_view key) {
  JsonReader member = optional(key);
  if (!member.exists() && is_object()) problem("'" + std::string(key) + "' is missing");
  return member;
}

JsonReader JsonReader::optional(std::string_view key) {
  asked_.emplace_back(key);
  std::string pointer = pointer_to(pointer_, key);
  if (value_ == nullptr) return {nullptr, std::move(pointer), problems_};
  if (!value_->is_object()) {
    if (asked_.size() == 1) problem("must be an object, not " + std::string(value_->type_name()));
    return {nullptr, std::move(pointer), problems_};
  }
  const auto& members = value_->get_ref<const nlohmann::json::object_t&>();
  const auto found = members.find(key);
  const bool is_there = found != members.end() && !found->second.is_null();
  return {is_there ? &found->second : nullptr, std::move(pointer), problems_};
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() {
  std::vector<std::pair<std::string, JsonReader>> result;
  if (value_ == nullptr) return result;
  if (!value_->is_object()) {
    problem("must be an object, not " + std::string(value_->type_name()));
    return result;
  }
  result.reserve(value_->size());
  for (const auto& [key, value] : value_->items()) {
    result.emplace_back(key, JsonReader(&value, pointer_to(pointer_, key), problems_));
  }
  return result;
}

std::vector<JsonReader> JsonReader::items() {
  std::vector<JsonReader> result;
  if (value_ == nullptr) return result;
  if (!value_->is_array()) {
    problem("must be an array, not " + std::string(value_->type_name()));
    return result;
  }
  result.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    result.emplace_back(&(*value_)[i], pointer_ + "/" + std::to_string(i), problems_);
  }
  return result;
}

void JsonReader::finish() {
  if (value_ == nullptr || !value_->is_object()) return;
  for (const auto& [key, value] : value_->items()) {
    if (key.starts_with("x-")) continue;
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const std::string hint = did_you_mean(key, asked_, "known keys are " + joined(asked_));
    problems_->add(pointer_to(pointer_, key), "unknown key '" + key + "'", hint);
  }
}

bool JsonReader::is_string() const {
  return json().is_string();
}
bool JsonReader::is_object() const {
  return json().is_object();
}
bool JsonReader::is_array() const {
  return json().is_array();
}
bool JsonReader::is_number() const {
  return json().is_number();
}
bool JsonReader::is_integer() const {
  return json().is_number_integer();
}
bool JsonReader::is_boolean() const {
  return json().is_boolean();
}

std::string JsonReader::string() {
  if (value_ == nullptr) return {};
  if (value_->is_string()) return value_->get<std::string>();
  problem("must be a string, not " + std::string(value_->type_name()));
  return {};
}

std::int64_t JsonReader::integer() {
  if (value_ == nullptr) return 0;
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > largest) {
    problem("is too large for a 64-bit integer");
    return 0;
  }
  if (value_->is_number_integer()) return value_->get<std::int64_t>();
  problem("must be an integer, not " + value_->dump());
  return 0;
}

std::uint64_t JsonReader::unsigned_integer() {
  if (value_ == nullptr) return 0;
  if (value_->is_number_unsigned()) return value_->get<std::uint64_t>();
  problem("must be an integer that is not negative, not " + value_->dump());
  return 0;
}

double JsonReader::number() {
  if (value_ == nullptr) return 0;
  if (value_->is_number()) return value_->get<double>();
  if (value_->is_string()) {
    const auto& text = value_->get_ref<const std::string&>();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  }
  problem("must be a number, not " + value_->dump());
  return 0;
}

bool JsonReader::boolean() {
  if (value_ == nullptr) return false;
  if (value_->is_boolean()) return value_->get<bool>();
  problem("must be true or false, not " + value_->dump());
  return false;
}

std::vector<std::string> JsonReader::strings() {
  std::vector<std::string> result;
  for (JsonReader& item : items())
    result.push_back(item.string());
  return result;
}

std::string JsonReader::one_of(const std::vector<std::string>& values) {
  if (value_ == nullptr || !value_->is_string()) {
    string();
    return values.front();
  }
  std::string text = string();
  if (std::find(values.begin(), values.end(), text) != values.end()) return text;
  problem("'" + text + "' is none of " + joined(values), did_you_mean(text, values));
  return values.front();
}

std::string JsonReader::name() {
  std::string text = string();
  if (value_ != nullptr && value_->is_string() && !is_safe_name(text)) {
    problem(
        "'" + text + "' is not a name",
        "a name has lower-case letters, digits, '.', '_' and '-', begins with a letter or digit, "
        "and is at most 64 long");
  }
  return text;
}

std::string JsonReader::relative_path() {
  std::string text = string();
  if (value_ != nullptr && value_->is_string() && !is_safe_relative_path(text)) {
    problem("'" + text + "' is not a relative path that stays in its folder",
            "no leading '/', no '..'");
  }
  return text;
}

}  // namespace sabath::base
