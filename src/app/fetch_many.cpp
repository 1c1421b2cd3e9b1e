#include "fetch_many.hpp"

#include "fetch_one.hpp"
#include "known_content.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <map>

namespace sabath::app {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::size_t told_failures = 3;

bool ends_everything(ErrorKind kind) {
  return kind == ErrorKind::storage || kind == ErrorKind::interrupted ||
         kind == ErrorKind::internal;
}

/// What became of each of many files.
struct Results {
  explicit Results(std::size_t size) : files(size) {}

  void fail(const Error& error) {
    if (ends_everything(error.kind())) throw;
    failures.push_back(error);
  }
  [[noreturn]] void throw_failures(const std::string& name) const;

  std::vector<FetchedFile> files{};
  std::vector<Error> failures{};
};

void Results::throw_failures(const std::string& name) const {
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

/// Gives out the files that are missing, each with its staging while its transfer is under way.
class MissingFiles final : public fetch::FileList {
 public:
  MissingFiles(const std::vector<spec::AssetFile>& files,
               std::vector<std::size_t> missing,
               Results& results,
               const FetchTools& tools)
      : files_(files), missing_(std::move(missing)), results_(results), tools_(tools) {}

  std::size_t size() const override { return missing_.size(); }

  fetch::Request request(std::size_t index) override {
    const spec::AssetFile& file = files_[missing_[index]];
    fetch::Request request;
    request.urls = file.sources;
    request.size_bytes = file.size_bytes;
    request.digests = expected_digests(file, tools_);
    request.label = file.path;
    return request;
  }

  base::StagedFile& open(std::size_t index) override {
    const spec::AssetFile& file = files_[missing_[index]];
    auto staging = tools_.cache.stage(staging_key(file), expected_digests(file, tools_));
    return *(open_[index] = std::move(staging));
  }

  void done(std::size_t index, const fetch::Outcome& outcome) override {
    const spec::AssetFile& file = files_[missing_[index]];
    const auto open = open_.extract(index);
    try {
      if (!outcome.ok) throw_outcome(outcome, file.path);
      const auto before = pinned(file, tools_);
      FetchedFile& result = results_.files[missing_[index]];
      result = publish_fetched(file, std::move(open.mapped()), outcome, tools_);
      tell_change(before, result, tools_);
    } catch (const Error& error) {
      results_.fail(error);
    }
  }

 private:
  const std::vector<spec::AssetFile>& files_;
  std::vector<std::size_t> missing_;
  Results& results_;
  const FetchTools& tools_;
  std::map<std::size_t, std::unique_ptr<cache::Staging>> open_{};
};

/// What is here goes into the results; the others' numbers are returned.
std::vector<std::size_t> look_for_known(const std::vector<spec::AssetFile>& files,
                                        Results& results,
                                        const FetchTools& tools) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < files.size(); ++i) {
    try {
      auto current = find_current(files[i], tools);
      if (current) {
        results.files[i] = *std::move(current);
      } else {
        missing.push_back(i);
      }
    } catch (const Error& error) {
      results.fail(error);
    }
  }
  return missing;
}

/// Everything that is known to be needed, before the first byte. What a compressed archive grows to
/// is not known; it counts as large as it is.
void check_space(const std::vector<spec::AssetFile>& files,
                 const std::vector<std::size_t>& missing,
                 const FetchTools& tools) {
  std::uint64_t bytes = 0;
  for (const std::size_t i : missing) {
    const std::uint64_t size = files[i].size_bytes.value_or(0);
    const std::uint64_t there = size > 0 ? tools.cache.partial_bytes(staging_key(files[i])) : 0;
    bytes += size - std::min(size, there);
    if (!files[i].unpack.empty()) bytes += size;
  }
  // Each file is an object and has its place in the tree.
  tools.cache.check_space(bytes, 2 * missing.size());
}

/// What names the transfer of just these files.
std::string flight_key(const std::vector<spec::AssetFile>& files,
                       const std::vector<std::size_t>& missing) {
  std::string text;
  for (const std::size_t i : missing)
    text += staging_key(files[i]) + "\n";
  return "list:" + base::sha256_of(text).hex;
}

void transfer_together(const std::string& name,
                       const std::vector<spec::AssetFile>& files,
                       const std::vector<std::size_t>& missing,
                       Results& results,
                       const FetchTools& tools) {
  bool done = false;
  cache::Flight flight;
  flight.task = name;
  flight.is_there = [&] {
    if (done) return true;
    if (tools.options.refresh) return false;
    for (const std::size_t i : missing) {
      auto known = find_known(files[i], tools);
      if (!known) return false;
      results.files[i] = *std::move(known);
    }
    return true;
  };
  flight.work = [&](base::Observer& observer) {
    MissingFiles list(files, missing, results, tools);
    fetch::fetch_files(
        list, name, tools.fetchers, tools.options.retries, tools.clock, observer, tools.stop);
    done = true;
  };
  tools.cache.single_flight(flight_key(files, missing), flight, tools.observer, tools.stop);
}

}  // namespace

std::vector<FetchedFile> fetch_many(const std::string& name,
                                    const std::vector<spec::AssetFile>& files,
                                    const FetchTools& tools) {
  Results results(files.size());
  const std::vector<std::size_t> missing = look_for_known(files, results, tools);
  if (!missing.empty()) {
    check_space(files, missing, tools);
    transfer_together(name, files, missing, results, tools);
  }
  if (!results.failures.empty()) results.throw_failures(name);
  return std::move(results.files);
}

std::vector<FetchedFile> fetch_each(const std::string& name,
                                    const std::vector<spec::AssetFile>& files,
                                    const FetchTools& tools) {
  Results results(files.size());
  const std::vector<std::size_t> missing = look_for_known(files, results, tools);
  if (!missing.empty()) check_space(files, missing, tools);
  for (const std::size_t i : missing) {
    try {
      results.files[i] = fetch_missing(files[i], tools);
    } catch (const Error& error) {
      results.fail(error);
    }
  }
  if (!results.failures.empty()) results.throw_failures(name);
  return std::move(results.files);
}

}  // namespace sabath::app
