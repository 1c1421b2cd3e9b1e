#include "fetch_one.hpp"

#include "fetch_tools.hpp"
#include "known_content.hpp"

#include <sabath/base/error.hpp>
#include <sabath/fetch/displayed_url.hpp>

#include <algorithm>

namespace sabath::assets {
namespace {

using base::Digest;
using base::Error;
using base::ErrorKind;

[[noreturn]] void throw_offline(const spec::AssetFile& file) {
  std::string place = file.path;
  if (!file.sources.empty()) place += " (" + fetch::displayed_url(file.sources.front()) + ")";
  throw Error(ErrorKind::not_found,
              place + ": is not in the cache, and --offline forbids to fetch it",
              "fetch it without --offline, or bring it in with --path");
}

/// Says whether the source still has the version that it gave; nothing where that is unknown.
std::optional<bool> still_there(const cache::SourceRecord& record,
                                const spec::AssetFile& file,
                                const FetchTools& tools) {
  if (record.etag.empty() && record.last_modified.empty()) return std::nullopt;
  const base::ByteSource version{record.url, record.etag, record.last_modified};
  for (const std::string& url : file.sources) {
    const auto own = tools.cache.source(url);
    if (!own || own->url != record.url) continue;
    for (const auto& fetcher : tools.fetchers) {
      if (auto answer = fetcher->still_has(url, version, tools.stop)) return answer;
    }
  }
  return std::nullopt;
}

/// Adds the digests and the size that a service publishes, where the document has no digest.
spec::AssetFile with_published(spec::AssetFile file, const FetchTools& tools) {
  for (std::size_t i = 0; file.digests.empty() && i < file.sources.size(); ++i) {
    const std::string& url = file.sources[i];
    const auto able = fetch::fetchers_for(tools.fetchers, url);
    if (able.empty()) continue;
    try {
      const auto said = able.front()->published(url, tools.stop);
      if (!said) continue;
      file.digests = said->digests;
      if (!file.size_bytes) file.size_bytes = said->size_bytes;
    } catch (const Error& error) {
      // The transfer reports why the service does not answer.
      if (error.kind() == ErrorKind::interrupted) throw;
    }
  }
  return file;
}

/// Publishes the file of a tree as object. Returns false where no tree has the bytes.
bool take_from_tree(const spec::AssetFile& file, const FetchTools& tools) {
  const auto digest = sha256_among(expected_digests(file, tools));
  if (tools.options.refresh || !digest) return false;
  for (const auto& [wanted, path] : tools.cache.files_in_trees({*digest})) {
    try {
      if (base::digest_file(path) != wanted) continue;
      tools.cache.publish_file(path);
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
    }
  }
  return false;
}

FetchedFile transfer(const spec::AssetFile& asked, const FetchTools& tools) {
  const spec::AssetFile file = with_published(asked, tools);
  const std::vector<Digest> expected = expected_digests(file, tools);
  fetch::Request request;
  request.urls = file.sources;
  request.size_bytes = file.size_bytes;
  request.digests = expected;
  auto partial = tools.cache.open_partial(partial_key(file), expected);
  const fetch::Outcome outcome = fetch::fetch_file(request,
                                                   tools.fetchers,
                                                   *partial,
                                                   tools.options.retries,
                                                   tools.clock,
                                                   tools.observer,
                                                   tools.stop);
  if (!outcome.ok) throw_outcome(outcome);
  return publish_fetched(file, std::move(partial), outcome, tools);
}

}  // namespace

void throw_outcome(const fetch::Outcome& outcome, const std::string& place) {
  ErrorKind kind = outcome.not_found ? ErrorKind::not_found : ErrorKind::transfer;
  if (outcome.access_needed) kind = ErrorKind::access;
  if (outcome.wrong_bytes) kind = ErrorKind::integrity;
  const std::string what = place.empty() ? outcome.problem : place + ": " + outcome.problem;
  if (outcome.unreachable.empty()) throw Error(kind, what, outcome.hint);
  throw Unreachable({kind, what, outcome.hint + "\nwhat this machine has can be given with --path"},
                    outcome.unreachable);
}

std::vector<Digest> expected_digests(const spec::AssetFile& file, const FetchTools& tools) {
  std::vector<Digest> expected = file.digests;
  if (tools.options.refresh || sha256_among(expected)) return expected;
  if (const auto record = pinned(file, tools.cache)) expected.push_back(record->digest);
  return expected;
}

FetchedFile publish_fetched(const spec::AssetFile& file,
                            std::unique_ptr<cache::PartialObject> partial,
                            const fetch::Outcome& outcome,
                            const FetchTools& tools) {
  FetchedFile fetched;
  fetched.path = file.path;
  // A query may contain a signature.
  fetched.source = outcome.url.substr(0, outcome.url.find_first_of("?#"));
  fetched.transferred = outcome.transferred;
  fetched.verified = file.digests;
  try {
    fetched.object = tools.cache.publish(std::move(partial), expected_digests(file, tools));
  } catch (const Error& error) {
    throw Error(
        error.kind(), fetch::displayed_url(outcome.url) + ": " + error.what(), error.hint());
  }
  cache::SourceRecord record;
  record.url = outcome.url;
  record.digest = fetched.object.digest;
  record.size_bytes = fetched.object.size_bytes;
  record.etag = outcome.etag;
  record.last_modified = outcome.last_modified;
  // Under the URL of the document: the next fetch looks for that.
  const auto asked =
      std::ranges::find_if(file.sources, [&](const auto& url) { return url == outcome.url; });
  if (asked == file.sources.end() && !file.sources.empty()) record.url = file.sources.front();
  tools.remember(record);
  remember_digests(fetched, tools);
  return fetched;
}

void check_may_fetch(const spec::AssetFile& file, const FetchTools& tools) {
  if (tools.options.offline) throw_offline(file);
  if (!file.sources.empty()) return;
  throw Error(
      ErrorKind::not_found, file.path + ": no source is known for it", "bring it in with --path");
}

std::optional<FetchedFile> find_unchanged(const spec::AssetFile& file, const FetchTools& tools) {
  auto known = find_known(file, tools);
  const bool ask = tools.options.refresh && !tools.options.offline && !file.sources.empty();
  if (!known || !ask) return known;
  const auto before = pinned(file, tools.cache);
  if (!before || still_there(*before, file, tools) != true) return std::nullopt;
  tools.observer.note(fetch::displayed_url(before->url) + ": unchanged since " + before->fetched +
                      ", nothing was downloaded");
  return known;
}

std::optional<FetchedFile> find_current(const spec::AssetFile& file, const FetchTools& tools) {
  auto unchanged = find_unchanged(file, tools);
  if (!unchanged && take_from_tree(file, tools)) unchanged = find_known(file, tools);
  if (!unchanged) check_may_fetch(file, tools);
  return unchanged;
}

void report_change(const std::optional<cache::SourceRecord>& before,
                   const FetchedFile& fetched,
                   const FetchTools& tools) {
  if (!before || !tools.options.refresh) return;
  if (before->digest == fetched.object.digest) {
    tools.observer.note(fetched.source + ": the same bytes as on " + before->fetched);
    return;
  }
  tools.observer.warn(fetched.source + ": other bytes than on " + before->fetched + ": " +
                      fetched.object.digest.text() + " instead of " + before->digest.text());
}

FetchedFile fetch_missing(const spec::AssetFile& file, const FetchTools& tools) {
  const auto before = pinned(file, tools.cache);
  FetchedFile fetched;
  cache::Flight flight;
  flight.task = fetch::displayed_url(file.sources.front());
  flight.is_there = [&] {
    // A refresh asks the source, whatever other processes have done.
    auto known = tools.options.refresh ? std::nullopt : find_known(file, tools);
    if (known) fetched = *std::move(known);
    return fetched.was_there;
  };
  flight.work = [&](base::Observer& observer) { fetched = transfer(file, tools.with(observer)); };
  if (tools.cache.single_flight(partial_key(file), flight, tools.observer, tools.stop)) {
    report_change(before, fetched, tools);
  }
  return fetched;
}

FetchedFile fetch_one(const spec::AssetFile& file, const FetchTools& tools) {
  if (auto current = find_current(file, tools)) return *std::move(current);
  return fetch_missing(file, tools);
}

}  // namespace sabath::assets
