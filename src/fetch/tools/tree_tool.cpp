#include "tree_tool.hpp"

#include "attempt.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sabath::fetch {
namespace {

/// Throws what a listing that failed throws: Error{not_found|access|transfer}.
[[noreturn]] void throw_failure(const ToolUrl& url, const Failure& failure) {
  auto kind = base::ErrorKind::transfer;
  if (failure.not_found) kind = base::ErrorKind::not_found;
  if (failure.access_needed) kind = base::ErrorKind::access;
  throw base::Error(kind, url.displayed + ": " + failure.problem, failure.hint);
}

}  // namespace

bool TreeTool::names_many(const std::string& url) const {
  return url.ends_with('/');
}

Listing TreeTool::listed(const TreeJob& job,
                         std::optional<std::uint64_t> limit,
                         base::Observer& observer,
                         const std::stop_token& stop) {
  return FileTool::list(job.url.plain, limit, observer, stop);
}

Listing TreeTool::ordered(const TreeJob& job,
                          std::optional<std::uint64_t> limit,
                          base::Observer& observer,
                          const std::stop_token& stop) {
  Listing listing = listed(job, limit, observer, stop);
  auto* const files = std::get_if<std::vector<ListedFile>>(&listing);
  if (files == nullptr) return listing;
  for (const ListedFile& file : *files) {
    if (base::is_safe_relative_path(file.path)) continue;
    return Failure{.problem =
                       "lists a path that would leave its folder: " + base::printable(file.path)};
  }
  std::sort(files->begin(), files->end(), [](const ListedFile& a, const ListedFile& b) {
    return a.path < b.path;
  });
  if (limit && files->size() > *limit) files->resize(static_cast<std::size_t>(*limit));
  return listing;
}

std::vector<ListedFile> TreeTool::list(const std::string& url,
                                       std::optional<std::uint64_t> limit,
                                       base::Observer& observer,
                                       std::stop_token stop) {
  const auto parsed = parse_tool_url(url);
  if (const auto* failure = std::get_if<Failure>(&parsed)) {
    throw_failure({.displayed = displayed_url(url)}, *failure);
  }
  TreeJob job;
  job.url = std::get<ToolUrl>(parsed);
  job.credentials = credentials_of(job.url, context());
  Listing listing = ordered(job, limit, observer, stop);
  if (const auto* failure = std::get_if<Failure>(&listing)) throw_failure(job.url, *failure);
  auto& files = std::get<std::vector<ListedFile>>(listing);
  if (!limit) {
    listed_url_ = url;
    listed_ = files;
  }
  return std::move(files);
}

std::optional<Failure> TreeTool::run_for_tree(const ToolCall& call,
                                              const std::string& task,
                                              base::Observer& observer,
                                              const std::stop_token& stop,
                                              ToolEnd* ended) {
  return run(call, ToolJob{.urls = {ToolUrl{}}}, task, observer, stop, ended);
}

Outcome TreeTool::fetch_tree(const std::string& url,
                             const std::filesystem::path& folder,
                             base::Observer& observer,
                             std::stop_token stop) {
  const auto parsed = parse_tool_url(url);
  if (const auto* failure = std::get_if<Failure>(&parsed)) return failed_outcome(url, *failure);
  TreeJob job;
  job.url = std::get<ToolUrl>(parsed);
  job.folder = folder;
  job.credentials = credentials_of(job.url, context());
  if (std::exchange(listed_url_, {}) == url) job.listed = std::exchange(listed_, {});
  const std::uint64_t before = bytes_at(folder);
  const auto failure = bring_tree(job, job.url.displayed, observer, stop);
  Outcome outcome = failure ? failed_outcome(url, *failure) : Outcome{};
  outcome.ok = !failure;
  outcome.url = job.url.plain;
  outcome.effective_url = job.url.displayed;
  const std::uint64_t after = bytes_at(folder);
  outcome.transferred = after - std::min(after, before);
  if (outcome.ok) outcome.bytes = after;
  return outcome;
}

std::string encoded_path(const std::string& path) {
  std::string result;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain =
        std::isalnum(byte) != 0 || std::string_view("/-._~").find(c) != std::string_view::npos;
    result += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return result;
}

}  // namespace sabath::fetch
