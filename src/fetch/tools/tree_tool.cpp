#include "tree_tool.hpp"

#include "attempt.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <utility>

namespace sabath::fetch {

bool TreeTool::names_many(const std::string& url) const {
  return url.ends_with('/');
}

Listing TreeTool::listed(const ToolJob& job, std::optional<std::uint64_t> limit) {
  return FileTool::list(job.url().plain, limit, job.observer, job.stop);
}

Listing TreeTool::ordered(const ToolJob& job, std::optional<std::uint64_t> limit) {
  Listing listing = listed(job, limit);
  auto* const files = std::get_if<std::vector<ListedFile>>(&listing);
  if (files == nullptr) return listing;
  for (const ListedFile& file : *files) {
    if (base::is_safe_relative_path(file.path)) continue;
    return Failure{.problem =
                       "lists a path that would leave its folder: " + base::printable(file.path)};
  }
  std::ranges::sort(*files, {}, &ListedFile::path);
  if (limit && files->size() > *limit) files->resize(static_cast<std::size_t>(*limit));
  return listing;
}

std::vector<ListedFile> TreeTool::list(const std::string& url,
                                       std::optional<std::uint64_t> limit,
                                       base::Observer& observer,
                                       std::stop_token stop) {
  const auto parsed = parse_tool_url(url);
  if (const auto* failure = std::get_if<Failure>(&parsed)) {
    throw_failure(displayed_url(url), *failure);
  }
  const auto& source = std::get<ToolUrl>(parsed);
  const ToolJob job{.observer = observer,
                    .stop = std::move(stop),
                    .task = source.displayed,
                    .urls = {source},
                    .is_tree = true,
                    .credentials = credentials_of(source, context())};
  Listing listing = ordered(job, limit);
  if (const auto* failure = std::get_if<Failure>(&listing))
    throw_failure(source.displayed, *failure);
  auto& files = std::get<std::vector<ListedFile>>(listing);
  if (!limit) {
    listed_url_ = url;
    listed_ = files;
  }
  return std::move(files);
}

Outcome TreeTool::fetch_tree(const std::string& url,
                             const std::filesystem::path& folder,
                             base::Observer& observer,
                             std::stop_token stop) {
  const auto parsed = parse_tool_url(url);
  if (const auto* failure = std::get_if<Failure>(&parsed)) return failed_outcome(url, *failure);
  const auto& source = std::get<ToolUrl>(parsed);
  ToolJob job{.observer = observer,
              .stop = std::move(stop),
              .task = source.displayed,
              .urls = {source},
              .output = folder,
              .is_tree = true,
              .credentials = credentials_of(source, context())};
  if (std::exchange(listed_url_, {}) == url) job.listed = std::exchange(listed_, {});
  const std::uint64_t before = bytes_at(folder);
  const auto failure = bring_tree(job);
  Outcome outcome = failure ? failed_outcome(url, *failure) : Outcome{};
  outcome.ok = !failure;
  outcome.url = source.plain;
  outcome.effective_url = source.displayed;
  const std::uint64_t after = bytes_at(folder);
  outcome.transferred = after - std::min(after, before);
  if (outcome.ok) outcome.bytes = after;
  return outcome;
}

}  // namespace sabath::fetch
