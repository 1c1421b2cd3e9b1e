#include "extractors.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>

namespace sabath::collect {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

void merge(Extraction& all, Extraction&& one) {
  all.points += one.points;
  all.bad_lines += one.bad_lines;
  append(all.examples, std::move(one.examples));
  all.examples.resize(std::min(all.examples.size(), max_examples));
  append(all.searched, std::move(one.searched));
  all.collected.parameters.merge(one.collected.parameters);
  append(all.collected.seeds, std::move(one.collected.seeds));
  append(all.collected.notes, std::move(one.collected.notes));
  if (one.collected.seed_places) {
    if (!all.collected.seed_places) all.collected.seed_places.emplace();
    append(*all.collected.seed_places, std::move(*one.collected.seed_places));
  }
  all.reported.seeds.merge(one.reported.seeds);
  append(all.reported.orders, std::move(one.reported.orders));
  all.counts_samples.merge(one.counts_samples);
  if (!all.start_s || (one.start_s && *one.start_s < *all.start_s)) all.start_s = one.start_s;
}

/// Lets metrics pass that are taken without being declared. Holds back those that are declared to
/// come from elsewhere, or that came from another kind before. Two sources of one name must not
/// become one series.
class Unclaimed final : public base::SeriesSink {
 public:
  Unclaimed(const std::string& stage,
            const std::vector<spec::MetricSpec>& declared,
            base::SeriesSink& next)
      : stage_(stage), declared_(declared), next_(next) {}

  void begin(spec::SourceKind kind) { kind_ = kind; }

  base::SeriesId open(std::string_view stream, std::string_view metric) override {
    const bool is_claimed = std::ranges::any_of(declared_, [&](const spec::MetricSpec& one) {
      const bool is_here = one.from.stage.empty() || one.from.stage == stage_;
      const bool is_ours = one.from.kind == kind_;
      return one.name == metric && is_here != is_ours;
    });
    if (is_claimed) return claimed;
    const auto owner = owners_.try_emplace(std::string(metric), kind_).first;
    return owner->second == kind_ ? next_.open(stream, metric) : claimed;
  }
  void add(base::SeriesId series, const base::SeriesPoint& point) override {
    if (series != claimed) next_.add(series, point);
  }

  static constexpr base::SeriesId claimed{std::numeric_limits<std::size_t>::max()};

 private:
  const std::string& stage_;
  const std::vector<spec::MetricSpec>& declared_;
  base::SeriesSink& next_;
  spec::SourceKind kind_ = spec::SourceKind::jsonl;
  std::map<std::string, spec::SourceKind> owners_{};
};

struct Extractor {
  spec::SourceKind kind;
  Extract* extract;
  bool is_free = false;  ///< also reads metrics that are not declared
};

/// The only list of extractors.
constexpr std::array<Extractor, 6> extractors{{
    {spec::SourceKind::jsonl, extract_jsonl, true},
    {spec::SourceKind::regex, extract_text},
    {spec::SourceKind::key_value, extract_text},
    {spec::SourceKind::csv, extract_csv},
    {spec::SourceKind::mllog, extract_mllog, true},
    {spec::SourceKind::tensorboard, extract_tensorboard},
}};

}  // namespace

Extraction extract_all(const StageFiles& files,
                       const std::vector<spec::MetricSpec>& declared,
                       base::SeriesSink& sink) {
  Extraction all;
  Unclaimed unclaimed(files.stage, declared, sink);
  for (const auto& [kind, extract, is_free] : extractors) {
    std::vector<spec::MetricSpec> wanted;
    for (const spec::MetricSpec& metric : declared) {
      const bool is_here = metric.from.stage.empty() || metric.from.stage == files.stage;
      if (is_here && metric.from.kind == kind) wanted.push_back(metric);
    }
    if (wanted.empty() && !is_free) continue;
    unclaimed.begin(kind);
    base::SeriesSink& target = is_free ? static_cast<base::SeriesSink&>(unclaimed) : sink;
    Extraction one;
    extract(files, wanted, {kind, files.stage, target, one});
    // What did not become a series says nothing of the one that has its name.
    std::erase_if(one.counts_samples, [&](const auto& metric) {
      return target.open(files.stage, metric.first) == Unclaimed::claimed;
    });
    merge(all, std::move(one));
  }
  return all;
}

}  // namespace sabath::collect
