#pragma once

#include "conformance/fetcher_conformance.hpp"
#include "support/servers/fault_server.hpp"
#include "support/servers/without_proxies.hpp"

#include <sabath/base/clock.hpp>

#include <stop_token>
#include <string>

namespace sabath::test {

/// A file at /x on two servers that do as they are told, and a fetch of it.
struct TwoServers {
  WithoutProxies proxies{};
  FaultServer a{};
  FaultServer b{};
  base::SystemClock clock{};
  fetch::EngineOptions options{.silence = std::chrono::seconds(60)};
  RecordingObserver observer{};
  MemoryPartialFile to{};
  fetch::Request request{};
  fetch::RetryPolicy policy{.attempts = 2, .base = std::chrono::milliseconds(10)};
  std::stop_source stop{};

  TwoServers() { request.urls = {a.url("/x"), b.url("/x")}; }

  /// Both have it, and its digest and size are known.
  void expect(const std::string& content) {
    a.put("/x", content);
    b.put("/x", content);
    to.wanted = content;
    request.size_bytes = content.size();
    request.digests = {base::sha256_of(content)};
  }
  fetch::Outcome fetch() {
    const auto fetchers = fetch::builtin_fetchers(options, clock);
    return fetch_file(request, fetchers, to, policy, clock, observer, stop.get_token());
  }
};

}  // namespace sabath::test
