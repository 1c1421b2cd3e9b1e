#pragma once

#include "reachability.hpp"
#include "transfer/transfer_loop.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

/// The built-in engine: http and https through libcurl, one thread for all connections.
class HttpFetcher final : public Fetcher {
 public:
  HttpFetcher(EngineOptions options, base::Clock& clock);

  std::vector<std::string_view> schemes() const override { return {"https", "http"}; }
  std::string_view name() const override { return "built-in"; }
  std::string_view description() const override {
    return "http and https through libcurl: segments, mirrors, resumable";
  }
  bool takes_mirrors() const override { return true; }
  Outcome fetch(const std::vector<std::string>& urls,
                const Request& request,
                base::PartialFile& to,
                base::Observer& observer,
                std::stop_token stop) override;
  std::optional<bool> still_has(const std::string& url,
                                const base::ByteSource& version,
                                std::stop_token stop) override;
  bool takes_many() const override { return true; }
  void fetch_many(FileList& files,
                  const std::vector<std::size_t>& indices,
                  const RetryPolicy& policy,
                  base::Observer& observer,
                  std::stop_token stop) override;

 private:
  EngineOptions options_;
  base::Clock& clock_;
  Reachability reachability_;
  TransferLoop loop_;
  /// For many small files: in a common loop libcurl would reuse an idle HTTP/1.1 connection.
  TransferLoop shared_loop_;
};

}  // namespace sabath::fetch
