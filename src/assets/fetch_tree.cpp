#include "fetch_tree.hpp"

#include "fetch_one.hpp"
#include "file_listing.hpp"

#include <sabath/base/error.hpp>
#include <sabath/fetch/displayed_url.hpp>

#include <algorithm>

namespace sabath::assets {
namespace {

using base::Error;
using base::ErrorKind;

std::string tree_key(const std::string& url) {
  return "tree:" + url;
}

std::optional<cache::Tree> known_tree(const std::string& url, const FetchTools& tools) {
  const auto record = tools.cache.source(tree_key(url));
  return record ? tools.cache.find_tree(record->digest) : std::nullopt;
}

/// Checks the space for the listed files. A failed listing counts as empty.
void check_space(fetch::Fetcher& fetcher, const std::string& url, const FetchTools& tools) {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
  try {
    for (const fetch::ListedFile& file : fetcher.list(url, {}, tools.observer, tools.stop)) {
      bytes += file.size_bytes.value_or(0);
      ++files;
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::storage) throw;
  }
  const std::uint64_t there = tools.cache.partial_bytes(tree_key(url));
  tools.cache.check_space(bytes - std::min(bytes, there), files);
}

cache::Tree fetch_and_publish(fetch::Fetcher& fetcher,
                              const std::string& url,
                              base::Observer& observer,
                              fetch::Outcome& outcome,
                              const FetchTools& tools) {
  check_space(fetcher, url, tools);
  auto partial = tools.cache.open_partial_tree(tree_key(url));
  const std::filesystem::path folder = partial->lend(fetcher.name());
  outcome = fetcher.fetch_tree(url, folder, observer, tools.stop);
  if (!outcome.ok) throw_outcome(outcome, fetch::displayed_url(url));
  cache::Tree tree = tools.cache.publish(std::move(partial));
  const auto before = tools.cache.source(tree_key(url));
  if (before && before->digest != tree.digest) {
    tools.observer.warn(fetch::displayed_url(url) + ": has changed since " + before->fetched +
                        ": tree " + tree.digest.text() + " instead of " + before->digest.text());
  }
  tools.remember({.kind = cache::SourceRecord::Kind::tree,
                  .url = tree_key(url),
                  .digest = tree.digest,
                  .size_bytes = tree.size_bytes});
  return tree;
}

FetchedAsset answer_of(const std::string& url,
                       const cache::Tree& tree,
                       const std::optional<fetch::Outcome>& outcome,
                       const FetchTools& tools) {
  FetchedAsset fetched;
  fetched.name = fetch::displayed_url(url);
  fetched.digest = tree.digest;
  fetched.path = tree.path;
  fetched.holdings = {tree.digest};
  for (const base::ArchiveEntry& entry : tools.cache.entries(tree)) {
    if (!entry.link_target.empty()) continue;
    FetchedFile& file = fetched.files.emplace_back();
    file.path = entry.path;
    file.object = {entry.digest, entry.size_bytes, tree.path / entry.path};
    file.was_there = !outcome;
    if (outcome) file.source = outcome->url;
  }
  // The transferred bytes are known for the whole tree only.
  if (outcome && !fetched.files.empty()) fetched.files.front().transferred = outcome->transferred;
  return fetched;
}

}  // namespace

std::optional<FetchedAsset> fetch_tree(const std::string& url, const FetchTools& tools) {
  fetch::Fetcher* const fetcher = lister_of(url, tools);
  if (fetcher == nullptr || !fetcher->takes_trees()) return {};
  if (tools.options.limit || !tools.options.local.empty()) return {};
  std::optional<cache::Tree> tree;
  std::optional<fetch::Outcome> outcome;
  if (!tools.options.refresh) tree = known_tree(url, tools);
  if (!tree && tools.options.offline) {
    throw Error(
        ErrorKind::not_found,
        fetch::displayed_url(url) + ": is not in the cache, and --offline forbids to fetch it",
        "fetch it without --offline");
  }
  if (!tree) {
    cache::Flight flight;
    flight.task = fetch::displayed_url(url);
    flight.is_there = [&] {
      if (!tree && !tools.options.refresh) tree = known_tree(url, tools);
      return tree.has_value();
    };
    flight.work = [&](base::Observer& observer) {
      outcome.emplace();
      tree = fetch_and_publish(*fetcher, url, observer, *outcome, tools);
    };
    tools.cache.single_flight(tree_key(url), flight, tools.observer, tools.stop);
  }
  return answer_of(url, *tree, outcome, tools);
}

}  // namespace sabath::assets
