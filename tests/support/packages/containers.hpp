#pragma once

#include "support/daemon.hpp"

#include <sabath/base/process/process.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sabath::test {

/// A registry on the loopback interface, and what makes podman, skopeo and docker use it, and keep
/// their images, beneath one folder.
class Containers {
 public:
  explicit Containers(std::filesystem::path folder);
  ~Containers();
  Containers(const Containers&) = delete;
  Containers& operator=(const Containers&) = delete;

  /// Puts an image (tests/support/packages/make_image.py) into the registry; returns its reference.
  std::string image(const std::string& name, const std::vector<std::string>& more = {});
  /// Ends the registry: from now on there is no network.
  void close_registry() { registry_.reset(); }
  void open_registry();
  /// Starts Docker's daemon with what it has beneath the folder.
  void start_docker();

  /// HOME and the like; to be set over the caller's.
  const base::Environment& variables() const { return variables_; }
  base::ProcessResult run(const std::vector<std::string>& argv) const;
  std::uint16_t port() const { return port_; }

 private:
  void configure();

  std::filesystem::path folder_;
  std::uint16_t port_;
  base::Environment variables_{};
  std::unique_ptr<Daemon> registry_{};
  std::unique_ptr<Daemon> docker_{};
  int images_ = 0;
};

}  // namespace sabath::test
