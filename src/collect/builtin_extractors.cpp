#include "stage_reader.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

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

struct Kind {
  spec::SourceKind kind;
  MakeExtractor* make;
  bool is_free = false;  ///< also reads metrics that are not declared
};

/// The only list of extractors.
constexpr std::array<Kind, 6> extractors{{
    {spec::SourceKind::jsonl, jsonl_extractor, true},
    {spec::SourceKind::regex, text_extractor},
    {spec::SourceKind::key_value, text_extractor},
    {spec::SourceKind::csv, csv_extractor},
    {spec::SourceKind::mllog, mllog_extractor, true},
    {spec::SourceKind::tensorboard, tensorboard_extractor},
}};

}  // namespace

base::SeriesId Unclaimed::open(std::string_view stream, std::string_view metric) {
  const bool is_claimed = std::ranges::any_of(declared_, [&](const spec::MetricSpec& one) {
    const bool is_here = one.from.stage.empty() || one.from.stage == stage_;
    const bool is_ours = one.from.kind == kind_;
    return one.name == metric && is_here != is_ours;
  });
  if (is_claimed) return claimed;
  const auto owner = owners_.try_emplace(std::string(metric), kind_).first;
  return owner->second == kind_ ? next_.open(stream, metric) : claimed;
}

StageReader::StageReader(const StageFiles& files,
                         const std::vector<spec::MetricSpec>& declared,
                         base::SeriesSink& sink,
                         FilePositions* positions)
    : unclaimed_(files.stage, declared, sink) {
  for (const auto& [kind, make, is_free] : extractors) {
    std::vector<spec::MetricSpec> wanted;
    for (const spec::MetricSpec& metric : declared) {
      const bool is_here = metric.from.stage.empty() || metric.from.stage == files.stage;
      if (is_here && metric.from.kind == kind) wanted.push_back(metric);
    }
    if (wanted.empty() && !is_free) continue;
    base::SeriesSink& target = is_free ? static_cast<base::SeriesSink&>(unclaimed_) : sink;
    parts_.push_back(std::make_unique<Part>(
        make(files, std::move(wanted)), kind, files.stage, target, positions));
  }
}

void StageReader::read() {
  for (const auto& part : parts_) {
    unclaimed_.begin(part->target.kind);
    part->extractor->read(part->target);
    // What did not become a series says nothing of the one that has its name.
    std::erase_if(part->extraction.counts_samples, [&](const auto& metric) {
      return part->target.sink.open(part->target.stream, metric.first) == Unclaimed::claimed;
    });
  }
}

Extraction StageReader::extraction() {
  Extraction all;
  for (const auto& part : parts_)
    merge(all, std::exchange(part->extraction, {}));
  return all;
}

std::uint64_t StageReader::take_bad_lines() {
  std::uint64_t lines = 0;
  for (const auto& part : parts_) {
    Extraction& extraction = part->extraction;
    lines += std::exchange(extraction.bad_lines, 0);
    extraction.examples.clear();
    extraction.searched.clear();
    extraction.collected.notes.clear();
    extraction.reported = {};
  }
  return lines;
}

Extraction extract_all(const StageFiles& files,
                       const std::vector<spec::MetricSpec>& declared,
                       base::SeriesSink& sink) {
  StageReader reader(files, declared, sink);
  reader.read();
  return reader.extraction();
}

}  // namespace sabath::collect
