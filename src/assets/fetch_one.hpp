#pragma once

#include "fetch_tools.hpp"

#include <sabath/base/error.hpp>

#include <optional>
#include <string>

namespace sabath::assets {

/// No source of a file could be reached.
class Unreachable final : public base::Error {
 public:
  Unreachable(const base::Error& error, std::string hosts)
      : Error(error), hosts_(std::move(hosts)) {}
  const std::string& hosts() const noexcept { return hosts_; }

 private:
  std::string hosts_;
};

/// Throws the error of a failed source. `place` begins the message, unless it is empty.
[[noreturn]] void throw_outcome(const fetch::Outcome& outcome, const std::string& place = {});

/// Returns the digests that `file` must have: those of the document, or of an earlier fetch.
std::vector<base::Digest> expected_digests(const spec::AssetFile& file, const FetchTools& tools);

/// Publishes a fetched file, and notes its source.
FetchedFile publish_fetched(const spec::AssetFile& file,
                            std::unique_ptr<cache::PartialObject> partial,
                            const fetch::Outcome& outcome,
                            const FetchTools& tools);

/// Throws Error{not_found} for a file that cannot be fetched: offline, or without a source.
void check_may_fetch(const spec::AssetFile& file, const FetchTools& tools);

/// Returns a present file; with `refresh` only one that its source still has.
std::optional<FetchedFile> find_unchanged(const spec::AssetFile& file, const FetchTools& tools);

/// As `find_unchanged`, or from a tree. Throws as `check_may_fetch` where the file is missing.
std::optional<FetchedFile> find_current(const spec::AssetFile& file, const FetchTools& tools);

/// Reports whether a refreshed file has changed, where there is a record.
void report_change(const std::optional<cache::SourceRecord>& before,
                   const FetchedFile& fetched,
                   const FetchTools& tools);

/// Fetches a missing file. Of several processes one fetches it; the others wait and show progress.
FetchedFile fetch_missing(const spec::AssetFile& file, const FetchTools& tools);

/// Returns a file by `find_current` or `fetch_missing`. Throws as AssetFetcher::fetch.
FetchedFile fetch_one(const spec::AssetFile& file, const FetchTools& tools);

}  // namespace sabath::assets
