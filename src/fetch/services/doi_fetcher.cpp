// A DOI leads to a landing page; the known services have an API beside it. Zenodo and
// other InvenioRDM: https://developers.zenodo.org (GET /api/records/ID); Dataverse:
// https://guides.dataverse.org (GET /api/datasets/:persistentId).
#include "resolving_fetcher.hpp"
#include "service_listing_json.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/regex.hpp>

#include <algorithm>
#include <utility>

namespace sabath::fetch {
namespace {

/// doi:10.PREFIX/SUFFIX[#PATH]; a DOI itself may have any number of slashes.
struct DoiUrl {
  std::string doi{};
  std::string path{};
};

/// Is a text a prefix "10." with digits and dots, a slash, and a suffix? The suffix must not have
/// the path steps "." and "..". Source: DOI Handbook, 2.2.
bool is_doi(std::string_view text) {
  static const base::Form form(R"((?s)10\.[0-9.]+/(?!(?:.*/)?\.\.?(?:/|\z)).+)");
  return form.matches(text);
}

DoiUrl parse_doi_url(const std::string& url) {
  std::string rest = url.substr(url.find(':') + 1);
  while (rest.starts_with('/'))
    rest.erase(0, 1);
  DoiUrl doi;
  if (const auto hash = rest.find('#'); hash != std::string::npos) {
    doi.path = rest.substr(hash + 1);
    rest.resize(hash);
  }
  doi.doi = rest;
  if (!is_doi(rest)) {
    throw base::Error(base::ErrorKind::usage,
                      "malformed DOI '" + rest + "'",
                      "doi:10.5281/zenodo.N, and doi:10.5281/zenodo.N#FILE for one file");
  }
  return doi;
}

/// The digits that a text begins with.
std::string digits_of(std::string_view text) {
  const auto end = std::ranges::find_if(text, [](char c) { return c < '0' || c > '9'; });
  return {text.begin(), end};
}

/// "https://host" of a URL.
std::string origin_of(const std::string& url) {
  const auto host = url.find("://");
  return host == std::string::npos ? url : url.substr(0, url.find('/', host + 3));
}

std::string number_after(const std::string& url, std::string_view mark) {
  const auto at = url.find(mark);
  return at == std::string::npos ? std::string() : digits_of(url.substr(at + mark.size()));
}

class DoiFetcher final : public ResolvingFetcher {
 public:
  DoiFetcher(const EngineOptions& options, const ServiceEndpoints& endpoints, base::Clock& clock)
      : ResolvingFetcher(options, clock), doi_(endpoints.doi), zenodo_(endpoints.zenodo) {}

  std::vector<std::string_view> schemes() const override { return {"doi"}; }
  std::string_view name() const override { return "doi"; }
  std::string_view description() const override {
    return "files behind a DOI of Zenodo (InvenioRDM) or Dataverse";
  }
  bool names_many(const std::string& url) const override { return parse_doi_url(url).path.empty(); }
  std::vector<ListedFile> list(const std::string& url,
                               std::optional<std::uint64_t> limit,
                               base::Observer&,
                               std::stop_token stop) override {
    return first_of(files_of(parse_doi_url(url).doi, stop), limit);
  }

 protected:
  ListedFile resolve(const std::string& url, std::stop_token stop) override {
    const DoiUrl doi = parse_doi_url(url);
    for (ListedFile& file : files_of(doi.doi, stop)) {
      if (file.path == doi.path) return std::move(file);
    }
    throw base::Error(base::ErrorKind::not_found,
                      "doi:" + doi.doi + ": has no file '" + doi.path + "'");
  }

 private:
  std::vector<ListedFile> files_of(const std::string& doi, const std::stop_token& stop) {
    constexpr std::string_view of_zenodo = "10.5281/zenodo.";
    if (doi.starts_with(of_zenodo)) {
      return zenodo_record(zenodo_, digits_of(doi.substr(of_zenodo.size())), stop);
    }
    const std::string page = ask_api(client(), doi_ + "/" + doi, stop).place;
    std::string record = number_after(page, "/records/");
    if (record.empty()) record = number_after(page, "/record/");
    if (!record.empty()) return zenodo_record(origin_of(page), record, stop);
    if (page.find("persistentId=") != std::string::npos) {
      const std::string url =
          origin_of(page) + "/api/datasets/:persistentId/?persistentId=doi:" + doi;
      return dataverse_files(ask_api(client(), url, stop).body, url, origin_of(page));
    }
    throw base::Error(
        base::ErrorKind::transfer,
        "doi:" + doi + ": leads to " + displayed_url(page) + ", which is not a known service",
        "known are Zenodo (InvenioRDM) and Dataverse; give the URLs of the files");
  }
  std::vector<ListedFile> zenodo_record(const std::string& origin,
                                        const std::string& record,
                                        const std::stop_token& stop) {
    const std::string url = origin + "/api/records/" + record;
    return zenodo_files(ask_api(client(), url, stop).body, url);
  }

  std::string doi_;
  std::string zenodo_;
};

}  // namespace

std::unique_ptr<Fetcher> make_doi_fetcher(const EngineOptions& options,
                                          const ServiceEndpoints& endpoints,
                                          base::Clock& clock) {
  return std::make_unique<DoiFetcher>(options, endpoints, clock);
}

}  // namespace sabath::fetch
