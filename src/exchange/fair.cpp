#include "croissant/file_facts.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/exchange/fair.hpp>
#include <sabath/exchange/jsonld.hpp>
#include <sabath/exchange/licences.hpp>

#include <algorithm>
#include <array>

namespace sabath::exchange {
namespace {

using spec::Asset;
using spec::AssetFile;
using Test = bool (*)(const Asset& asset);

bool all_files(const Asset& asset, bool (*holds)(const AssetFile& file)) {
  return std::ranges::all_of(asset.files, holds) && std::ranges::all_of(asset.manifest, holds);
}

bool has_files(const Asset& asset) {
  return asset.withdrawn.empty() && !(asset.files.empty() && asset.manifest.empty());
}

bool has_open_scheme(const std::string& url) {
  constexpr auto schemes = std::to_array<std::string_view>(
      {"https:", "http:", "ftp:", "s3:", "hf:", "doi:", "git+https:", "rsync:"});
  return std::ranges::any_of(schemes,
                             [&](std::string_view scheme) { return url.starts_with(scheme); });
}

bool has_open_sources(const Asset& asset) {
  return all_files(asset, [](const AssetFile& file) {
    return std::ranges::all_of(file.sources, has_open_scheme);
  });
}

bool has_open_format(const Asset& asset) {
  return all_files(asset, [](const AssetFile& file) {
    return media_type_of(file.path) != "application/octet-stream";
  });
}

bool has_digests(const Asset& asset) {
  return all_files(asset, [](const AssetFile& file) { return !file.digests.empty(); });
}

bool has_sizes(const Asset& asset) {
  return all_files(asset, [](const AssetFile& file) { return file.size_bytes.has_value(); });
}

struct Question {
  const char* metric;
  const char* text;
  Test applies;
  Test holds;
  const char* remedy;
};

bool always(const Asset&) {
  return true;
}

constexpr auto questions = std::to_array<Question>({
    {"F1-01",
     "each file has a digest",
     has_files,
     has_digests,
     "fetch it, and add the digests that 'sabath show' prints"},
    {"F1-02",
     "a persistent identifier",
     always,
     [](const Asset& a) { return is_persistent_identifier(a.identifier); },
     "mint a DOI or an ARK, and add it as 'identifier'"},
    {"F2-01",
     "title and description",
     always,
     [](const Asset& a) { return !a.title.empty() && !a.description.empty(); },
     "add 'title' and 'description'"},
    {"F2-01",
     "keywords",
     always,
     [](const Asset& a) { return !a.keywords.empty(); },
     "add 'keywords'"},
    {"F2-01",
     "a creator",
     always,
     [](const Asset& a) { return a.extensions.contains("x-creator"); },
     "add 'x-creator'"},
    {"F2-01",
     "a publisher and a date",
     always,
     [](const Asset& a) {
       return a.extensions.contains("x-publisher") && a.extensions.contains("x-datePublished");
     },
     "add 'x-publisher' and 'x-datePublished'"},
    {"F3-01", "each file has its size", has_files, has_sizes, "add 'size' to each file"},
    {"F4-01",
     "it can be exported for search engines",
     always,
     [](const Asset& a) { return missing_for_jsonld(a).empty(); },
     "'sabath export NAME --as jsonld --strict' names what is missing"},
    {"A1-01",
     "the steps to a login are stated",
     [](const Asset& a) { return a.access.policy == "login"; },
     [](const Asset& a) { return !a.access.steps.empty(); },
     "add 'steps' to 'access'"},
    {"A1.1",
     "sources have open protocols",
     has_files,
     has_open_sources,
     "add a source with https, s3 or another open protocol"},
    {"A2-01",
     "the description outlives the data",
     [](const Asset& a) { return !a.withdrawn.empty(); },
     [](const Asset& a) { return !a.title.empty() || !a.description.empty(); },
     "add 'title' and 'description'"},
    {"I3-01",
     "it refers to where it comes from",
     always,
     [](const Asset& a) { return !a.citation.empty() || a.generate || a.code; },
     "add 'citation'"},
    {"R1-01",
     "the task or the format is stated",
     always,
     [](const Asset& a) { return !a.task.empty() || !a.format.empty(); },
     "add 'task' or 'format'"},
    {"R1.1-01",
     "a licence of SPDX",
     always,
     [](const Asset& a) { return !a.license.empty() && spdx_id(a.license) == a.license; },
     "add 'license', such as CC-BY-4.0"},
    {"R1.2-01",
     "how it was made can be repeated",
     [](const Asset& a) { return a.generate.has_value() || a.code.has_value(); },
     [](const Asset& a) { return a.generate.has_value() || a.code->open.empty(); },
     "pin the commit of its code"},
    {"R1.3-02",
     "files have open formats",
     has_files,
     has_open_format,
     "convert them, or publish them in an open format as well"},
});

}  // namespace

std::vector<FairAnswer> fair_answers(const Asset& asset) {
  std::vector<FairAnswer> answers;
  for (const Question& one : questions) {
    FairAnswer answer{one.metric, one.text, FairState::not_applicable, {}};
    if (one.applies(asset)) {
      answer.state = one.holds(asset) ? FairState::holds : FairState::missing;
      if (answer.state == FairState::missing) answer.remedy = one.remedy;
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace sabath::exchange
