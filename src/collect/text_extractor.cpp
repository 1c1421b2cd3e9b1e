#include "extractors.hpp"
#include "line_reader.hpp"
#include "mllog_line.hpp"
#include "pattern_search.hpp"
#include "source_files.hpp"

#include <sabath/base/text/text_table.hpp>

#include <map>
#include <string_view>

namespace sabath::collect {
namespace {

/// "loss=0.5", "loss: 0.5", "loss 12.5ms", "\"loss\": nan"; "val_loss", "--loss" and "loss of 3"
/// are something else. Epoch and step are taken where the line or one before it tells them so, also
/// as PyTorch's examples print them: "Epoch [1/2], Step [100/600]" and "Epoch: [1][ 100/600]"; not
/// of "time per step: 5" and "step: 5 ms".
/// Dates, clocks and ranges ("1:02:03", "0.1-0.2") are taken whole: that is no number, and told.
std::string key_value_pattern(std::string key) {
  for (std::size_t at = 0; (at = key.find("\\E", at)) != std::string::npos; at += 7)
    key.replace(at, 2, "\\E\\\\E\\Q");
  const std::string begin = R"((?<![\w./-])(?:)";
  const std::string between = R"(["']?(?:\s*[=:]\s*|\s+))";
  const std::string number =
      R"((?<value>[-+]?(?:\.?\d(?:[\w.,]|(?<=[eEdD])[-+]|[-:](?=\d)|/(?=\d+/))*|(?i:nan|inf(?:inity)?)\b)(?<![.,])%?))";
  // "Epoch[1/2]" has nothing between.
  const std::string place = "(?:" + between + R"(|(?=\[))\[?\s*)";
  // "step 3 min 0.5" is a step: the word is the key of the number behind it.
  const std::string no_time =
      R"((?!(?:\.0*)?\s*(?:min|(?:[mnpu]|[^\x00-\x7f]{1,2})?s(?:ec(?:ond)?s?)?|)"
      R"((?:milli|micro|nano)seconds?|mins|minutes?|h|hrs?|hours?)(?!\w|\s*=|\s+[-+.\d])))";
  const std::string step = R"((?<step>(?>\d+))\b(?!\.0*[1-9]))" + no_time;
  const std::string epoch = R"((?<epoch>(?>\d+(?:\.\d+)?))\b)" + no_time;
  const std::string literal = R"(\Q)" + key + R"(\E)";
  const std::string words = "(?i:step|iter|iteration)";
  // "time per step: 5" is matched, and says nothing.
  const std::string rate = R"((?i:per|each|every)\s+(?:\w+\s+)?(?!)" + literal + R"(["'\s=:]))" +
                           "(?:" + words + R"(|(?i:epoch))\b)";
  return begin + literal + between + number + "|" + rate + "|(?i:epoch)" + place + epoch +
         R"((?:\]\s*\[\s*)" + step + ")?|" + words + place + step + ")";
}

/// Regular expressions, and key-value pairs, which are made into some.
class TextExtractor final : public Extractor {
 public:
  explicit TextExtractor(spec::SourceKind kind) : kind_(kind) {}

  spec::SourceKind kind() const override { return kind_; }
  std::string_view description() const override {
    return kind_ == spec::SourceKind::regex
               ? "regular expressions over logs and output files"
               : "'key value' and 'key=value' in logs and output files";
  }

  Extraction extract(const StageFiles& files,
                     const std::vector<spec::MetricSpec>& wanted,
                     base::SeriesSink& sink) override {
    Extraction extraction;
    const PointTarget target{files.stage, sink, extraction};
    for (const auto& [file, metrics] : by_file(wanted)) {
      std::map<std::string, PatternSearch> searches = searches_for(metrics);
      for (const SourceFile& source : source_files(files, file)) {
        extraction.searched.push_back({kind(), file, source.path});
        for (auto& [pattern, search] : searches)
          search.begin(source.rank);
        read(source, searches, target);
      }
      for (const auto& [pattern, search] : searches)
        search.tell(extraction.collected.notes);
    }
    return extraction;
  }

 private:
  std::map<std::string, PatternSearch> searches_for(
      const std::vector<const spec::MetricSpec*>& metrics) const {
    const bool is_regex = kind_ == spec::SourceKind::regex;
    std::map<std::string, PatternSearch> searches;
    for (const spec::MetricSpec* metric : metrics) {
      const std::string pattern =
          is_regex ? metric->from.pattern : key_value_pattern(metric->key());
      searches.try_emplace(pattern, pattern, !is_regex).first->second.add(*metric);
    }
    return searches;
  }

  void read(const SourceFile& source,
            std::map<std::string, PatternSearch>& searches,
            const PointTarget& target) const {
    const std::filesystem::path& file = source.path;
    LineReader reader(file, LineEnd::newline_or_return, source.limits);
    std::uint64_t overlong = 0;
    BadLine place{file, 0, {}};
    while (reader.next()) {
      overlong += reader.is_overlong() ? 1 : 0;
      place.line = reader.number();
      std::string_view line = reader.line();
      // What an event says is the other extractor's, and its "step" is of that event alone.
      if (kind_ == spec::SourceKind::key_value) line = line.substr(0, line.find(mllog_marker));
      for (auto& [pattern, search] : searches)
        search.search(line, place, target);
    }
    if (overlong == 0) return;
    target.extraction.collected.notes.push_back(
        base::printable(file.filename().string()) + ": " + std::to_string(overlong) +
        " line(s) are longer than a mebibyte; only their beginning was searched");
  }

  spec::SourceKind kind_;
};

}  // namespace

std::unique_ptr<Extractor> make_text_extractor(spec::SourceKind kind) {
  return std::make_unique<TextExtractor>(kind);
}

}  // namespace sabath::collect
