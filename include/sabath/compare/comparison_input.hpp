#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/compare/speed.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/output_rule.hpp>
#include <sabath/spec/output_trees.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::compare {

/// One declared output of a run. `open` returns its arrays, or null where it has none: then only
/// digests count. Without `open` the content is gone. `trees` returns the digests of the values,
/// which are trusted. `outside` returns the arrays whose values are in other files.
struct OutputSide {
  base::Digest digest{};
  std::uint64_t size_bytes = 0;
  std::function<std::unique_ptr<base::ArraySource>(const spec::OutputRule&)> open{};
  std::function<std::optional<spec::OutputTrees>()> trees{};
  std::function<std::vector<base::OutsideValues>(const spec::OutputRule&)> outside{};
  std::string unknown{};                  ///< why it cannot be compared with the other side's
  std::function<bool()> holds_nothing{};  ///< an empty file, or an archive without members
  bool is_marker = false;  ///< an empty file of a folder whose other files hold something
};

/// One run of a pair. `outputs` are by "stage/path". `around` has, by name, the state of files
/// around the recipe's folder.
struct Side {
  const spec::RunRecord& record;
  const std::vector<spec::Series>& series;
  std::map<std::string, OutputSide> outputs{};
  std::map<std::string, std::string> around{};
  spec::SeriesRests rests{};  ///< of its series
};

/// Series of one run, as far as they are known.
struct SeriesSoFar {
  const std::vector<spec::Series>& series;
  const spec::SeriesRests& rests;  ///< of its series
  bool has_ended = false;          ///< no point follows
};

struct Options {
  std::optional<spec::Rung> require{};
  std::string require_from = "--require";  ///< as `Comparison::required_from`
  /// Facets or parameters that may differ although they affect the result; "recipe", "data".
  std::set<std::string> across{};
  spec::Tolerance tolerance{};               ///< overrides the recipe's
  std::optional<ReferenceSide> reference{};  ///< nothing: the runs are peers
  /// At least three reruns of the reference (of A if there is none), each perturbed in the last
  /// place. With them the envelope is required, unless `require` is set. Not owned.
  std::vector<const Side*> envelope{};
};

}  // namespace sabath::compare
