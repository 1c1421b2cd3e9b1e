#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/catalog/selection_terms.hpp>
#include <sabath/spec/asset.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_state.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::catalog {

class Database;
class WriteScope;

/// One line of `list runs`.
struct RunRow {
  std::string id{};
  std::string recipe{};
  spec::RunState state = spec::RunState::planned;
  std::string created{};
  double wall_s = 0;
  std::string node{};
  std::string seed{};
  std::vector<std::string> tags{};
  std::string directory{};
  std::string batch{};  ///< folder; empty: no scheduler executes it, or did
  std::string study{};
  std::string message{};
  std::string placed{};       ///< `created`, or the place of an older run where its clock was ahead
  std::string executed_by{};  ///< as spec::executed_by, joined by blanks; empty: it alone
};

/// The value that one metric of a run is judged by, and the median of a performance metric.
struct RunMetric {
  std::size_t run = 0;  ///< index in the requested runs
  std::string stream{};
  std::string name{};
  std::string unit{};
  spec::Better better = spec::Better::none;
  bool performance = false;
  double last = 0;  ///< or the value that `judge` names; NaN if not a number
  double median = 0;
  std::string executed_by{};           ///< the run that executed its stage; empty: the run itself
  std::optional<std::string> judge{};  ///< as in spec::MetricSummary
};

/// How many runs a selection names, and those of them that may not count.
struct RunCounts {
  std::uint64_t all = 0;
  std::vector<RunRow>
      doubtful{};  ///< not ended well, made for something else, perturbed, or copies
};

/// What runs have under one key.
struct RunColumn {
  enum class Kind { text, number, seconds };
  Kind kind = Kind::text;
  std::string key{};                 ///< as it was asked for
  std::string title{};               ///< with the unit of a metric
  std::vector<std::string> texts{};  ///< of kind text, one for each run; empty: it has none
  std::vector<double> numbers{};     ///< of the other kinds; NaN: it has none
};

/// A note that somebody wrote to a run.
struct RunNote {
  std::string at{};
  std::string by{};
  std::string text{};
};

/// That a run needs another one: "repeats", "stage" (it took the stage's outputs), "explains".
struct RunDependency {
  std::string run{};
  std::string kind{};
  std::string needed{};  ///< the other one
};

/// One line of `list assets`, `list recipes` and `search`.
struct DocumentRow {
  std::string kind{};  ///< dataset, model, tool, recipe
  std::string name{};
  std::string version{};
  std::string title{};
  std::string path{};
};

struct CatalogStats {
  int schema_version = 0;
  std::uint64_t runs = 0;
  std::uint64_t metrics = 0;
  std::uint64_t documents = 0;
  std::uint64_t size_bytes = 0;
  std::string sqlite_version{};
};

/// The SQLite index of runs and documents: a cache of files, which may be deleted at any time.
/// Opening applies migrations. Throws Error{catalog} with both numbers for a catalog of a newer
/// version. A damaged catalog, found now or by any member later, is renamed to FILE.damaged with an
/// Error{catalog}: the next one is new.
class Catalog {
 public:
  explicit Catalog(const std::filesystem::path& database);
  /// Before a rebuild: renames a file whose tables, views or triggers are not those of a catalog to
  /// FILE.damaged. Returns whether it did.
  static bool set_aside_if_foreign(const std::filesystem::path& database);
  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  /// Inserts or replaces; use `Transaction` for many at a time.
  void put_plan(const spec::RunPlan& plan, const std::string& directory);
  /// `batch`: as in RunRow; empty keeps the known value.
  void put_record(const spec::RunRecord& record,
                  const std::string& directory,
                  const std::string& batch = {});
  /// Replaces the tags and notes of a run: those of its record, as later statements changed them.
  void put_said(const std::string& run_id,
                const std::vector<std::string>& tags,
                const std::vector<RunNote>& notes);
  /// Takes a run out, whose folder is gone.
  void forget_run(const std::string& run_id);
  void put_state(const std::string& run_id, spec::RunState state, const std::string& message);
  /// The same for a run that has not ended; does nothing for one that has.
  void put_seen(const std::string& run_id, spec::RunState state, const std::string& message);
  /// The place of the newest run that is not dated after `now`; empty: none.
  std::string newest_place(base::WallTime now) const;
  /// Places the runs that are dated after `now` right behind `place`. No run is made in the future:
  /// the clock of its machine was ahead.
  void place_future_runs(const std::string& place, base::WallTime now);
  void forget_all_runs();
  /// Whether all run directories have been read since the file was created.
  bool is_filled() const;
  void set_filled();
  /// Inserts or replaces a document by its path.
  void put_asset(const spec::Asset& asset, const std::string& path);
  void put_recipe(const spec::Recipe& recipe, const std::string& path);
  void keep_only_documents(const std::vector<std::string>& paths);

