#include "fetch_one.hpp"

#include <sabath/assets/fetch_results.hpp>

namespace sabath::assets {

using base::Error;
using base::ErrorKind;

namespace {

constexpr std::size_t shown_failures = 3;

}  // namespace

bool ends_everything(ErrorKind kind) {
  return kind == ErrorKind::storage || kind == ErrorKind::interrupted ||
         kind == ErrorKind::internal;
}

ErrorKind kind_of_all(const std::vector<Error>& failures) {
  bool same = true;
  for (const Error& error : failures) {
    if (error.kind() == ErrorKind::integrity) return ErrorKind::integrity;
    same = same && error.kind() == failures.front().kind();
  }
  return same ? failures.front().kind() : ErrorKind::transfer;
}

void FetchResults::fail(const Error& error) {
  if (ends_everything(error.kind())) throw;
  failures.push_back(error);
  const auto* const host = dynamic_cast<const Unreachable*>(&error);
  if (host != nullptr && !unreachable.insert(host->hosts()).second) {
    ++repeated;
  } else if (shown.size() < shown_failures) {
    shown.emplace_back(error.what());
  }
}

void FetchResults::check(const std::string& name) const {
  if (failures.empty()) return;
  if (files.size() == 1) throw Error(failures.front());
  std::string text = "asset '" + name + "': " + std::to_string(failures.size()) + " of " +
                     std::to_string(files.size()) + " files could not be fetched";
  for (const std::string& line : shown)
    text += "\n" + line;
  if (const std::size_t more = failures.size() - shown.size(); more > 0) {
    text += "\nand " + std::to_string(more) + " more";
    if (more == repeated) text += ", whose hosts cannot be reached either";
  }
  std::string hint = failures.front().hint();
  const bool some_came = failures.size() < files.size();
  if (some_came) hint += (hint.empty() ? "" : "\n") + std::string("the others are in the cache");
  throw Error(kind_of_all(failures), text, hint);
}

}  // namespace sabath::assets
