#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sabath::fetch {

/// Files of this machine. Read by ourselves: libcurl's file: gives an empty file for a folder and
/// reads devices and pipes.
class FileFetcher final : public Fetcher {
 public:
  FileFetcher(bool allowed, base::Clock& clock) : allowed_(allowed), clock_(clock) {}

  std::vector<std::string_view> schemes() const override { return {"file"}; }
  std::string_view name() const override { return "file"; }
  std::string_view description() const override { return "files of this machine"; }
  Outcome fetch(const std::vector<std::string>& urls,
                const Request& request,
                base::StagedFile& to,
                base::Observer& observer,
                std::stop_token stop) override;
  std::optional<bool> still_has(const std::string& url,
                                const base::ByteSource& version,
                                std::stop_token stop) override;

 private:
  bool allowed_;
  base::Clock& clock_;
};

}  // namespace sabath::fetch
