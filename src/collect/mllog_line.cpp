#include "mllog_line.hpp"

#include <sabath/collect/number_text.hpp>

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace sabath::collect {
namespace {

using rapidjson::Value;

std::string_view text_of(const Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

std::string string_member(const Value& object, const char* name) {
  const auto found = object.FindMember(name);
  return found != object.MemberEnd() && found->value.IsString() ? std::string(text_of(found->value))
                                                                : std::string();
}

/// The first of `names` that `object` has as a whole number.
std::int64_t whole_member(const Value& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.FindMember(name);
    if (found == object.MemberEnd()) continue;
    if (found->value.IsInt64()) return found->value.GetInt64();
    if (!found->value.IsDouble()) continue;
    const double value = found->value.GetDouble();
    if (std::abs(value) < 9e15 && std::trunc(value) == value)
      return static_cast<std::int64_t>(value);
  }
  return base::no_step;
}

/// The first number of `names`, where it is not whole.
std::optional<double> part_member(const Value& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.FindMember(name);
    if (found == object.MemberEnd() || !found->value.IsDouble()) continue;
    const double value = found->value.GetDouble();
    if (std::isfinite(value) && std::trunc(value) != value) return value;
  }
  return std::nullopt;
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

bool needs_digits(const Value& value) {
  return value.IsDouble() && std::abs(value.GetDouble()) >= base::first_inexact_whole;
}

/// `written`: the same as a text, or null.
std::optional<base::ExactNumber> number_in(const Value& value, const Value* written) {
  if (value.IsInt64()) return base::exact_number(value.GetInt64());
  if (value.IsUint64()) return base::exact_number(value.GetUint64());
  if (written == nullptr) return base::ExactNumber{value.GetDouble()};
  return base::exact_decimal(text_of(*written), value.GetDouble());
}

void take_numbers(const Value& value, std::string_view json, MllogEvent& event) {
  const auto lacks_digits = [](const auto& member) { return needs_digits(member.value); };
  const bool is_object = value.IsObject();
  const bool is_lacking = is_object
                              ? std::any_of(value.MemberBegin(), value.MemberEnd(), lacks_digits)
                              : needs_digits(value);
  rapidjson::Document texts;
  if (is_lacking) {
    constexpr unsigned flags = rapidjson::kParseNanAndInfFlag | rapidjson::kParseIterativeFlag |
                               rapidjson::kParseNumbersAsStringsFlag;
    texts.Parse<flags>(json.data(), json.size());
  }
  const Value* const written = is_lacking ? &texts["value"] : nullptr;
  if (value.IsNumber()) event.number = number_in(value, written);
  if (!is_object) return;
  for (auto member = value.MemberBegin(); member != value.MemberEnd(); ++member) {
    if (!member->value.IsNumber() || member->name.GetStringLength() == 0) continue;
    const auto at = member - value.MemberBegin();
    const auto number =
        number_in(member->value, is_lacking ? &(written->MemberBegin() + at)->value : nullptr);
    if (number) event.members.emplace_back(text_of(member->name), *number);
  }
}

/// `json` is the line's object.
void take_value(const Value& value, std::string_view json, MllogEvent& event) {
  if (value.IsNull()) return;
  if (value.IsString()) {
    event.value = text_of(value);
    event.number = exact_number_of(event.value);
    return;
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
  take_numbers(value, json, event);
}

}  // namespace

std::optional<std::string> parse_mllog_line(std::string_view line, MllogEvent& event) {
  const std::size_t at = line.find(mllog_marker);
  if (at == std::string_view::npos) return std::nullopt;
  event = {};
  const std::string_view json = line.substr(at + mllog_marker.size());
  // To RapidJSON a NUL byte is the end of the text.
  if (json.find('\0') != std::string_view::npos) return "is no MLLOG event: it has a NUL byte";
  // Writing a value again recurses into it.
  constexpr int max_depth = 100;
  if (depth_of(json) > max_depth) return "is no MLLOG event: nested too deeply";
  rapidjson::Document document;
  constexpr unsigned flags = rapidjson::kParseNanAndInfFlag | rapidjson::kParseFullPrecisionFlag |
                             rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag;
  document.Parse<flags>(json.data(), json.size());
  if (document.HasParseError()) {
    return std::string("is no MLLOG event: ") +
           rapidjson::GetParseError_En(document.GetParseError());
  }
  if (!document.IsObject()) return "is no MLLOG event: not a JSON object";
  event.key = string_member(document, "key");
  if (event.key.empty()) return "is no MLLOG event: it has no key";
  event.event_type = string_member(document, "event_type");
  if (const auto value = document.FindMember("value"); value != document.MemberEnd()) {
    take_value(value->value, json, event);
  }
  if (const auto time = document.FindMember("time_ms");
      time != document.MemberEnd() && time->value.IsNumber()) {
    event.where.time_s = time->value.GetDouble() / 1000.0;
  }
  const auto metadata = document.FindMember("metadata");
  if (metadata == document.MemberEnd() || !metadata->value.IsObject()) return std::string();
  event.where.epoch = whole_member(metadata->value, {"epoch_num", "first_epoch_num"});
  if (event.where.epoch == base::no_step)
    event.part_epoch = part_member(metadata->value, {"epoch_num", "first_epoch_num"});
  event.where.step = whole_member(metadata->value, {"step_num", "step"});
  if (event.where.step == base::no_step) {
    event.where.step = whole_member(metadata->value, {"samples_count"});
    event.counts_samples = event.where.step != base::no_step;
  }
  event.status = string_member(metadata->value, "status");
  event.file = string_member(metadata->value, "file");
  const std::int64_t line_number = whole_member(metadata->value, {"lineno"});
  event.line = line_number == base::no_step ? 0 : line_number;
  return std::string();
}

}  // namespace sabath::collect
