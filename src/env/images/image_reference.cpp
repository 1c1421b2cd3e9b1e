#include "image_reference.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

namespace sabath::env {

std::string ImageReference::text() const {
  return digest ? pinned(*digest) : name + ":" + tag;
}

ImageReference parse_image(const std::string& text, const std::string& place) {
  // The grammar of github.com/distribution/reference; letters of registries may be upper case.
  static const std::string part = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
  static const base::Form form("(?:docker://)?((?:[A-Za-z0-9.-]+(?::[0-9]+)?/)?" + part + "(?:/" +
                               part +
                               ")*)(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?"
                               "(?:@(sha256:[0-9a-f]{64}))?");
  const auto parts = form.parts(text);
  if (text.size() > 512 || text.starts_with("docker://-") || text.starts_with('-') || !parts) {
    throw base::Error(base::ErrorKind::usage,
                      place + ": '" + base::printable(text) + "' is no image of a registry",
                      "such as \"python:3.12-slim\" or \"ghcr.io/team/code@sha256:...\"");
  }
  ImageReference image{parts->at(1), parts->at(2), {}};
  if (!parts->at(3).empty()) image.digest = base::parse_digest(parts->at(3));
  if (image.tag.empty() && !image.digest) image.tag = "latest";
  // As all engines complete it.
  const std::string first = image.name.substr(0, image.name.find('/'));
  const bool has_registry =
      first.size() < image.name.size() &&
      (first.find_first_of(".:") != std::string::npos || first == "localhost");
  if (!has_registry) image.name.insert(0, "docker.io/");
  if (image.name.starts_with("docker.io/") && image.name.find('/', 10) == std::string::npos) {
    image.name.insert(10, "library/");
  }
  return image;
}

}  // namespace sabath::env
