#pragma once

#include <sabath/fetch/fetcher.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sabath::fetch {

/// Where the services are, without a slash at the end.
struct ServiceEndpoints {
  std::string hf = "https://huggingface.co";
  std::string doi = "https://doi.org";
  std::string zenodo = "https://zenodo.org";
};

/// Lets `options` send `token` (HF_TOKEN) to the host of `endpoint`, and to no other. An empty one
/// changes nothing.
void give_hub_token(EngineOptions& options, const std::string& endpoint, const std::string& token);

/// Fetchers of `hf:` (the layout of Hugging Face) and `doi:` (Zenodo, Dataverse and what looks like
/// them): they ask a service for the https URLs, sizes and digests of the files, which the built-in
/// engine then fetches.
std::vector<std::unique_ptr<Fetcher>> resolving_fetchers(const EngineOptions& options,
                                                         const ServiceEndpoints& endpoints,
                                                         base::Clock& clock);

}  // namespace sabath::fetch
