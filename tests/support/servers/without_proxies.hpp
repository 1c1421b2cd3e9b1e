#pragma once

#include <cstdlib>

namespace sabath::test {

/// Keeps the tests' requests to 127.0.0.1 away from a proxy that the environment may name, and from
/// the user's ~/.netrc.
struct WithoutProxies {
  WithoutProxies() {
    for (const char* name : {"http_proxy",
                             "https_proxy",
                             "ftp_proxy",
                             "all_proxy",
                             "HTTPS_PROXY",
                             "FTP_PROXY",
                             "ALL_PROXY"}) {
      ::unsetenv(name);
    }
    ::setenv("HOME", "/nonexistent", 1);
  }
};

}  // namespace sabath::test
