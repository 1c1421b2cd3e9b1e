#include "image_registry.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
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
  std::string words;
  for (const std::string& one : known)
    words += (words.empty() ? "" : ", ") + base::printable(one);
  throw Error(
      ErrorKind::environment,
      place + ": " + image + " is not there for " + platform.text() + "; it is for " + words,
      "another image, or '--platform' for another machine");
}

/// What was asked for by its digest must have it.
void require_digest(const std::string& text, const base::Digest& wanted, const std::string& place) {
  const base::Digest got = base::sha256_of(text);
  if (got == wanted) return;
  throw Error(ErrorKind::integrity,
              place + ": the registry gave " + got.text() + " for " + wanted.text());
}

base::Digest pick(const std::vector<IndexedImage>& images,
                  const std::string& name,
                  const ImagePlatform& platform,
                  const std::string& place) {
  std::set<std::string> known;
  for (const IndexedImage& image : images) {
    if (image.platform == platform) return image.digest;
    // Attestations stand in indexes as images for an unknown platform.
    if (image.platform.os != "unknown") known.insert(image.platform.text());
  }
  refuse_platform(name, platform, known, place);
}

class Skopeo {
 public:
  Skopeo(std::string program, const ImageTools& tools)
      : program_(std::move(program)), tools_(tools) {}

  ImageManifest resolve(const ImageReference& image, const ImagePlatform& platform) const {
    const std::string& place = tools_.place();
    std::string text = raw({}, image.text());
    if (image.digest) require_digest(text, *image.digest, place);
    if (const auto index = read_image_index(text, place)) {
      const base::Digest digest = pick(*index, image.text(), platform, place);
      text = raw({}, image.pinned(digest));
      require_digest(text, digest, place);
    }
    ImageManifest manifest = read_image_manifest(text, place);
    const std::string config = raw({"--config"}, image.pinned(manifest.digest));
    require_digest(config, manifest.config, place);
    const ImagePlatform found = read_image_platform(config, place);
    if (found != platform) refuse_platform(image.text(), platform, {found.text()}, place);
    return manifest;
  }

 private:
  std::string raw(const std::vector<std::string>& options, const std::string& image) const {
    std::vector<std::string> argv{program_, "inspect", "--raw"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back("docker://" + image);
    return tools_.ask("look up " + image, argv);
  }

  std::string program_;
  const ImageTools& tools_;
};

bool is_on_loopback(const std::string& registry) {
  return registry.starts_with("127.") || registry.starts_with("localhost");
}

ImageManifest resolve_with_docker(const std::string& program,
                                  const ImageReference& image,
                                  const ImagePlatform& platform,
                                  const ImageTools& tools) {
  std::vector<std::string> argv{program, "manifest", "inspect", "--verbose"};
  // As the daemon does of itself.
  if (is_on_loopback(image.registry())) argv.emplace_back("--insecure");
  argv.push_back(image.text());
  std::set<std::string> known;
  for (const DescribedImage& one :
       read_docker_manifests(tools.ask("look up " + image.text(), argv), tools.place())) {
    if (one.platform == platform) return one.manifest;
    if (one.platform.os != "unknown") known.insert(one.platform.text());
  }
  refuse_platform(image.text(), platform, known, tools.place());
}

}  // namespace

ResolvedImage resolve_image(const ImageReference& image,
                            const ImagePlatform& platform,
                            const ImageTools& tools) {
  if (const auto skopeo = tools.find("skopeo"))
    return {Skopeo(*skopeo, tools).resolve(image, platform), "skopeo"};
  if (const auto docker = tools.find("docker"))
    return {resolve_with_docker(*docker, image, platform, tools), "docker"};
  throw Error(ErrorKind::environment,
              tools.place() + ": neither skopeo nor docker is there to look up " + image.text(),
              "install skopeo, or lock on another machine: the lock is a file for version control");
}

void download_image(const ImageReference& image,
                    const base::Digest& digest,
                    const fs::path& folder,
                    const ImageTools& tools) {
  const auto skopeo = tools.find("skopeo");
  if (!skopeo) {
    throw Error(ErrorKind::environment,
                tools.place() + ": skopeo is not there, which fetches images as they are",
                "install skopeo");
  }
  const std::string name = image.pinned(digest);
  try {
    tools.ask("fetch " + name,
              {*skopeo, "copy", "--quiet", "docker://" + name, "dir:" + folder.string()});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::environment) throw;
    // What a registry says today (too many requests, a bad gateway) is no property of the image.
    throw Error(ErrorKind::transfer, error.what(), error.hint());
  }
  fs::rename(folder / "manifest.json", folder / digest.hex);
}

}  // namespace sabath::env
