#include <sabath/base/text/text_table.hpp>
#include <sabath/live/environment_text.hpp>

#include <algorithm>
#include <utility>

namespace sabath::live {
namespace {

constexpr std::string_view package_label = "package.";

/// Labels with what they say, the labels as wide as the longest.
class Lines {
 public:
  void add(const std::string& label, const std::string& value) {
    if (value.empty()) return;
    lines_.emplace_back(label, value);
    width_ = std::max(width_, label.size());
  }
  std::string text() const {
    std::string text;
    for (const auto& [label, value] : lines_)
      text += "  " + label + std::string(width_ + 2 - label.size(), ' ') + base::printable(value) +
              "\n";
    return text;
  }

 private:
  std::vector<std::pair<std::string, std::string>> lines_{};
  std::size_t width_ = 0;
};

std::string packages_text(const spec::LayerLock& lock) {
  base::TextTable table({"  package", "version", "file"});
  for (const auto& [name, value] : lock.facts) {
    if (!name.starts_with(package_label)) continue;
    const auto blank = value.find(' ');
    table.add({"  " + name.substr(package_label.size()),
               value.substr(0, blank),
               value.substr(blank + 1).substr(0, 23)});
  }
  return table.empty() ? "" : table.text();
}

std::string version_in(const std::optional<spec::PackageLock>& lock,
                       const spec::PackageLayerLock& layer,
                       const spec::PlatformPackages& platform,
                       const std::string& package) {
  const auto* const before = lock ? lock->find(layer.name, layer.request) : nullptr;
  const auto* const packages =
      before == nullptr ? nullptr : before->find(platform.platform, platform.python);
  if (packages == nullptr) return {};
  for (const spec::LockedPackage& one : packages->packages) {
    if (one.name == package) return one.version;
  }
  return "-";
}

}  // namespace

std::string built_text(const spec::BuiltEnvironment& environment) {
  base::TextTable table({"layer", "kind", "key", "prefix"});
  for (const spec::BuiltLayer& layer : environment.layers) {
    table.add({layer.lock.name,
               std::string(spec::to_string(layer.lock.kind)),
               layer.lock.key.hex.substr(0, 16),
               layer.prefix});
  }
  return environment.layers.empty() ? "the recipe needs no environment\n" : table.text();
}

std::string entry_text(const env::EnvironmentEntry& entry,
                       const std::vector<std::string>& recipes,
                       const std::vector<std::string>& runs) {
  Lines lines;
  lines.add("key", entry.lock.key.hex);
  lines.add("prefix", entry.prefix.string());
  if (entry.size.files > 0) {
    lines.add("size",
              base::format_bytes(entry.size.disk_bytes) + " in " +
                  base::counted(entry.size.files, "file"));
  }
  lines.add("log", entry.log.string());
  lines.add("built", entry.built);
  lines.add("problem", entry.problem);
  for (const std::string& drift : entry.drift)
    lines.add("drift", drift);
  for (const auto& [name, value] : entry.lock.facts) {
    if (!name.starts_with(package_label)) lines.add(name, value);
  }
  for (const auto& [name, value] : entry.present) {
    if (!name.starts_with("library.")) lines.add(name, value);
  }
  for (const std::string& user : entry.users)
    lines.add("in use by", user);
  for (const std::string& recipe : recipes)
    lines.add("recipe", recipe);
  if (!runs.empty()) {
    lines.add("runs", std::to_string(runs.size()) + ", the last is " + runs.back());
  }
  return entry.lock.name + "  " + std::string(spec::to_string(entry.lock.kind)) + "  " +
         entry.state + "\n" + lines.text() + packages_text(entry.lock);
}

std::string lock_text(const spec::PackageLock& lock,
                      const std::optional<spec::PackageLock>& before,
                      const std::filesystem::path& path) {
  std::string text;
  for (const spec::PackageLayerLock& layer : lock.layers) {
    for (const spec::PlatformPackages& platform : layer.platforms) {
      base::TextTable table({{layer.name}, "version", "before", "file"});
      for (const spec::LockedPackage& package : platform.packages) {
        const std::string old = version_in(before, layer, platform, package.name);
        table.add({package.name + (package.requested ? " *" : ""),
                   package.version,
                   old == package.version ? "" : old,
                   package.file});
      }
      const std::string python = platform.python.empty() ? "" : " " + platform.python;
      text += platform.platform + python + ", by " + platform.resolver + "\n" + table.text() + "\n";
    }
  }
  return text + "* asked for by the recipe\nwrote " + base::printable(path.native()) + "\n";
}

std::string pack_text(const std::vector<env::PrefixImage>& images) {
  base::TextTable table({"layer", "size", "image"});
  for (const env::PrefixImage& image : images)
    table.add({image.layer, base::format_bytes(image.size_bytes), image.path.string()});
  return images.empty() ? "no layer of it has files to pack\n" : table.text();
}

}  // namespace sabath::live
