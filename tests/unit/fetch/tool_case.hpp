#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/file.hpp>
#include <sabath/fetch/tools.hpp>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace sabath::test {

/// What fetchers that run programs need around them, and those fetchers.
struct Tools {
  base::SystemClock clock{};
  base::SystemProcessRunner processes{};
  spec::Configuration configuration{};
  std::unique_ptr<fetch::CredentialStore> credentials{};
  std::string ca_file{};
  std::chrono::seconds silence{60};
  std::chrono::milliseconds poll{20};
  bool allow_file = true;
  fetch::FetcherList list{};

  fetch::Fetcher& get(const std::string& name) {
    if (!credentials) keep({});
    if (list.empty()) {
      list = fetch::tool_fetchers(
          {processes, *credentials, configuration, silence, poll, ca_file, allow_file, shipped()},
          clock);
    }
    for (const auto& fetcher : list) {
      if (fetcher->name() == name) return *fetcher;
    }
    throw std::logic_error("no fetcher " + name);
  }
  static std::vector<spec::ToolDescription> shipped() {
    std::vector<spec::ToolDescription> tools;
    for (const auto& entry :
         std::filesystem::directory_iterator(SABATH_SOURCE_DIR "/catalog/tools")) {
      tools.push_back(spec::parse_tool(base::read_file(entry.path()), entry.path().string()));
    }
    return tools;
  }
  void keep(std::vector<spec::Secret> secrets) {
    credentials = std::make_unique<fetch::CredentialStore>(std::move(secrets), processes);
  }
};

}  // namespace sabath::test
