#pragma once

#include "support/daemon.hpp"
#include "support/packages/python_tools.hpp"
#include "support/servers/loopback.hpp"
#include "support/temp_home.hpp"
#include "support/variables.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace sabath::test {

/// moto's S3 server with a bucket "bucket", and on PATH the real aws-cli, which finds it by a
/// variable. The user's own settings are out of the way.
class S3Server {
 public:
  TempHome home{};
  std::uint16_t port = unused_port();
  std::string endpoint = "http://127.0.0.1:" + std::to_string(port);
  PythonToolsOnPath tools_on_path{};
  Variables variables{{{"AWS_ENDPOINT_URL", endpoint},
                       {"HOME", home.path().string()},
                       {"AWS_ACCESS_KEY_ID", ""},
                       {"AWS_SECRET_ACCESS_KEY", ""},
                       {"AWS_PROFILE", ""},
                       {"AWS_EC2_METADATA_DISABLED", "true"}}};
  Daemon daemon{{"moto_server", "-H", "127.0.0.1", "-p", std::to_string(port)}, port};

  S3Server() { curl({"-X", "PUT", endpoint + "/bucket"}); }
  /// What is put there comes by curl, because each call of aws takes a second or two. The key is
  /// percent-encoded.
  std::string put(const std::string& key, const std::string& content) const {
    base::write_file_atomically(home / "object", content, base::Durability::ordered_only);
    put_files("object", key);
    return "s3://bucket/" + key;
  }
  /// Files beneath `home` that curl's globbing names, to a key or, with a slash at its end,
  /// beneath.
  void put_files(const std::string& names, const std::string& key) const {
    curl({"-T", home / names, endpoint + "/bucket/" + key});
  }

 private:
  static void curl(const std::vector<std::string>& arguments) {
    base::Command command;
    command.argv = {"curl", "-q", "-sS", "--fail", "-H", "x-amz-acl: public-read"};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    const auto result = base::SystemProcessRunner().run(command);
    if (!result.ok()) throw std::runtime_error("curl: " + result.errors + result.output);
  }
};

}  // namespace sabath::test
