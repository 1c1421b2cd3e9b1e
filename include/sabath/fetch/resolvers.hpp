#pragma once

#include <sabath/fetch/fetcher.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sabath::fetch {

/// Base URLs of services, without a slash at the end.
struct ServiceEndpoints {
  std::string hf = "https://huggingface.co";
  std::string doi = "https://doi.org";
  std::string zenodo = "https://zenodo.org";
};

/// Adds `token` (HF_TOKEN) for the host of `endpoint` only. An empty token changes nothing.
void give_hub_token(EngineOptions& options, const std::string& endpoint, const std::string& token);

/// Makes the fetchers of `hf:` (Hugging Face's layout) and `doi:` (Zenodo, Dataverse and similar).
/// They ask a service for https URLs, sizes and digests. The built-in engine fetches the files.
std::vector<std::unique_ptr<Fetcher>> resolving_fetchers(const EngineOptions& options,
                                                         const ServiceEndpoints& endpoints,
                                                         base::Clock& clock);

}  // namespace sabath::fetch
