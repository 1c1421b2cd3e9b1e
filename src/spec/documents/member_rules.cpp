#include "member_rules.hpp"

#include "amounts_json.hpp"
#include "checked_read.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/regex.hpp>

#include <algorithm>
#include <cmath>

namespace sabath::spec {

bool check_by(const TextRule& rule, const std::string& text, const base::JsonReader& reader) {
  const auto is_control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; };
  if (rule.one_line && std::any_of(text.begin(), text.end(), is_control)) {
    reader.problem("must not contain line breaks or other control characters");
    return false;
  }
  if (!rule.may_be_empty && text.empty()) {
    reader.problem("must not be empty");
    return false;
  }
  if (rule.check != nullptr) rule.check(text, reader);
  if (*rule.pattern == '\0' || base::Form(rule.pattern).matches(text)) return true;
  std::string problem = rule.problem;
  const auto place = problem.find('%');
  if (place != std::string::npos) problem.replace(place, 1, text);
  reader.problem(problem, rule.hint);
  return false;
}

bool check_by(const NameRule&, const std::string& text, const base::JsonReader& reader) {
  check_name(text, reader);
  return base::is_safe_name(text);
}

void read_by(const TextRule& rule, base::JsonReader& reader, std::string& value) {
  value = reader.string();
  if (reader.is_string()) check_by(rule, value, reader);
}

void read_by(const NameRule&, base::JsonReader& reader, std::string& value) {
  value = reader.name();
}

void read_by(const FlagRule&, base::JsonReader& reader, bool& value) {
  value = reader.boolean();
}

void read_by(const CountRule& rule, base::JsonReader& reader, int& value) {
  value = read_count(reader, rule.least, rule.least);
  if (value > rule.most) reader.problem("at most " + std::to_string(rule.most));
}

void read_by(const AmountRule& rule, base::JsonReader& reader, double& value) {
  value = reader.number();
  if (std::isfinite(value) && (rule.may_be_negative || value >= 0)) return;
  reader.problem(rule.may_be_negative ? "must be a finite number"
                                      : "must be a finite number that is not negative");
}

void read_by(const SizeRule&, base::JsonReader& reader, std::uint64_t& value) {
  value = read_size(reader);
}

void read_by(const TimeRule& rule, base::JsonReader& reader, std::chrono::seconds& value) {
  value = read_length_of_time(reader).value_or(rule.otherwise);
}

void read_by(const TimeRule&,
             base::JsonReader& reader,
             std::optional<std::chrono::seconds>& value) {
  value = read_length_of_time(reader);
}

}  // namespace sabath::spec
