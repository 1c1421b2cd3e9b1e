#include "package_lock_json.hpp"

#include "documents/document_json.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/spec/package_lock.hpp>

#include <algorithm>

namespace sabath::spec {

namespace {

constexpr std::string_view lock_again = "'sabath env lock RECIPE' writes it anew";

struct NameForms {
  base::Form name;
  base::Form file;
  std::string_view what_file;
};

/// Names become arguments and names of files. Made once: a lock has hundreds of packages.
const NameForms& forms_of(LayerKind kind) {
  static const std::string start = "[A-Za-z0-9_][A-Za-z0-9.!+_-]*";
  static const base::Form any_name("[A-Za-z0-9_][A-Za-z0-9._/:+-]*");
  static const NameForms pip{base::Form("[a-z0-9]+(-[a-z0-9]+)*"),
                             base::Form(start + "\\.(whl|tar\\.gz|zip)"),
                             "a wheel or source distribution"};
  static const NameForms conda{
      any_name, base::Form(start + "\\.(conda|tar\\.bz2)"), "a package of conda"};
  static const NameForms others{any_name, base::Form(start), "a file"};
  switch (kind) {
    case LayerKind::pip:
      return pip;
    case LayerKind::conda:
      return conda;
    case LayerKind::host:
    case LayerKind::modules:
    case LayerKind::source:
    case LayerKind::container:
      break;
  }
  return others;
}

void check_package(LayerKind kind, const LockedPackage& package, const base::JsonReader& reader) {
  static const base::Form version("[A-Za-z0-9_][A-Za-z0-9.!+_=-]*");
  const NameForms& forms = forms_of(kind);
  if (!forms.name.matches(package.name)) {
    reader.problem("'" + package.name + "' is not a normalised name of a package");
  }
  const bool may_lack_version = kind == LayerKind::source || kind == LayerKind::container;
  if (!(package.version.empty() && may_lack_version) && !version.matches(package.version)) {
    reader.problem("'" + package.version + "' is not a version");
  }
  if (package.build && !version.matches(*package.build)) {
    reader.problem("'" + *package.build + "' is not a build");
  }
  if (!forms.file.matches(package.file)) {
    reader.problem("'" + package.file + "' is not the name of " + std::string(forms.what_file));
  }
  static const base::Form url("(https?|ftp|file|ssh|git|oci)://[^\\s@]*(@sha256:[0-9a-f]+)?");
  static const base::Form own("\\{recipe\\}/[^\\s@]+");
  const bool is_own = kind == LayerKind::conda && package.url && own.matches(*package.url);
  if (package.url && !is_own && !url.matches(*package.url)) {
    reader.problem("'" + *package.url + "' is not a URL without a login");
  }
  if (package.digest.algorithm != base::DigestAlgorithm::sha256 || package.digest.hex.empty()) {
    reader.problem("'" + package.name + "' has no SHA-256", std::string(lock_again));
  }
}

void check_packages(const PackageLock& lock, base::JsonReader reader) {
  auto layers = reader.items();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    auto platforms = layers[i].required("platforms").items();
    for (std::size_t j = 0; j < platforms.size(); ++j) {
      const auto packages = platforms[j].required("packages").items();
      for (std::size_t k = 0; k < packages.size(); ++k)
        check_package(lock.layers[i].kind, lock.layers[i].platforms[j].packages[k], packages[k]);
    }
  }
}

}  // namespace

const PlatformPackages* PackageLayerLock::find(std::string_view platform,
                                               std::string_view python) const {
  const auto found =
      std::find_if(platforms.begin(), platforms.end(), [&](const PlatformPackages& one) {
        return one.platform == platform && one.python == python;
      });
  return found == platforms.end() ? nullptr : &*found;
}

const PackageLayerLock* PackageLock::find(std::string_view layer,
                                          const base::Digest& request) const {
  const PackageLayerLock* found = nullptr;
  for (const PackageLayerLock& one : layers) {
    if (one.name != layer) continue;
    if (one.request == request) return &one;
    found = &one;
  }
  return found;
}

base::Digest PackageLock::digest() const {
  return base::sha256_of(base::canonical_json(FieldWriter::written(layers)));
}

nlohmann::ordered_json to_json(const PackageLock& lock) {
  return document_of(SealedLock{lock.layers, lock.digest().text()});
}

PackageLock parse_package_lock(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  base::JsonReader root = document.root();
  root.required("schema", schema_hint);
  SealedLock sealed;
  FieldReader io(root);
  describe(io, sealed);
  PackageLock lock{std::move(sealed.layers)};
  check_packages(lock, root.optional("layers"));
  root.finish();
  document.finish();
  if (sealed.digest != lock.digest().text()) {
    root.optional("digest").problem("the lock was edited or merged after it was written",
                                    std::string(lock_again) + "; the recipe says what is locked");
    document.finish();
  }
  return lock;
}

std::string normal_package_name(std::string_view name) {
  std::string normal;
  for (const char c : name) {
    const bool separates = c == '-' || c == '_' || c == '.';
    if (separates && normal.ends_with('-')) continue;
    if (separates) {
      normal += '-';
    } else {
      normal += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
  }
  return normal;
}

std::optional<std::string> required_package(std::string_view requirement) {
  static const std::string clause = "(===?|[~!<>]=|[<>])\\s*[A-Za-z0-9.*+!_-]+\\s*";
  static const base::Form form(
      "\\s*([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)\\s*(\\[[A-Za-z0-9._, -]*\\])?"
      "\\s*(\\(?\\s*" +
      clause + "(,\\s*" + clause + ")*,?\\s*\\)?)?\\s*(;[^\\n]*)?");
  const auto parts = form.parts(requirement);
  if (!parts) return std::nullopt;
  return normal_package_name(parts->at(1));
}

}  // namespace sabath::spec
