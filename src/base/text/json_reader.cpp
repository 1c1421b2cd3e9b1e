#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>
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
  return fmt::format("{}", fmt::join(words, ", "));
}

using nlohmann::json;

constexpr std::size_t max_depth = 64;

/// Builds the value and notices what nlohmann's own parser lets pass: duplicate keys and deep
/// nesting.
class StrictBuilder : public nlohmann::json_sax<json> {
 public:
  StrictBuilder(json& root, JsonProblems& problems) : root_(root), problems_(problems) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  /// Not moved: the parser's buffer has room for its longest string, and stays in use.
  bool string(string_t& value) override { return put(value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    const auto [member, is_new] = level.value->get_ref<json::object_t&>().try_emplace(name);
    if (!is_new) problems_.add(pointer_to(pointer_here(), name), "the key stands twice");
    level.member = &*member;
    return true;
  }

  bool parse_error(std::size_t position,
                   const std::string&,
                   const nlohmann::detail::exception& error) override {
    position_ = position;
    message_ = error.what();
    return false;
  }

  bool is_too_deep() const { return too_deep_; }
  std::size_t position() const { return position_; }
  const std::string& message() const { return message_; }

 private:
  struct Level {
    json* value;
    json::object_t::value_type* member = nullptr;  ///< whose key was read last; of an object
    std::size_t index = 0;
  };

  std::string pointer_here() const {
    std::string pointer;
    for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
      const Level& level = levels_[i];
      const bool is_array = level.value->is_array();
      pointer =
          pointer_to(pointer, is_array ? std::to_string(level.index - 1) : level.member->first);
    }
    return pointer;
  }

  json* place(json&& value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = levels_.back();
    if (level.value->is_array()) {
      level.value->push_back(std::move(value));
      ++level.index;
      return &level.value->back();
    }
    return &(level.member->second = std::move(value));
  }

  bool put(json value) {
    place(std::move(value));
    return true;
  }

  bool open(json value) {
    if (levels_.size() >= max_depth) {
      too_deep_ = true;
      return false;
    }
    json* placed = place(std::move(value));
    levels_.push_back({placed});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  json& root_;
  JsonProblems& problems_;
  std::vector<Level> levels_;
  bool too_deep_ = false;
  std::size_t position_ = 0;
  std::string message_;
};

/// nlohmann's "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error ..."
/// and "[json.exception.out_of_range.406] number overflow ..." reduced to their cause.
std::string cause_of(const std::string& message) {
  const bool has_place = message.find("parse error at ") != std::string::npos;
  const std::string_view before = has_place ? ": " : "] ";
  const auto at = message.find(before);
  std::string cause = at == std::string::npos ? message : message.substr(at + before.size());
  const auto last_read = cause.find("; last read");
  return last_read == std::string::npos ? cause : cause.substr(0, last_read);
}

std::string place_of(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position > 0 ? position - 1 : 0);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto newline = before.rfind('\n');
  const std::size_t column =
      newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return std::to_string(line) + ":" + std::to_string(column);
}

}  // namespace

void JsonProblems::add(const std::string& pointer,
                       const std::string& problem,
                       const std::string& hint) {
  const bool is_further = !hint.empty() && !hint_.empty() && hint_ != printable(hint);
  messages_.push_back(printable(origin_ + ":" + (pointer.empty() ? "/" : pointer) + ": " + problem +
                                (is_further ? " (" + hint + ")" : "")));
  if (hint_.empty()) hint_ = printable(hint);
}

void JsonProblems::throw_if_any() const {
  if (messages_.empty()) return;
  throw Error(ErrorKind::usage, fmt::format("{}", fmt::join(messages_, "\n")), hint_);
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

JsonReader JsonReader::required(std::string_view key, const std::string& hint) {
  JsonReader member = optional(key);
  if (!member.exists() && is_object()) problem("'" + std::string(key) + "' is missing", hint);
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
    std::vector<std::string> known;
    for (const std::string& one : asked_)
      if (std::ranges::find(known, one) == known.end()) known.push_back(one);
    const std::string hint = did_you_mean(key, known, "known keys are " + joined(known));
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

std::string JsonReader::one_of(const std::vector<std::string>& values, const std::string& hint) {
  if (value_ == nullptr || !value_->is_string()) {
    string();
    return values.front();
  }
  std::string text = string();
  if (std::find(values.begin(), values.end(), text) != values.end()) return text;
  problem("'" + text + "' is not one of " + joined(values), did_you_mean(text, values, hint));
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

std::string JsonReader::relative_path(bool may_be_folder) {
  std::string text = string();
  std::string_view path = text;
  if (may_be_folder && path.ends_with('/')) path.remove_suffix(1);
  if (value_ != nullptr && value_->is_string() && !is_safe_relative_path(path)) {
    problem("'" + text + "' is not a relative path that stays in its folder",
            "no leading '/', no '..'");
  }
  return text;
}

/// The value of a document and the problems of its reading; readers point into both.
struct JsonDocument::State {
  explicit State(const std::string& origin) : problems(origin) {}
  json value;
  JsonProblems problems;
};

JsonDocument::JsonDocument(std::unique_ptr<State> state) : state_(std::move(state)) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

namespace {

/// Two people changed the document, and git could not merge it.
void refuse_unmerged(std::string_view text, const std::string& origin) {
  constexpr std::string_view mark = "<<<<<<< ";
  std::size_t at = text.find(mark);
  while (at != std::string_view::npos && at > 0 && text[at - 1] != '\n')
    at = text.find(mark, at + 1);
  if (at == std::string_view::npos || text.find("\n>>>>>>> ", at) == std::string_view::npos) return;
  throw Error(ErrorKind::usage,
              origin + ":" + place_of(text, at + 1) +
                  ": two people changed it, and their changes are not merged",
              "keep one of the two parts between '<<<<<<<' and '>>>>>>>'");
}

}  // namespace

JsonDocument JsonDocument::parse(std::string_view text, const std::string& origin) {
  // To the parser below a NUL byte is the end of the text.
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
    throw Error(ErrorKind::usage,
                origin + ":" + place_of(text, at + 1) + ": not valid JSON: it has a NUL byte");
  }
  auto state = std::make_unique<State>(origin);
  StrictBuilder builder(state->value, state->problems);
  if (!json::sax_parse(text.begin(), text.end(), &builder)) {
    if (builder.is_too_deep()) {
      throw Error(ErrorKind::usage,
                  origin + ": nested more than " + std::to_string(max_depth) + " levels deep");
    }
    refuse_unmerged(text, origin);
    throw Error(ErrorKind::usage,
                origin + ":" + place_of(text, builder.position()) +
                    ": not valid JSON: " + cause_of(builder.message()));
  }
  return JsonDocument(std::move(state));
}

JsonDocument JsonDocument::load(const std::filesystem::path& path) {
  return parse(read_file(path), path.string());
}

JsonReader JsonDocument::root() {
  return {&state_->value, "", &state_->problems};
}

void JsonDocument::finish() const {
  state_->problems.throw_if_any();
}

std::string pretty_json(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string compact_json(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string canonical_json(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

}  // namespace sabath::base
