#pragma once

#include <sabath/assets/fetch_tools.hpp>
#include <sabath/base/error.hpp>

#include <optional>
#include <string>

namespace sabath::assets {

/// What a file is staged under: its bytes' identity where it is known, else its first source.
std::string staging_key(const spec::AssetFile& file);

/// No source of a file could be reached.
class Unreachable final : public base::Error {
 public:
  Unreachable(const base::Error& error, std::string hosts)
      : Error(error), hosts_(std::move(hosts)) {}
  const std::string& hosts() const noexcept { return hosts_; }

 private:
  std::string hosts_;
};

/// The error of a source that did not give the file. `place` says what was wanted; empty: the
/// outcome's own words do.
[[noreturn]] void throw_outcome(const fetch::Outcome& outcome, const std::string& place = {});

/// The digests that the bytes of `file` must have: the document's, or what its source gave before.
std::vector<base::Digest> expected_digests(const spec::AssetFile& file, const FetchTools& tools);

/// Publishes what was fetched, and notes where it came from.
FetchedFile publish_fetched(const spec::AssetFile& file,
                            std::unique_ptr<cache::Staging> staging,
                            const fetch::Outcome& outcome,
                            const FetchTools& tools);

/// Throws Error{not_found} for a file that cannot be fetched: offline, or without a source.
void check_may_fetch(const spec::AssetFile& file, const FetchTools& tools);

/// What is here and need not be fetched: known, and with `refresh` still what its source has.
std::optional<FetchedFile> find_unchanged(const spec::AssetFile& file, const FetchTools& tools);

/// The same; where it is not here it may be fetched.
std::optional<FetchedFile> find_current(const spec::AssetFile& file, const FetchTools& tools);

/// Says what a refreshed file was before, where there is a record of that.
void tell_change(const std::optional<cache::SourceRecord>& before,
                 const FetchedFile& fetched,
                 const FetchTools& tools);

/// One file that is not here. Of several processes that want it one fetches it, and the others wait
/// and see its progress.
FetchedFile fetch_missing(const spec::AssetFile& file, const FetchTools& tools);

/// One file into the cache: what is known is not fetched; with `refresh` its source is asked
/// whether it still has that. Throws as AssetFetcher::fetch.
FetchedFile fetch_one(const spec::AssetFile& file, const FetchTools& tools);

}  // namespace sabath::assets
