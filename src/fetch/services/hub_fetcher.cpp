// Hugging Face and services with its layout. Documented at https://huggingface.co/docs/hub/api: the
// endpoints /api/{models,datasets}/ID/revision/REV and .../tree/REV, and ID/resolve/REV/PATH.
#include "resolving_fetcher.hpp"
#include "service_listing_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/regex.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace sabath::fetch {
namespace {

/// hf://[datasets/|models/|spaces/]ORG/NAME[@REVISION][/PATH]
struct HubUrl {
  std::string kind = "models";
  std::string id{};  ///< ORG/NAME
  std::string revision = "main";
  std::string path{};  ///< of a file, or of a folder: then it ends with '/' or is empty
};

[[noreturn]] void malformed(const std::string& url) {
  throw base::Error(base::ErrorKind::usage,
                    url + ": malformed URL",
                    "hf://datasets/ORG/NAME@REVISION/PATH, or hf://ORG/NAME for a model; a '/' in "
                    "REVISION is %2F");
}

HubUrl parse_hub_url(const std::string& url) {
  static const base::Form form(
      "hf://(?:(datasets|models|spaces)/)?+([a-zA-Z0-9_.-]+)/([a-zA-Z0-9_.-]+)"
      "(?:@((?:[a-zA-Z0-9_.-]|%2F)+))?(?:/((?s).*))?");
  // Old data sets belong to nobody; a revision sets their name apart from a path.
  static const base::Form old_form(
      "hf://(datasets)/()([a-zA-Z0-9_.-]+)@([a-zA-Z0-9_.%-]+)(?:/((?s).*))?");
  auto parts = form.parts(url);
  if (!parts) parts = old_form.parts(url);
  if (!parts) malformed(url);
  HubUrl hub;
  if (!parts->at(1).empty()) hub.kind = parts->at(1);
  if (!parts->at(4).empty()) hub.revision = parts->at(4);
  for (const std::string& name : {parts->at(2), parts->at(3)}) {
    if (name == "." || name == "..") malformed(url);
  }
  if (!base::is_safe_relative_path(base::percent_decoded(hub.revision))) malformed(url);
  hub.id = (parts->at(2).empty() ? "" : parts->at(2) + "/") + parts->at(3);
  hub.path = parts->at(5);
  if (!hub.path.empty() && !base::is_safe_relative_path(hub.path)) malformed(url);
  return hub;
}

std::string encoded(const std::string& path) {
  return base::percent_encoded(path, "!$&'()*+,-./:;=@_~");
}

class HubFetcher final : public ResolvingFetcher {
 public:
  HubFetcher(const EngineOptions& options, std::string endpoint, base::Clock& clock)
      : ResolvingFetcher(options, clock), endpoint_(std::move(endpoint)) {}

  std::vector<std::string_view> schemes() const override { return {"hf"}; }
  std::string_view name() const override { return "hf"; }
  std::string_view description() const override {
    return "models and data sets of Hugging Face, pinned to a commit";
  }
  bool names_many(const std::string& url) const override {
    const HubUrl hub = parse_hub_url(url);
    return hub.path.empty() || hub.path.ends_with('/');
  }
  std::vector<ListedFile> list(const std::string& url,
                               std::optional<std::uint64_t> limit,
                               base::Observer& observer,
                               std::stop_token stop) override {
    const HubUrl hub = parse_hub_url(url);
    const std::string commit = commit_of(hub, stop);
    if (commit != hub.revision) {
      observer.note("hf://" + (hub.kind == "models" ? "" : hub.kind + "/") + hub.id + "@" +
                    hub.revision + " is commit " + commit);
    }
    std::vector<ListedFile> files = files_in(hub, commit, hub.path, "?recursive=true", stop);
    for (ListedFile& file : files) {
      if (file.path.starts_with(hub.path)) file.path = file.path.substr(hub.path.size());
    }
    return first_of(std::move(files), limit);
  }
  std::optional<ListedFile> published(const std::string& url, std::stop_token stop) override {
    const HubUrl hub = parse_hub_url(url);
    const std::string folder = hub.path.substr(0, hub.path.rfind('/') + 1);
    for (ListedFile& file : files_in(hub, commit_of(hub, stop), folder, "", stop)) {
      if (file.path == hub.path) return std::move(file);
    }
    return std::nullopt;
  }

 protected:
  ListedFile resolve(const std::string& url, std::stop_token stop) override {
    const HubUrl hub = parse_hub_url(url);
    ListedFile file;
    file.path = hub.path;
    file.url = resolve_url(hub, commit_of(hub, stop)) + encoded(hub.path);
    return file;
  }

 private:
  std::string commit_of(const HubUrl& hub, const std::stop_token& stop) {
    const bool is_commit = hub.revision.size() == 40 &&
                           hub.revision.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (is_commit) return hub.revision;
    const std::string url =
        endpoint_ + "/api/" + hub.kind + "/" + hub.id + "/revision/" + hub.revision;
    return hub_commit(ask_api(client(), url, stop).body, url);
  }
  /// With their paths from the top; `folder` is empty or ends with '/'.
  std::vector<ListedFile> files_in(const HubUrl& hub,
                                   const std::string& commit,
                                   const std::string& folder,
                                   const std::string& query,
                                   const std::stop_token& stop) {
    const std::string files_at = resolve_url(hub, commit);
    std::string page = endpoint_ + "/api/" + hub.kind + "/" + hub.id + "/tree/" + commit;
    if (!folder.empty()) page += "/" + encoded(folder.substr(0, folder.size() - 1));
    page += query;
    std::vector<ListedFile> files;
    std::set<std::string> seen;
    while (!page.empty()) {
      if (!seen.insert(page).second) {
        throw base::Error(base::ErrorKind::transfer,
                          displayed_url(page) + ": the listing has no end: a page comes again");
      }
      const ApiAnswer answer = ask_api(client(), page, stop);
      for (ListedFile& file : hub_files(answer.body, page, files_at)) {
        file.url = files_at + encoded(file.path);
        files.push_back(std::move(file));
      }
      page = answer.next;
    }
    return files;
  }
  std::string resolve_url(const HubUrl& hub, const std::string& commit) const {
    const std::string kind = hub.kind == "models" ? "" : hub.kind + "/";
    return endpoint_ + "/" + kind + hub.id + "/resolve/" + commit + "/";
  }

  std::string endpoint_;
};

}  // namespace

std::unique_ptr<Fetcher> make_hub_fetcher(const EngineOptions& options,
                                          const ServiceEndpoints& endpoints,
                                          base::Clock& clock) {
  return std::make_unique<HubFetcher>(options, endpoints.hf, clock);
}

}  // namespace sabath::fetch
