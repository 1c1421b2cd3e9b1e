#include "fetch_results.hpp"

#include <algorithm>

namespace sabath::app {

using base::Error;
using base::ErrorKind;

namespace {

constexpr std::size_t told_failures = 3;

bool ends_everything(ErrorKind kind) {
  return kind == ErrorKind::storage || kind == ErrorKind::interrupted ||
         kind == ErrorKind::internal;
}

}  // namespace

void FetchResults::fail(const Error& error) {
  if (ends_everything(error.kind())) throw;
  failures.push_back(error);
}

void FetchResults::check(const std::string& name) const {
  if (failures.empty()) return;
  if (files.size() == 1) throw Error(failures.front());
  const bool same = std::all_of(failures.begin(), failures.end(), [&](const Error& error) {
    return error.kind() == failures.front().kind();
  });
  const bool wrong = std::any_of(failures.begin(), failures.end(), [](const Error& error) {
    return error.kind() == ErrorKind::integrity;
  });
  ErrorKind kind = same ? failures.front().kind() : ErrorKind::transfer;
  if (wrong) kind = ErrorKind::integrity;
  std::string text = "asset '" + name + "': " + std::to_string(failures.size()) + " of " +
                     std::to_string(files.size()) + " files could not be fetched";
  for (std::size_t i = 0; i < std::min(told_failures, failures.size()); ++i)
    text += "\n" + std::string(failures[i].what());
  if (failures.size() > told_failures) {
    text += "\nand " + std::to_string(failures.size() - told_failures) + " more";
  }
  std::string hint = failures.front().hint();
  const bool some_came = failures.size() < files.size();
  if (some_came) hint += (hint.empty() ? "" : "\n") + std::string("the others are in the cache");
  throw Error(kind, text, hint);
}

}  // namespace sabath::app
