#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/base/outside_values.hpp>
#include <sabath/compare/rules.hpp>
#include <sabath/compare/speed.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/output_trees.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::compare {

/// One declared output of a run, ready to be read: its arrays, or null where it holds none (then
/// only digests count). Without `open` its content is gone. `trees` are the digests of its values,
/// or nothing; they are believed. `outside` are its arrays whose values lie in other files.
struct OutputSide {
  base::Digest digest{};
  std::uint64_t size_bytes = 0;
  std::function<std::unique_ptr<base::ArraySource>(const spec::OutputRule&)> open{};
  std::function<std::optional<spec::OutputTrees>()> trees{};
  std::function<std::vector<base::OutsideValues>(const spec::OutputRule&)> outside{};
  std::string unknown{};  ///< why nothing that is known of it can be held against the other side's
  std::function<bool()> holds_nothing{};  ///< is it an empty file, or an archive without a member?
};

/// One side of a pair: the record, its series and its outputs by "stage/path"; and by its name what
/// is known of the state of files around the recipe's folder.
struct Side {
  const spec::RunRecord& record;
  const std::vector<spec::Series>& series;
  std::map<std::string, OutputSide> outputs{};
  std::map<std::string, std::string> around{};
  spec::SeriesRests rests{};  ///< of its series
};

struct Options {
  std::optional<spec::Rung> require{};
  std::set<std::string> across{};  ///< facets or parameters that may differ although they affect
                                   ///< the result; "recipe", "data"
  spec::Tolerance tolerance{};     ///< overrides the recipe's
  std::optional<ReferenceSide> reference{};  ///< what the other is held against; else peers
  /// At least three reruns of the reference (of A without one), each perturbed in the last place:
  /// then the envelope is what is required, unless `require` says more. Not owned.
  std::vector<const Side*> envelope{};
};

/// Symmetric: compare(b, a) says the same with the sides exchanged. Throws Error{integrity} when an
/// output cannot be read.
spec::Comparison compare_runs(const Side& a,
                              const Side& b,
                              const Rules& rules,
                              const Options& options);

/// The metrics ("train/loss") that differ and that no verdict judges, since the recipe does not
/// declare them. Sorted.
std::vector<std::string> undeclared_differences(const spec::Comparison& comparison);

/// "t/loss and t/grad differ and are not judged, since the recipe does not declare them"; `names`
/// is not empty. Names the first three.
std::string undeclared_text(const std::vector<std::string>& names);

}  // namespace sabath::compare
