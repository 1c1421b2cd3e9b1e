#include "env/tools/pip_settings.hpp"

#include <catch2/catch.hpp>

using namespace sabath;

TEST_CASE("pip settings: what leads to packages is kept, what changes them is not") {
  const auto settings = env::parse_pip_settings(
      ":env:.index-url='https://user:secret@host/simple'\n"
      ":env:.no-color='1'\n"
      "global.cert='/etc/ca.pem'\n"
      "global.index-url='https://else/simple'\n"
      "global.extra-index-url='https://a/\\nhttps://b/'\n"
      "global.timeout='5'\n"
      "install.no-binary=':all:'\n"
      "install.timeout='9'\n");
  CHECK(settings.variables ==
        base::Environment{{"PIP_CERT", "/etc/ca.pem"},
                          {"PIP_EXTRA_INDEX_URL", "https://a/\nhttps://b/"},
                          {"PIP_INDEX_URL", "https://user:secret@host/simple"},
                          {"PIP_TIMEOUT", "9"}});
  CHECK(settings.left_out == std::vector<std::string>{"no-binary"});
}
