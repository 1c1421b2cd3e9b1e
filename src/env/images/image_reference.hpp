#pragma once

#include <sabath/base/digest.hpp>

#include <optional>
#include <string>

namespace sabath::env {

/// An image of a registry, as `docker pull` reads it.
struct ImageReference {
  std::string name{};  ///< "docker.io/library/python"
  std::string tag{};   ///< "3.12-slim"; empty where the digest alone names it
  std::optional<base::Digest> digest{};

  /// What registries are asked for: the digest where there is one.
  std::string text() const;
  /// "docker.io/library/python@sha256:..."
  std::string pinned(const base::Digest& to) const { return name + "@" + to.text(); }
  std::string registry() const { return name.substr(0, name.find('/')); }
};

/// "python:3.12", "ghcr.io/team/code@sha256:...", with or without "docker://". Throws Error{usage}
/// for what is no image of a registry; `place` begins the message.
ImageReference parse_image(const std::string& text, const std::string& place);

}  // namespace sabath::env
