#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/spec/asset.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_record.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::catalog {

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
};

/// The last value of one metric of a run; of one of performance the median too.
struct RunMetric {
  std::size_t run = 0;  ///< which of those asked for
  std::string stream{};
  std::string name{};
  std::string unit{};
  spec::Better better = spec::Better::none;
  bool performance = false;
  double last = 0;  ///< NaN where it is no number
  double median = 0;
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

/// The SQLite index. A cache of files, never the truth: it may be deleted at any time. Opening
/// applies migrations; a catalog of a newer version is refused with both numbers (Error{catalog}).
/// One that is found to be damaged, now or by any member later, is set aside as FILE.damaged and
/// that is an Error{catalog}: the next one is new.
class Catalog {
 public:
  explicit Catalog(const std::filesystem::path& database);
  /// For who makes it again from nothing: a file whose tables, views or triggers are not those of a
  /// catalog is set aside as FILE.damaged. True where that was done.
  static bool set_aside_if_foreign(const std::filesystem::path& database);
  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  /// Inserts or replaces; many at a time within one transaction by `Transaction`.
  void put_plan(const spec::RunPlan& plan, const std::string& directory);
  /// `batch`: as in RunRow; empty: what the catalog knows of it stays.
  void put_record(const spec::RunRecord& record,
                  const std::string& directory,
                  const std::string& batch = {});
  void put_state(const std::string& run_id, spec::RunState state, const std::string& message);
  /// The same of a run that is not over: what was seen before it ended changes nothing.
  void put_seen(const std::string& run_id, spec::RunState state, const std::string& message);
  void forget_run(const std::string& run_id);
  void forget_all_runs();
  /// Have all run directories been read since the file was made?
  bool is_filled() const;
  void set_filled();
  /// Replaces what is known of documents whose file changed (`stamp` is its digest), keeps the
  /// rest, drops those not `seen` since `begin_documents`.
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
    struct State;
    std::unique_ptr<State> state_;
  };

  /// Newest first, of a selection as of `select` where there is one; 0: all.
  std::vector<RunRow> runs(std::size_t limit = 0,
                           std::string_view selection = {},
                           base::WallTime now = {}) const;
  /// A selection, oldest first: an id or unique prefix, "@last", "@last~3", "A..B", or "key=value"
  /// terms joined by commas (recipe, tag, host, status, seed, since=7d, any parameter by name; `*`
  /// matches any text). Throws Error{usage} for one that cannot be read, Error{not_found} (with the
  /// nearest ids as hint) when nothing matches an id, a prefix or @last.
  std::vector<RunRow> select(std::string_view selection, base::WallTime now) const;
  std::vector<RunRow> in_state(spec::RunState state) const;
  /// By run, stage and name.
  std::vector<RunMetric> metrics_of(const std::vector<RunRow>& runs) const;
  /// What each run has for a key, empty where it has nothing: host (or node), seed, tag (all of
  /// them, joined by '+'), study, user, state, recipe, recipe_digest; cpu, gpu, os, kernel; code,
  /// data and environment (the facet's digest); else a parameter, or a column of an imported table.
  /// Nothing where no run has such a one.
  std::optional<std::vector<std::string>> values_of(const std::vector<RunRow>& runs,
                                                    std::string_view key) const;
  /// The keys that values_of knows for these runs.
  std::vector<std::string> keys_of(const std::vector<RunRow>& runs) const;
  std::vector<DocumentRow> documents(std::string_view kind = {}) const;
  /// Full-text search over documents and runs, best first.
  std::vector<DocumentRow> search(std::string_view words) const;
  CatalogStats stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::catalog
