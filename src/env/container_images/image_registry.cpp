#include "image_registry.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

#include <set>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

[[noreturn]] void refuse_platform(const std::string& image,
                                  const ImagePlatform& platform,
                                  const std::set<std::string>& known,
                                  const std::string& place) {
  throw_environment(place + ": " + image + " is not there for " + platform.text() + "; it is for " +
                        in_words({known.begin(), known.end()}),
                    "another image, or '--platform' for another machine");
}

/// Checks content that was requested by its digest.
void require_digest(const std::string& text, const base::Digest& wanted, const std::string& place) {
  const base::Digest got = base::sha256_of(text);
  if (got == wanted) return;
  throw Error(ErrorKind::integrity,
              place + ": the registry gave " + got.text() + " for " + wanted.text());
}

/// Returns the image for a platform.
template <class Image>
const Image& pick(const std::vector<Image>& images,
                  const std::string& name,
                  const ImagePlatform& platform,
                  const std::string& place) {
  std::set<std::string> known;
  for (const Image& image : images) {
    if (image.platform == platform) return image;
    // Indexes list attestations as images for an unknown platform.
    if (image.platform.os != "unknown") known.insert(image.platform.text());
  }
  refuse_platform(name, platform, known, place);
}

ImageManifest resolve_with_skopeo(const std::string& program,
                                  const ImageReference& image,
                                  const ImagePlatform& platform,
                                  const ImageTools& tools) {
  const std::string& place = tools.place();
  const auto raw = [&](const std::string& named, const std::vector<std::string>& options = {}) {
    std::vector<std::string> argv{program, "inspect", "--raw"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back("docker://" + named);
    return tools.ask("look up " + named, argv);
  };
  std::string text = raw(image.text());
  if (image.digest) require_digest(text, *image.digest, place);
  if (const auto index = read_image_index(text, place)) {
    const base::Digest digest = pick(*index, image.text(), platform, place).digest;
    text = raw(image.pinned(digest));
    require_digest(text, digest, place);
  }
  ImageManifest manifest = read_image_manifest(text, place);
  const std::string config = raw(image.pinned(manifest.digest), {"--config"});
  require_digest(config, manifest.config, place);
  const ImagePlatform found = read_image_platform(config, place);
  if (found != platform) refuse_platform(image.text(), platform, {found.text()}, place);
  return manifest;
}

ImageManifest resolve_with_docker(const std::string& program,
                                  const ImageReference& image,
                                  const ImagePlatform& platform,
                                  const ImageTools& tools) {
  std::vector<std::string> argv{program, "manifest", "inspect", "--verbose"};
  // The daemon itself does the same.
  const std::string registry = image.registry();
  if (registry.starts_with("127.") || registry.starts_with("localhost"))
    argv.emplace_back("--insecure");
  argv.push_back(image.text());
  const std::string answer = tools.ask("look up " + image.text(), argv);
  const auto images = read_docker_manifests(answer, tools.place());
  return pick(images, image.text(), platform, tools.place()).manifest;
}

}  // namespace

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
                      place + ": '" + base::printable(text) + "' is not an image of a registry",
                      "such as \"python:3.12-slim\" or \"ghcr.io/team/code@sha256:...\"");
  }
  ImageReference image{parts->at(1), parts->at(2), {}};
  if (!parts->at(3).empty()) image.digest = base::parse_digest(parts->at(3));
  if (image.tag.empty() && !image.digest) image.tag = "latest";
  // Completes the name as all engines do.
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

ResolvedImage resolve_image(const ImageReference& image,
                            const ImagePlatform& platform,
                            const ImageTools& tools) {
  if (const auto skopeo = tools.find("skopeo"))
    return {resolve_with_skopeo(*skopeo, image, platform, tools), "skopeo"};
  if (const auto docker = tools.find("docker"))
    return {resolve_with_docker(*docker, image, platform, tools), "docker"};
  throw_environment(
      tools.place() + ": neither skopeo nor docker is there to look up " + image.text(),
      "install skopeo, or lock on another machine: the lock is a file for version control");
}

void download_image(const ImageReference& image,
                    const base::Digest& digest,
                    const fs::path& folder,
                    const ImageTools& tools) {
  const auto skopeo = tools.find("skopeo");
  if (!skopeo) {
    throw_environment(tools.place() + ": skopeo is not there, which fetches images as they are",
                      "install skopeo");
  }
  const std::string name = image.pinned(digest);
  try {
    tools.ask("fetch " + name,
              {*skopeo, "copy", "--quiet", "docker://" + name, "dir:" + folder.string()});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) throw;
    // Problems of a registry (too many requests, a bad gateway) are temporary, not a property of
    // the image.
    throw Error(ErrorKind::transfer, error.what(), error.hint());
  }
  fs::rename(folder / "manifest.json", folder / digest.hex);
}

}  // namespace sabath::env
