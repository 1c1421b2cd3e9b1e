#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sabath::base {
namespace {

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
    if (!is_new) problems_.add(pointer_to(name), "the key stands twice");
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

  static std::string escaped(std::string text) {
    for (std::size_t at = 0; (at = text.find_first_of("~/", at)) != std::string::npos; at += 2) {
      text.replace(at, 1, text[at] == '~' ? "~0" : "~1");
    }
    return text;
  }

  std::string pointer_to(const std::string& name) const {
    std::string pointer;
    for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
      const Level& level = levels_[i];
      pointer += "/" + (level.value->is_array() ? std::to_string(level.index - 1)
                                                : escaped(level.member->first));
    }
    return pointer + "/" + escaped(name);
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

}  // namespace sabath::base
