#pragma once

#include "transfer/transfer_loop.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

/// FTP through libcurl: one stream, resumable.
class FtpFetcher final : public Fetcher {
 public:
  FtpFetcher(EngineOptions options, base::Clock& clock)
      : options_(std::move(options)), clock_(clock) {}

  std::vector<std::string_view> schemes() const override { return {"ftp"}; }
  std::string_view name() const override { return "ftp"; }
  std::string_view description() const override { return "ftp through libcurl, resumable"; }
  Outcome fetch(const std::vector<std::string>& urls,
                const Request& request,
                base::StagedFile& to,
                base::Observer& observer,
                std::stop_token stop) override;

 private:
  EngineOptions options_;
  base::Clock& clock_;
  TransferLoop loop_{1};
};

}  // namespace sabath::fetch
