#include "event_file.hpp"
#include "extraction.hpp"
#include "extractors.hpp"
#include "source_files.hpp"

#include <sabath/base/text/text_table.hpp>

#include <map>
#include <set>

namespace sabath::collect {
namespace {

/// What event files are called wherever they lie.
constexpr const char* usual_files = "*events.out.tfevents.*";
constexpr std::size_t max_tags_shown = 20;

/// Files of one folder are one run of TensorBoard, written one after the other; several folders are
/// ranks.
void rank_by_folder(std::vector<SourceFile>& files) {
  std::map<std::filesystem::path, std::int32_t> ranks;
  for (SourceFile& file : files) {
    const auto next = static_cast<std::int32_t>(ranks.size());
    file.rank = ranks.emplace(file.path.parent_path(), next).first->second;
  }
}

class TensorboardExtractor final : public Extractor {
 public:
  spec::SourceKind kind() const override { return spec::SourceKind::tensorboard; }
  std::string_view description() const override { return "scalars of TensorBoard's event files"; }

  Extraction extract(const StageFiles& files,
                     const std::vector<spec::MetricSpec>& wanted,
                     base::SeriesSink& sink) override {
    Extraction extraction;
    const PointTarget target{files.stage, sink, extraction};
    for (const auto& [file, metrics] : by_file(wanted)) {
      std::multimap<std::string, std::string> names;
      for (const spec::MetricSpec* metric : metrics)
        names.emplace(metric->key(), metric->name);
      auto sources = source_files(files, file.empty() ? usual_files : file);
      rank_by_folder(sources);
      Tags tags;
      for (const SourceFile& source : sources) {
        extraction.searched.push_back({kind(), file, source.path});
        read(source, names, tags, target);
      }
      tell(names, tags, extraction);
    }
    return extraction;
  }

 private:
  struct Tags {
    std::set<std::string> scalars{};
    std::set<std::string> others{};
  };

  static void read(const SourceFile& source,
                   const std::multimap<std::string, std::string>& names,
                   Tags& tags,
                   const PointTarget& target) {
    EventFile events(source.path);
    for (auto next = events.next(); next != EventFile::Next::end; next = events.next()) {
      source.limits.check(source.path.string());
      std::string problem = next == EventFile::Next::bad ? events.problem() : "";
      const auto take = [&](ScalarEvent& event) {
        auto& seen = event.value ? tags.scalars : tags.others;
        if (seen.size() < max_tags_shown) seen.insert(event.tag);
        if (!event.value) return;
        base::SeriesPoint point;
        point.rank = source.rank;
        point.step = event.step;
        point.time_s = event.wall_time_s;
        const auto [first, last] = names.equal_range(event.tag);
        for (auto name = first; name != last; ++name)
          target.add(name->second, point, *event.value);
      };
      if (problem.empty() && !events.for_each(take)) problem = "holds no event";
      if (!problem.empty()) note_bad(target.extraction, {source.path, events.number(), problem});
    }
  }

  /// Tags that are not there, with those that are: names differ in a letter.
  static void tell(const std::multimap<std::string, std::string>& names,
                   const Tags& tags,
                   Extraction& extraction) {
    std::string known;
    for (const std::string& tag : tags.scalars)
      known += (known.empty() ? "" : ", ") + tag;
    for (const auto& [tag, metric] : names) {
      if (tags.scalars.contains(tag) || tags.scalars.size() >= max_tags_shown) continue;
      const bool is_other = tags.others.contains(tag);
      if (!is_other && known.empty()) continue;
      extraction.collected.notes.push_back(
          base::printable("tag '" + tag + "' " +
                          (is_other ? "holds no scalar" : "is not there; scalars are " + known)));
    }
  }
};

}  // namespace

std::unique_ptr<Extractor> make_tensorboard_extractor() {
  return std::make_unique<TensorboardExtractor>();
}

}  // namespace sabath::collect
