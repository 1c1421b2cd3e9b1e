#include "metric_line.hpp"

#include <sabath/base/text/numbers.hpp>
#include <sabath/collect/number_text.hpp>

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sabath::collect {
namespace {

constexpr std::size_t max_name_length = 200;

/// "0x1.8p-3", "NaN", "Infinity", "-Infinity"; nothing else is a number in a string.
std::optional<base::ExactNumber> number_in_string(std::string_view text) {
  using Limits = std::numeric_limits<double>;
  if (text == "NaN") return base::ExactNumber{Limits::quiet_NaN()};
  if (text == "Infinity") return base::ExactNumber{Limits::infinity()};
  if (text == "-Infinity") return base::ExactNumber{-Limits::infinity()};
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (!digits.starts_with("0x") && !digits.starts_with("0X")) return std::nullopt;
  return exact_number_of(text);
}

bool is_metric_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name_length && std::ranges::none_of(name, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

/// The first name that is there twice; empty where there is none.
std::string_view name_twice(const MetricLine& line) {
  constexpr std::size_t few = 16;
  const auto& values = line.values;
  if (values.size() <= few) {
    for (std::size_t i = 1; i < values.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (values[i].first == values[j].first) return values[i].first;
      }
    }
    return {};
  }
  std::vector<std::string_view> names;
  for (const auto& [name, value] : values)
    names.push_back(name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  return twice == names.end() ? std::string_view() : *twice;
}

/// RapidJSON's handler: one flat object of numbers; nested only in the members that are a report.
class LineHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, LineHandler> {
 public:
  explicit LineHandler(MetricLine& line) : line_(line) {}

  bool Null() { return refuse("is null, not a number"); }
  bool Bool(bool) { return refuse("is true or false, not a number"); }
  /// Numbers come as they are written, so that no digit of a whole one is lost.
  bool RawNumber(const char* text, rapidjson::SizeType length, bool) {
    const std::string_view digits(text, length);
    if (const auto whole = base::number_in<std::int64_t>(digits)) return integer(*whole);
    if (const auto large = base::number_in<std::uint64_t>(digits)) return unsigned_integer(*large);
    if (is_index()) return place(digits);
    if (const auto number = exact_number_of(digits)) return real(*number);
    return refuse(number_problem(digits));
  }
  bool String(const char* text, rapidjson::SizeType length, bool) {
    if (part_ != Part::metrics) return report({text, length});
    if (key_ == "sample_order") return order({text, length});
    const auto value = number_in_string({text, length});
    if (is_index() || !value) return refuse("is a string, not a number");
    return number(*value);
  }
  bool StartObject() {
    if (++depth_ == 1) return true;
    if (part_ != Part::metrics || key_ != "seeds") return refuse("is an object, not a number");
    part_ = Part::seeds;
    return true;
  }
  bool EndObject(rapidjson::SizeType) {
    --depth_;
    part_ = Part::metrics;
    return true;
  }
  bool StartArray() {
    if (depth_ == 0) return refuse_line("is not a JSON object");
    if (part_ != Part::metrics || key_ != "sample_ids") return refuse("is an array, not a number");
    part_ = Part::sample_ids;
    line_.has_report = true;
    return true;
  }
  bool EndArray(rapidjson::SizeType) {
    part_ = Part::metrics;
    return true;
  }
  bool Key(const char* text, rapidjson::SizeType length, bool) {
    (part_ == Part::seeds ? seed_ : key_) = {text, length};
    if (part_ == Part::metrics && is_reserved_again()) return refuse("is there twice");
    if (!is_metric_name({text, length}))
      return refuse_line("has an empty, overlong or unprintable name");
    return true;
  }
  const std::string& problem() const { return problem_; }

 private:
  /// Which member's value it is in.
  enum class Part { metrics, sample_ids, seeds };

  bool is_index() const {
    return part_ == Part::metrics && depth_ > 0 && (key_ == "step" || key_ == "epoch");
  }

  /// Whether a name that is not a metric is there for the second time.
  bool is_reserved_again() {
    constexpr std::array<std::string_view, 6> reserved{
        "step", "epoch", "time", "sample_ids", "sample_order", "seeds"};
    const auto found = std::ranges::find(reserved, key_);
    if (found == reserved.end()) return false;
    bool& seen = seen_[static_cast<std::size_t>(found - reserved.begin())];
    return std::exchange(seen, true);
  }

  bool refuse(std::string_view what) {
    if (depth_ == 0) return refuse_line("is not a JSON object");
    problem_ = "'" + std::string(key_) + "' " + std::string(what);
    return false;
  }
  bool refuse_line(std::string_view what) {
    problem_ = what;
    return false;
  }

  /// A sample's id, or a seed.
  bool report(std::string_view text) {
    if (!is_metric_name(text)) return refuse("holds an empty, overlong or unprintable text");
    line_.has_report = true;
    if (part_ == Part::sample_ids) {
      line_.sample_ids.append(text);
      line_.sample_ids += '\n';
    } else {
      line_.seeds.emplace_back(seed_, text);
    }
    return true;
  }

  bool order(std::string_view text) {
    if (!is_metric_name(text)) return refuse("is empty, overlong or unprintable");
    line_.has_report = true;
    line_.sample_order = text;
    return true;
  }

  bool integer(std::int64_t value) {
    if (part_ != Part::metrics) return report(std::to_string(value));
    if (depth_ == 0) return refuse_line("is not a JSON object");
    if (key_ == "step") {
      line_.where.step = value;
    } else if (key_ == "epoch") {
      line_.where.epoch = value;
    } else {
      return number(base::exact_number(value));
    }
    return true;
  }

  bool unsigned_integer(std::uint64_t value) {
    if (part_ != Part::metrics) return report(std::to_string(value));
    if (is_index()) return refuse("is too large");
    return number(base::exact_number(value));
  }

  /// One that is not written as a whole number of 64 bits.
  bool real(const base::ExactNumber& value) {
    if (part_ != Part::metrics) return refuse("holds a number that is not whole");
    return number(value);
  }

  /// A step or epoch that is not written as a whole number of 64 bits.
  bool place(std::string_view digits) {
    if (const auto whole = whole_number_of(digits)) return integer(*whole);
    const auto value = number_of(digits);
    if (!value || !(std::abs(*value) < 9e15) || key_ != "epoch")
      return refuse("is not a whole number");
    line_.part_epoch = *value;
    return true;
  }

  bool number(const base::ExactNumber& value) {
    if (depth_ == 0) return refuse_line("is not a JSON object");
    if (key_ == "time") {
      line_.where.time_s = value.value;
    } else {
      line_.values.emplace_back(key_, value);
    }
    return true;
  }

  MetricLine& line_;
  int depth_ = 0;
  Part part_ = Part::metrics;
  std::string_view key_;        ///< in the line, which was parsed in place
  std::string_view seed_;       ///< the same: the name of a seed
  std::array<bool, 6> seen_{};  ///< reserved names
  std::string problem_;
};

}  // namespace

std::string parse_metric_line(std::string& line, MetricLine& result) {
  result.values.clear();
  result.where = {};
  result.part_epoch.reset();
  if (result.has_report) {
    result.has_report = false;
    result.sample_ids.clear();
    result.sample_order.clear();
    result.seeds.clear();
  }
  // To RapidJSON a NUL byte is the end of the text.
  if (line.find('\0') != std::string::npos) return "is not JSON: it has a NUL byte";
  constexpr unsigned flags = rapidjson::kParseInsituFlag | rapidjson::kParseNanAndInfFlag |
                             rapidjson::kParseNumbersAsStringsFlag |
                             rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag;
  LineHandler handler(result);
  rapidjson::InsituStringStream stream(line.data());
  rapidjson::Reader reader;
  const auto outcome = reader.Parse<flags>(stream, handler);
  if (!outcome.IsError()) {
    const std::string_view twice = name_twice(result);
    return twice.empty() ? "" : "'" + std::string(twice) + "' is there twice";
  }
  if (!handler.problem().empty()) return handler.problem();
  return std::string("is not JSON: ") + rapidjson::GetParseError_En(outcome.Code());
}

}  // namespace sabath::collect
