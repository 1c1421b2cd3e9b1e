#include "extractors.hpp"

#include <algorithm>

namespace sabath::collect {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

void merge(Extraction& all, Extraction&& one) {
  constexpr std::size_t max_examples = 10;
  all.points += one.points;
  all.bad_lines += one.bad_lines;
  append(all.examples, std::move(one.examples));
  all.examples.resize(std::min(all.examples.size(), max_examples));
  append(all.searched, std::move(one.searched));
  all.collected.parameters.merge(one.collected.parameters);
  append(all.collected.seeds, std::move(one.collected.seeds));
  append(all.collected.notes, std::move(one.collected.notes));
}

}  // namespace

std::vector<std::unique_ptr<Extractor>> builtin_extractors() {
  std::vector<std::unique_ptr<Extractor>> extractors;
  extractors.push_back(make_jsonl_extractor());
  extractors.push_back(make_text_extractor(spec::SourceKind::regex));
  extractors.push_back(make_text_extractor(spec::SourceKind::key_value));
  extractors.push_back(make_csv_extractor());
  extractors.push_back(make_mllog_extractor());
  extractors.push_back(make_tensorboard_extractor());
  return extractors;
}

Extraction extract_all(const StageFiles& files,
                       const std::vector<spec::MetricSpec>& declared,
                       base::SeriesSink& sink) {
  Extraction all;
  for (const auto& extractor : builtin_extractors()) {
    std::vector<spec::MetricSpec> wanted;
    for (const spec::MetricSpec& metric : declared) {
      const bool is_here = metric.from.stage.empty() || metric.from.stage == files.stage;
      if (is_here && metric.from.kind == extractor->kind()) wanted.push_back(metric);
    }
    if (wanted.empty() && extractor->kind() != spec::SourceKind::jsonl) continue;
    merge(all, extractor->extract(files, wanted, sink));
  }
  return all;
}

}  // namespace sabath::collect