  class Transaction {
   public:
    explicit Transaction(Catalog& catalog);
    ~Transaction();  ///< rolls back unless committed
    void commit();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

   private:
    std::unique_ptr<WriteScope> scope_;
  };

  /// The newest runs first, of a selection as in `select`, if any. A limit of 0 means all. The
  /// order is that of `RunRow::placed`, in every member, if `sort` names no keys. Sorted by a
  /// metric the best runs are first; "-key" is the other way round. Runs without a value are last.
  std::vector<RunRow> runs(std::size_t limit = 0,
                           std::string_view selection = {},
                           base::WallTime now = {},
                           const std::vector<std::string>& sort = {}) const;
  /// The runs of a selection, oldest first; docs/commands/selections.md has the grammar. Throws
  /// Error{usage} for one that cannot be read. Throws Error{not_found}, with the nearest ids as
  /// hint, when nothing matches an id, a prefix or @last.
  std::vector<RunRow> select(std::string_view selection, base::WallTime now) const;
  /// The runs of a selection in numbers. `perturbation`: the parameter of perturbed runs.
  RunCounts count_runs(std::string_view selection,
                       base::WallTime now,
                       const std::string& perturbation) const;
  /// What a selection names. Throws as `select` does of its text.
  SelectionParts parts_of(std::string_view selection) const;
  /// The runs' values of a parameter, a metric ("loss", "best.loss"), a key of selections, or a key
  /// of `values_of`. Throws Error{usage} for a name that none of them has.
  RunColumn column_of(const std::vector<RunRow>& runs, std::string_view key) const;
  std::vector<RunRow> in_state(spec::RunState state) const;
  /// What other runs say of these: who needs them. Sorted.
  std::vector<RunDependency> references_to(const std::vector<std::string>& run_ids) const;
  /// By run, stage and name.
  std::vector<RunMetric> metrics_of(const std::vector<RunRow>& runs) const;
  /// The value of each run for a key, or an empty text. Keys of a run: host (or node), seed, tag
  /// (all, joined by '+'), study, user, state, recipe, recipe_digest. Keys of its host: cpu, gpu,
  /// os, kernel. The keys code, data and environment give the facet's digest. Any other key is a
  /// parameter, or a column of an imported table. Returns nothing if no run has such a parameter.
  std::optional<std::vector<std::string>> values_of(const std::vector<RunRow>& runs,
                                                    std::string_view key) const;
  /// The keys that values_of knows for these runs.
  std::vector<std::string> keys_of(const std::vector<RunRow>& runs) const;
  /// Full-text search over documents and runs, best first.
  std::vector<DocumentRow> search(std::string_view words) const;
  /// Number of runs that were of a recipe ("recipe"), or had an asset (any other kind) as an input.
  std::uint64_t uses_of(std::string_view kind, const std::string& name) const;
  CatalogStats stats() const;

 private:
  std::unique_ptr<Database> database_;
};

}  // namespace sabath::catalog
