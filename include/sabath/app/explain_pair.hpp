#pragma once

#include <sabath/app/plan_run.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/compare/compare_runs.hpp>
#include <sabath/spec/explanation.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::app {

/// Does something happen with some of several changes? `unknown`: that cannot be tried; `ended`:
/// nothing more can be.
enum class Happened { no, yes, unknown, ended };
using Happens = std::function<Happened(const std::set<std::size_t>& changes)>;

/// Which of several changes are needed to make something happen: a set of which none can be left
/// out, found by trying halves, quarters and so on, and what is left without them (delta debugging:
/// A. Zeller, R. Hildebrandt, IEEE Trans. Softw. Eng. 28, 2002). `happens` is asked once for each
/// set, never for none or all, for which no and yes are taken for granted.
struct SmallestChange {
  std::set<std::size_t> changes{};
  bool is_over = true;  ///< false: the search was ended before
  /// Parts of `changes` that could not be tried: it may happen with less.
  std::vector<std::set<std::size_t>> untried{};
};
SmallestChange smallest_change(std::size_t count, const Happens& happens);

/// How hybrids are made and judged, and when to stop.
struct ExplainRequest {
  std::filesystem::path a{};
  std::filesystem::path b{};
  compare::Options options{};  ///< as for `compare`; what differs between A and B may differ
  std::size_t budget = 16;     ///< so many runs are made at most
  bool offline = false;
};

/// A run that was made to explain something.
struct MadeRun {
  std::filesystem::path directory{};  ///< empty: it could not even be planned
  std::string problem{};              ///< why it came to no good end; empty: it is complete
};

/// What `explain_pair` needs of the rest.
struct ExplainTools {
  /// As repeat_run: what does a run again, with its code in a folder.
  std::function<RunRequest(const std::filesystem::path& run, const std::filesystem::path& folder)>
      again{};
  /// Makes a run, until it is over. What cannot be run, or fails, is a value with its problem.
  std::function<MadeRun(const RunRequest& request)> run{};
  /// The newest complete run with a tag, else the newest that failed; nothing where there is none.
  std::function<std::optional<MadeRun>(const std::string& tag)> find{};
  /// Is there still time for another run?
  std::function<bool()> has_time{};
  std::filesystem::path work{};  ///< a folder for the code of runs; exists
};

/// Which of the differences between two runs is why they do not agree: makes runs of A with some of
/// what B had (parameters, seed, data, code, environment, cores), each once, tagged so that they
/// are found again, and holds them against A. First A itself is done again, and A with all of B's:
/// without the first being the same and the second being different nothing can be said. One that
/// fails, or says nothing, leaves open what it was made for, and the search goes on without it.
spec::Explanation explain_pair(const ExplainRequest& request,
                               const ExplainTools& tools,
                               base::Observer& observer);

}  // namespace sabath::app
