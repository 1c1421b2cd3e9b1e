#include "mllog_line.hpp"

#include "repeated_member.hpp"

#include <sabath/collect/number_text.hpp>

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>

namespace sabath::collect {
namespace {

using rapidjson::Value;

std::string string_member(const Value& object, const char* name) {
  const auto found = object.FindMember(name);
  return found != object.MemberEnd() && found->value.IsString() ? std::string(text_of(found->value))
                                                                : std::string();
}

/// The object of a line again, with its numbers as texts; parsed only where a double is not enough.
class WrittenNumbers {
 public:
  explicit WrittenNumbers(std::string_view json) : json_(json) {}
  const Value& object() {
    if (!is_parsed_) {
      constexpr unsigned flags = rapidjson::kParseNanAndInfFlag | rapidjson::kParseIterativeFlag |
                                 rapidjson::kParseNumbersAsStringsFlag;
      texts_.Parse<flags>(json_.data(), json_.size());
      is_parsed_ = true;
    }
    return texts_;
  }

 private:
  std::string_view json_;
  rapidjson::Document texts_{};
  bool is_parsed_ = false;
};

/// The first of `names` that the metadata has as a whole number, or as the text of one. Sets
/// `not_whole`, if it is given, to the first number that is not.
std::int64_t whole_member(const Value& metadata,
                          std::initializer_list<const char*> names,
                          WrittenNumbers& written,
                          std::string* not_whole) {
  std::string refused;
  for (const char* name : names) {
    const auto found = metadata.FindMember(name);
    if (found == metadata.MemberEnd()) continue;
    if (found->value.IsInt64()) return found->value.GetInt64();
    if (!found->value.IsNumber() && !found->value.IsString()) continue;
    const std::string_view text = text_of(written.object()["metadata"][name]);
    if (const auto whole = whole_number_of(text)) return *whole;
    if (refused.empty() && is_not_whole(text)) refused = text;
  }
  if (not_whole != nullptr && not_whole->empty()) *not_whole = refused;
  return base::no_step;
}

/// How deeply brackets stand in one another, those in texts too: never less than it is.
int depth_of(std::string_view json) {
  int depth = 0;
  int deepest = 0;
  for (const char c : json) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

/// Whether the double is not all of the number, or may not be.
bool needs_digits(const Value& value) {
  if (!value.IsDouble()) return false;
  return value.GetDouble() == 0 || std::abs(value.GetDouble()) >= base::first_inexact_whole;
}

/// Takes the number `value` of `name`. `written`: the same as a text, or null. Returns its problem.
template <class Take>
std::string take_number(const Value& value,
                        const Value* written,
                        std::string_view name,
                        MllogEvent& event,
                        const Take& take) {
  std::optional<base::ExactNumber> number;
  if (value.IsInt64()) {
    number = base::exact_number(value.GetInt64());
  } else if (value.IsUint64()) {
    number = base::exact_number(value.GetUint64());
  } else if (written == nullptr || !needs_digits(value)) {
    number = base::ExactNumber{value.GetDouble()};
  } else {
    number = exact_number_of(text_of(*written));
    if (!number && value.GetDouble() == 0) return "'" + std::string(name) + "' is too small";
    if (!number) event.too_long = name;
  }
  if (number) take(*number);
  return {};
}

/// Takes the numbers of the value. Returns the problem of the first that has one.
std::string take_numbers(const Value& value, WrittenNumbers& written, MllogEvent& event) {
  if (value.IsNumber()) {
    return take_number(value,
                       needs_digits(value) ? &written.object()["value"] : nullptr,
                       "value",
                       event,
                       [&](const base::ExactNumber& number) { event.number = number; });
  }
  if (!value.IsObject()) return {};
  std::set<std::string_view> names;
  for (auto member = value.MemberBegin(); member != value.MemberEnd(); ++member) {
    const std::string_view name = text_of(member->name);
    if (!names.insert(name).second) return "'" + std::string(name) + "' is there twice";
    if (!member->value.IsNumber() || name.empty()) continue;
    const auto at = member - value.MemberBegin();
    const Value* const text = needs_digits(member->value)
                                  ? &(written.object()["value"].MemberBegin() + at)->value
                                  : nullptr;
    std::string problem =
        take_number(member->value, text, name, event, [&](const base::ExactNumber& number) {
          event.members.emplace_back(name, number);
        });
    if (!problem.empty()) return problem;
  }
  return {};
}

/// Returns the problem of the value.
std::string take_value(const Value& value, WrittenNumbers& written, MllogEvent& event) {
  if (value.IsNull()) return {};
  if (value.IsString()) {
    event.value = text_of(value);
    event.number = exact_number_of(event.value);
    const bool is_too_small = !event.number && number_problem(event.value) == "is too small";
    return is_too_small ? "'value' is too small" : "";
  }
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer,
                    rapidjson::UTF8<>,
                    rapidjson::UTF8<>,
                    rapidjson::CrtAllocator,
                    rapidjson::kWriteNanAndInfFlag>
      writer(buffer);
  value.Accept(writer);
  event.value.assign(buffer.GetString(), buffer.GetSize());
  return take_numbers(value, written, event);
}

void take_metadata(const Value& metadata, WrittenNumbers& written, MllogEvent& event) {
  event.where.epoch =
      whole_member(metadata, {"epoch_num", "first_epoch_num"}, written, &event.not_whole);
  event.where.step = whole_member(metadata, {"step_num", "step"}, written, &event.not_whole);
  if (event.where.step == base::no_step) {
    event.where.step = whole_member(metadata, {"samples_count"}, written, &event.not_whole);
    event.counts_samples = event.where.step != base::no_step;
  }
  event.status = string_member(metadata, "status");
  event.file = string_member(metadata, "file");
  const std::int64_t line_number = whole_member(metadata, {"lineno"}, written, nullptr);
  event.line = line_number == base::no_step ? 0 : line_number;
}

}  // namespace

std::optional<std::string> parse_mllog_line(std::string_view line, MllogEvent& event) {
  const std::size_t at = line.find(mllog_marker);
  if (at == std::string_view::npos) return std::nullopt;
  event = {};
  const std::string_view json = line.substr(at + mllog_marker.size());
  // To RapidJSON a NUL byte is the end of the text.
  if (json.find('\0') != std::string_view::npos) return "is not an MLLOG event: it has a NUL byte";
  // Writing a value again recurses into it.
  constexpr int max_depth = 100;
  if (depth_of(json) > max_depth) return "is not an MLLOG event: nested too deeply";
  rapidjson::Document document;
  constexpr unsigned flags = rapidjson::kParseNanAndInfFlag | rapidjson::kParseFullPrecisionFlag |
                             rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag;
  document.Parse<flags>(json.data(), json.size());
  if (document.HasParseError()) {
    return std::string("is not an MLLOG event: ") +
           rapidjson::GetParseError_En(document.GetParseError());
  }
  if (!document.IsObject()) return "is not an MLLOG event: not a JSON object";
  const std::string twice =
      repeated_among(document, {"key", "event_type", "value", "time_ms", "metadata"});
  if (!twice.empty()) return twice;
  event.key = string_member(document, "key");
  if (event.key.empty()) return "is not an MLLOG event: it has no key";
  event.event_type = string_member(document, "event_type");
  WrittenNumbers written(json);
  if (const auto value = document.FindMember("value"); value != document.MemberEnd()) {
    const std::string problem = take_value(value->value, written, event);
    if (!problem.empty()) return problem;
  }
  if (const auto time = document.FindMember("time_ms");
      time != document.MemberEnd() && time->value.IsNumber()) {
    event.where.time_s = time->value.GetDouble() / 1000.0;
  }
  const auto metadata = document.FindMember("metadata");
  if (metadata == document.MemberEnd() || !metadata->value.IsObject()) return std::string();
  const std::string problem = repeated_among(metadata->value,
                                             {"epoch_num",
                                              "first_epoch_num",
                                              "step_num",
                                              "step",
                                              "samples_count",
                                              "status",
                                              "file",
                                              "lineno"});
  if (!problem.empty()) return problem;
  take_metadata(metadata->value, written, event);
  return std::string();
}

}  // namespace sabath::collect
