#include "json_record.hpp"

#include <sabath/base/text_table.hpp>
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

std::optional<double> number_in(const Value& value) {
  if (value.IsNumber()) return value.GetDouble();
  if (!value.IsString()) return std::nullopt;
  return number_of({value.GetString(), value.GetStringLength()});
}

/// Nobody asked for these: where they are something else, it is not known.
std::int64_t whole_in(const Value& object, const std::string& name, JsonRecord& result) {
  const Value* value = member_of(object, name);
  if (value == nullptr) return base::no_step;
  if (value->IsInt64()) return value->GetInt64();
  const auto number = number_in(*value);
  if (!number || !(std::abs(*number) < 9e15)) return base::no_step;
  if (std::trunc(*number) == *number) return static_cast<std::int64_t>(*number);
  result.not_whole = *number;
  return base::no_step;
}

}  // namespace

std::string parse_json_record(std::string_view line,
                              const std::vector<const spec::MetricSpec*>& wanted,
                              JsonRecord& result) {
  result = {};
  rapidjson::Document document;
  constexpr unsigned flags = rapidjson::kParseNanAndInfFlag | rapidjson::kParseFullPrecisionFlag |
                             rapidjson::kParseIterativeFlag;
  document.Parse<flags>(line.data(), line.size());
  if (document.HasParseError())
    return std::string("is not JSON: ") + rapidjson::GetParseError_En(document.GetParseError());
  if (!document.IsObject()) return "is not a JSON object";
  result.where.step = whole_in(document, "step", result);
  result.where.epoch = whole_in(document, "epoch", result);
  if (const Value* time = member_of(document, "time"); time != nullptr) {
    if (time->IsNumber()) result.where.time_s = time->GetDouble();
    if (time->IsString()) {
      const auto seconds = seconds_of({time->GetString(), time->GetStringLength()});
      if (seconds) result.where.time_s = *seconds;
    }
  }
  for (const spec::MetricSpec* metric : wanted) {
    const Value* value = member_of(document, metric->key());
    if (value == nullptr || value->IsNull()) continue;
    const auto number = number_in(*value);
    if (!number) return "'" + base::printable(metric->key()) + "' is no number";
    result.values.emplace_back(metric, *number);
  }
  return {};
}

}  // namespace sabath::collect
