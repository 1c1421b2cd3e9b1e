#include "json_record.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/collect/number_text.hpp>

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <cmath>

namespace sabath::collect {
namespace {

using rapidjson::Value;

const Value* member_of(const Value& object, const std::string& name) {
  const auto found = object.FindMember(
      Value(rapidjson::StringRef(name.data(), static_cast<rapidjson::SizeType>(name.size()))));
  return found == object.MemberEnd() ? nullptr : &found->value;
}

/// Numbers are read as texts, which lose no digit.
std::string_view text_in(const Value& value) {
  if (!value.IsString()) return {};
  return {value.GetString(), value.GetStringLength()};
}

/// Nobody asked for these: where they are something else, it is not known.
std::int64_t whole_in(const Value& object, const std::string& name, JsonRecord& result) {
  const Value* value = member_of(object, name);
  if (value == nullptr) return base::no_step;
  if (const auto whole = whole_number_of(text_in(*value))) return *whole;
  const auto number = number_of(text_in(*value));
  if (number && std::abs(*number) < 9e15) result.not_whole = *number;
  return base::no_step;
}

}  // namespace

std::string parse_json_record(std::string_view line,
                              const std::vector<const spec::MetricSpec*>& wanted,
                              JsonRecord& result) {
  result = {};
  // To RapidJSON a NUL byte is the end of the text.
  if (line.find('\0') != std::string_view::npos) return "is not JSON: it has a NUL byte";
  rapidjson::Document document;
  constexpr unsigned flags = rapidjson::kParseNanAndInfFlag |
                             rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseIterativeFlag;
  document.Parse<flags>(line.data(), line.size());
  if (document.HasParseError())
    return std::string("is not JSON: ") + rapidjson::GetParseError_En(document.GetParseError());
  if (!document.IsObject()) return "is not a JSON object";
  result.where.step = whole_in(document, "step", result);
  result.where.epoch = whole_in(document, "epoch", result);
  if (const Value* time = member_of(document, "time"); time != nullptr) {
    if (const auto seconds = seconds_of(text_in(*time))) result.where.time_s = *seconds;
  }
  for (const spec::MetricSpec* metric : wanted) {
    const Value* value = member_of(document, metric->key());
    if (value == nullptr || value->IsNull()) continue;
    const auto number = exact_number_of(text_in(*value));
    if (!number) {
      return "'" + base::printable(metric->key()) +
             (number_of(text_in(*value)) ? "' has more digits than can be kept" : "' is no number");
    }
    result.values.emplace_back(metric, *number);
  }
  return {};
}

}  // namespace sabath::collect
