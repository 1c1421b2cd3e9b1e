#include "extractors.hpp"
#include "line_reader.hpp"
#include "mllog_line.hpp"
#include "printed_unit.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/collect/number_text.hpp>

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::collect {
namespace {

/// After so many lines on which a pattern ran out of steps it is given up: a log has millions.
constexpr std::uint64_t too_hard_limit = 10;

/// What `from` says and `to` does not.
void fill(base::SeriesPoint& to, const base::SeriesPoint& from) {
  if (to.step == base::no_step) to.step = from.step;
  if (to.epoch == base::no_step) to.epoch = from.epoch;
  if (std::isnan(to.time_s)) to.time_s = from.time_s;
}

std::optional<std::int32_t> rank_of(std::string_view text) {
  const auto whole = whole_number_of(text);
  if (!whole || *whole < 0 || !std::in_range<std::int32_t>(*whole)) return std::nullopt;
  return static_cast<std::int32_t>(*whole);
}

/// Searches one pattern line by line for the metrics in its groups. Groups called step, epoch, time
/// and rank locate a value: in the same match, or else on the same line. A match without a value
/// sets step and epoch for the following lines. A step or epoch that points cannot have (half an
/// epoch) is omitted and reported.
class PatternSearch {
 public:
  /// Group of what follows a value and belongs to it: "/50" of "45/50". Such a value is not a
  /// number.
  static constexpr std::string_view continuation = "value_continues_";

  /// `suffix`: a unit may follow a number, and is converted to the metric's unit if possible.
  PatternSearch(const std::string& pattern, bool suffix)
      : regex_(pattern),
        suffix_(suffix),
        step_(regex_.groups_named("step")),
        epoch_(regex_.groups_named("epoch")),
        time_(regex_.groups_named("time")),
        rank_(regex_.groups_named("rank")),
        continuation_(regex_.groups_named(continuation)) {}

  void add(const spec::MetricSpec& metric) {
    metrics_.push_back({metric.name, metric.unit, spec::value_groups(regex_, metric.key()), {}});
  }

  /// Begins a file, with the step and epoch that hold at its position.
  void begin(const base::SeriesPoint& place) { sticky_ = place; }
  const base::SeriesPoint& place() const { return sticky_; }

  /// `place`: file and line, for notes.
  void search(std::string_view line, const BadLine& place, const PointTarget& target) {
    if (too_hard_.count >= too_hard_limit) return;
    values_.clear();
    on_line_ = {};
    for (std::size_t from = 0; from <= line.size();) {
      const auto outcome = regex_.search(line, from);
      if (outcome == base::Regex::Outcome::too_hard) too_hard_.add(place.file, place.line, {});
      if (outcome != base::Regex::Outcome::found) break;
      const std::string_view whole = regex_.group(0).value_or(std::string_view());
      take_match(line, place);
      const std::size_t end =
          whole.data() == nullptr
              ? from
              : static_cast<std::size_t>(whole.data() - line.data()) + whole.size();
      from = end > from ? end : from + 1;
    }
    for (Value& value : values_) {
      fill(value.point, on_line_);
      fill(value.point, sticky_);
      target.add(value.metric->name, value.point, value.number);
    }
  }

  /// Appends notes for the user, after the last line.
  void report(Extraction& extraction) const {
    const auto matches = [](const Trouble& trouble, const char* problem) {
      return fmt::format("{} match(es) {}; the first is {}", trouble.count, problem, trouble.first);
    };
    const std::string names = metric_names() + ": ";
    auto& notes = extraction.collected.notes;
    for (const auto& [trouble, problem] :
         {std::pair(&not_numbers_,
                    "are not numbers, are out of range or have too many digits, and were left out"),
          std::pair(&other_units_, "have another unit than the recipe says, and were left out"),
          std::pair(&mixed_units_,
                    "have another unit than the first, and the recipe says none: they were taken "
                    "as they are printed"),
          std::pair(&unknown_words_,
                    "have a word behind the number that is not a known unit, and were taken in the "
                    "unit of the recipe")}) {
      if (trouble->count > 0) notes.push_back(names + matches(*trouble, problem));
    }
    // The same for each pattern that knows the same words.
    if (not_places_.count > 0) {
      note_once(extraction,
                matches(not_places_,
                        "have an epoch or step that is not whole, or a time that is none; their "
                        "values are kept without it"));
    }
    if (too_hard_.count == 0) return;
    notes.push_back(
        fmt::format("{}the pattern needs too many steps on {} line(s), the first is {}{}",
                    names,
                    too_hard_.count,
                    too_hard_.first,
                    too_hard_.count >= too_hard_limit ? "; it was given up there" : ""));
  }

 private:
  struct Metric {
    std::string name{};
    std::string unit{};
    std::vector<int> groups{};
    std::optional<std::string> first_unit{};  ///< first printed unit, if the metric has none
  };
  struct Value {
    const Metric* metric = nullptr;
    base::SeriesPoint point{};
    base::ExactNumber number{};
  };

  /// Takes what the groups of one match say.
  void take_match(std::string_view line, const BadLine& place) {
    base::SeriesPoint where;
    where.rank = sticky_.rank;
    take_place(step_, place, whole_number_of, &base::SeriesPoint::step, where);
    take_place(epoch_, place, whole_number_of, &base::SeriesPoint::epoch, where);
    take_place(time_, place, seconds_of, &base::SeriesPoint::time_s, where);
    if (const std::string_view text = text_of(rank_); !text.empty()) {
      const auto rank = rank_of(text);
      // Else its values would be taken for another rank's.
      if (!rank) return not_numbers_.add_text(place.file, place.line, text);
      where.rank = *rank;
    }
    fill(on_line_, where);
    bool has_value = false;
    for (Metric& metric : metrics_) {
      const std::string_view text = text_of(metric.groups);
      if (text.empty()) continue;
      has_value = true;
      if (const auto value = take_value(metric, line, text, place)) {
        values_.push_back({&metric, where, *value});
      }
    }
    if (has_value) return;
    if (where.step != base::no_step) sticky_.step = where.step;
    if (where.epoch != base::no_step) sticky_.epoch = where.epoch;
  }

  template <class Parse, class T>
  void take_place(const std::vector<int>& groups,
                  const BadLine& place,
                  Parse parse,
                  T base::SeriesPoint::*member,
                  base::SeriesPoint& where) {
    const std::string_view text = text_of(groups);
    if (text.empty()) return;
    if (const auto value = parse(text)) {
      where.*member = *value;
      return;
    }
    not_places_.add_text(place.file, place.line, text);
    // Nor is it what a line before said.
    sticky_.*member = base::SeriesPoint().*member;
  }

  std::optional<base::ExactNumber> take_value(Metric& metric,
                                              std::string_view line,
                                              std::string_view text,
                                              const BadLine& place) {
    const auto number = exact_number_of(text, suffix_ ? Suffix::unit : Suffix::none);
    const std::string_view printed =
        line.substr(static_cast<std::size_t>(text.data() - line.data()));
    const std::string_view more = text_of(continuation_);
    if (!number || !more.empty()) {
      not_numbers_.add_text(place.file, place.line, printed.substr(0, text.size() + more.size()));
      return std::nullopt;
    }
    if (!suffix_) return number;
    const auto value = in_unit(number->value, printed, metric.unit);
    if (!value) {
      Trouble& trouble = metric.unit.empty() ? not_numbers_ : other_units_;
      trouble.add_text(place.file, place.line, with_unit(printed));
      return std::nullopt;
    }
    if (has_unknown_word(printed, metric.unit))
      unknown_words_.add_text(place.file, place.line, with_unit(printed));
    if (metric.unit.empty()) {
      const std::string_view unit = known_unit(printed);
      if (!metric.first_unit) metric.first_unit = unit;
      if (*metric.first_unit != unit)
        mixed_units_.add_text(place.file, place.line, with_unit(printed));
    }
    const bool is_exact = *value == number->value || !std::isfinite(number->value);
    if (!is_exact && number->value != 0 && !std::isnormal(*value)) {  // "1e-323 ms" in seconds
      not_numbers_.add_text(place.file, place.line, with_unit(printed));
      return std::nullopt;
    }
    return *value == number->value ? *number : base::ExactNumber{*value};
  }

  std::string_view text_of(const std::vector<int>& groups) const {
    for (const int group : groups) {
      const auto text = regex_.group(group);
      if (text && !text->empty()) return *text;
    }
    return {};
  }

  std::string metric_names() const {
    std::string names;
    for (const Metric& metric : metrics_)
      names += (names.empty() ? "'" : ", '") + base::printable(metric.name) + "'";
    return "metric " + names;
  }

  base::Regex regex_;
  bool suffix_;
  std::vector<int> step_;
  std::vector<int> epoch_;
  std::vector<int> time_;
  std::vector<int> rank_;
  std::vector<int> continuation_;
  std::vector<Metric> metrics_{};
  base::SeriesPoint sticky_{};
  base::SeriesPoint on_line_{};
  std::vector<Value> values_{};
  Trouble not_numbers_{};
  Trouble other_units_{};
  Trouble mixed_units_{};
  Trouble unknown_words_{};
  Trouble not_places_{};
  Trouble too_hard_{};
};

/// "loss=0.5", "loss: 0.5", "loss 12.5ms", "\"loss\": nan"; "val_loss", "--loss" and "loss of 3"
/// are something else. Epoch and step are taken where the line or one before it gives them. The
/// forms of PyTorch's examples count: "Epoch [1/2], Step [100/600]" and "Epoch: [1][ 100/600]".
/// Neither "time per step: 5" nor "step: 5 ms" is a step. Dates, clocks, ranges and other numbers
/// that continue ("1:02:03", "0.1-0.2", "45/50") are matched whole: not numbers, and reported. So
/// are the stars that Fortran prints for a number too wide.
std::string key_value_pattern(std::string key) {
  for (std::size_t at = 0; (at = key.find("\\E", at)) != std::string::npos; at += 7)
    key.replace(at, 2, "\\E\\\\E\\Q");
  const std::string begin = R"((?<![\w./-])(?:)";
  const std::string between = R"(["']?(?:\s*[=:]\s*|\s+))";
  // "1/2", "1+2j", "2^10", "1'000", "1~2", "1;2" and Windows's "1.#INF"; but not "0.5\u00b10.1".
  // Behind a digit also signs of UTF-8 for powers and fractions.
  const std::string attached =
      R"(\.#(?=[A-Z])|(?<=\d)(?:\xc2[\xb2\xb3\xb9\xbc-\xbe]|\xe2\x81[\xb0-\xb9])|)"
      R"((?:\*\*|[-+*/:~';|@&#\\]|(?<=\d)\^|(?!\xc2?\xb1)[^\x00-\x7f]{1,3})(?=[-+]?\.?\d))";
  // "45 / 50", "1.5 x 10^5", "1 + 2im", "12 of 30", "3 out of 4"; but not "12 GB of 80"
  const std::string apart =
      R"(\s+/\s*(?=\d)|/\s+(?=\d)|\s*(?:[x*]|[^\x00-\x7f]{1,3})\s*10(?:\^|\*\*|[^\x00-\x7f])|)"
      R"(\s+[-+]\s+[\d.]+(?:[eE][-+]?\d+)?(?:im|[ij])\b|)"
      R"((?<=[\d.])\s+(?:out\s+)?of\s+(?=[-+]?\.?\d))";
  const std::string number =
      R"((?<value>[-+]?(?:\.?\d(?:[\w.,]|(?<=[eEdD])[-+]|(?<=[pP])[-+](?=\d)|[-:](?=\d)|/(?=\d+/))*|)"
      R"((?i:nan|inf(?:inity)?)\b)(?<![.,])%?))" +
      ("(?<" + std::string(PatternSearch::continuation) + ">(?:" + attached + "|" + apart) +
      R"()\S*)?)";
  // "Epoch[1/2]" has nothing between.
  const std::string place = "(?:" + between + R"(|(?=\[))\[?\s*)";
  // "step 3 min 0.5" is a step: the word is the key of the number behind it.
  const std::string no_time =
      R"((?!(?:\.0*)?\s*(?:min|(?:[mnpu]|[^\x00-\x7f]{1,2})?s(?:ec(?:ond)?s?)?|)"
      R"((?:milli|micro|nano)seconds?|mins|minutes?|h|hrs?|hours?)(?!\w|\s*=|\s+[-+.\d])))";
  // "1,000" is not 1.
  const std::string thousands = R"((?:[,'_]\d{3}(?!\d))*)";
  const std::string step = R"((?<step>(?>\d+)" + thousands + R"())\b(?!\.0*[1-9]))" + no_time;
  const std::string epoch = R"((?<epoch>(?>\d+)" + thousands + R"((?:\.\d+)?))\b)" + no_time;
  const std::string literal = R"(\Q)" + key + R"(\E)";
  const std::string words = "(?i:step|iter|iteration)";
  // "time per step: 5" is matched, and says nothing.
  const std::string rate = R"((?i:per|each|every)\s+(?:\w+\s+)?(?!)" + literal + R"(["'\s=:]))" +
                           "(?:" + words + R"(|(?i:epoch))\b)";
  // Fortran's "****", unless other stars precede: "*** loss ***" is a heading.
  const std::string overflow = R"((?<![*])(?<![*]\s))" + literal +
                               R"(["']?(?:\s*[=:]\s*(?<value>\*+)|\s+(?<value>\*{3,}))(?![\w.*]))";
  return begin + literal + between + number + "|" + overflow + "|" + rate + "|(?i:epoch)" + place +
         epoch + R"((?:\]\s*\[\s*)" + step + ")?|" + words + place + step + ")";
}

/// By pattern. Those of key-value pairs are made of the keys.
using Searches = std::map<std::string, PatternSearch>;

Searches searches_for(const Metrics& metrics, bool is_regex) {
  Searches searches;
  for (const spec::MetricSpec* metric : metrics) {
    const std::string pattern = is_regex ? metric->from.pattern : key_value_pattern(metric->key());
    searches.try_emplace(pattern, pattern, !is_regex).first->second.add(*metric);
  }
  return searches;
}

void search_file(const SourceFile& source, Searches& searches, const PointTarget& target) {
  const std::filesystem::path& file = source.path;
  std::vector<base::SeriesPoint> places(searches.size(), base::SeriesPoint{source.rank});
  if (source.position != nullptr && !source.position->places.empty())
    places = source.position->places;
  auto place_of = places.begin();
  for (auto& [pattern, search] : searches)
    search.begin(*place_of++);
  LineReader reader(source, LineEnd::newline_or_return);
  std::uint64_t overlong = 0;
  BadLine place{file, 0, {}};
  while (reader.next()) {
    overlong += reader.is_overlong() ? 1 : 0;
    place.line = reader.number();
    std::string_view line = reader.line();
    // What an event says is the other extractor's, and its "step" is of that event alone.
    if (target.kind == spec::SourceKind::key_value) line = line.substr(0, line.find(mllog_marker));
    for (auto& [pattern, search] : searches)
      search.search(line, place, target);
  }
  if (source.position != nullptr) {
    source.position->places.clear();
    for (const auto& [pattern, search] : searches)
      source.position->places.push_back(search.place());
  }
  if (overlong == 0) return;
  target.extraction.collected.notes.push_back(
      base::printable(file.filename().string()) + ": " + std::to_string(overlong) +
      " line(s) are longer than a mebibyte; only their beginning was searched");
}

class TextExtractor final : public Extractor {
 public:
  TextExtractor(const StageFiles& files, std::vector<spec::MetricSpec> wanted)
      : files_(files), wanted_(std::move(wanted)) {
    for (const auto& [file, metrics] : by_file(wanted_)) {
      const bool is_regex = metrics.front()->from.kind == spec::SourceKind::regex;
      searches_.emplace(file, searches_for(metrics, is_regex));
    }
  }

  void read(const PointTarget& target) override {
    for (auto& [file, searches] : searches_) {
      for (SourceFile& source : source_files(files_, file, target.positions)) {
        if (target.begin(source, file)) search_file(source, searches, target);
      }
      for (const auto& [pattern, search] : searches)
        search.report(target.extraction);
    }
  }

 private:
  const StageFiles& files_;
  std::vector<spec::MetricSpec> wanted_;
  std::map<std::string, Searches> searches_{};  ///< by file
};

}  // namespace

std::unique_ptr<Extractor> text_extractor(const StageFiles& files,
                                          std::vector<spec::MetricSpec> wanted) {
  return std::make_unique<TextExtractor>(files, std::move(wanted));
}

}  // namespace sabath::collect
