#pragma once

#include "env_workshop.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/package_lock.hpp>

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace sabath::test {

/// A recipe whose code lies in repositories and archives of the test's own.
struct SourceWorkshop : EnvWorkshop {
  SourceWorkshop() {
    base::make_directories(recipe());
    // Nothing of the settings of whoever runs the tests.
    options.environment["HOME"] = home.path().string();
    options.environment.erase("XDG_CONFIG_HOME");
    options.bring = [this](const auto& files, const auto& download, auto&, auto) {
      return bring(files, download);
    };
  }

  /// Runs lines of shell in a folder of the home, made where it is not there; the last line said.
  std::string shell(const std::string& folder, const std::string& lines) {
    base::make_directories(home / folder);
    base::Command command;
    command.argv = {"sh", "-c", "set -e\n" + lines};
    command.working_directory = home / folder;
    command.environment = options.environment;
    for (const char* who : {"AUTHOR", "COMMITTER"}) {
      (*command.environment)[std::string("GIT_") + who + "_NAME"] = "a";
      (*command.environment)[std::string("GIT_") + who + "_EMAIL"] = "a@example.org";
    }
    const auto result = processes.run(command);
    if (!result.ok()) throw std::runtime_error(lines + ": " + result.errors);
    std::string text = result.output;
    while (text.ends_with('\n'))
      text.pop_back();
    return text.substr(text.find_last_of('\n') + 1);
  }
  /// Commits what `lines` leave in a repository, which is made where it is not there.
  std::string commit(const std::string& folder, const std::string& lines) {
    return shell(folder,
                 "[ -d .git ] || git init -q -b main .\n" + lines +
                     "\ngit add -A\ngit commit -q -m change\ngit rev-parse HEAD");
  }
  /// A Makefile that installs a script which says `word`.
  static std::string makefile_saying(const std::string& word) {
    return "cat >Makefile <<'E'\n" + script_makefile() + "E\nsed -i 's/echo hello/echo " + word +
           "/' Makefile";
  }
  std::string url(const std::string& folder) const { return "file://" + (home / folder).string(); }

  spec::LayerSpec git_layer(const std::string& folder, const std::string& ref = "main") const {
    spec::LayerSpec layer = source_layer("make", {"c"});
    layer.path.clear();
    layer.origin.git = url(folder);
    layer.origin.ref = ref;
    return layer;
  }
  spec::LayerSpec archive_layer(const std::string& name, bool with_digest = true) const {
    spec::LayerSpec layer = source_layer("make", {"c"});
    layer.path.clear();
    layer.origin.archive = "http://127.0.0.1:1/" + name;
    if (with_digest) layer.origin.digest = base::digest_file(home / name);
    return layer;
  }

  std::filesystem::path lock_file() const { return env::lock_file_of(recipe()); }
  spec::PackageLock read_lock() const {
    return spec::parse_package_lock(base::read_file(lock_file()), lock_file().string());
  }
  void write_lock(const spec::PackageLock& lock) const {
    base::write_file_atomically(lock_file(), base::pretty_json(to_json(lock)));
  }
  spec::PackageLock lock(const spec::EnvironmentSpec& spec) {
    std::optional<spec::PackageLock> known;
    if (std::filesystem::exists(lock_file())) known = read_lock();
    const auto made = store().lock_packages(spec, recipe(), known, {}, observer);
    if (!made) throw std::runtime_error("nothing was locked");
    write_lock(*made);
    return *made;
  }
  const spec::LockedPackage& locked(const spec::PackageLock& lock) const {
    return lock.layers.at(0).platforms.at(0).packages.at(0);
  }
  /// What the program that a layer installed says.
  std::string said_by(const spec::BuiltEnvironment& built, const std::string& program = "hello") {
    base::Command command;
    command.argv = {*built.prefix() + "/bin/" + program};
    command.environment = env::run_variables(built, options.environment);
    const auto result = processes.run(command);
    return result.output + result.errors;
  }

  /// As the cache does it: by digest, with the files of an "http://127.0.0.1:1/" in the home.
  std::map<std::string, std::filesystem::path> objects{};
  int downloads = 0;

 private:
  std::vector<std::filesystem::path> bring(const std::vector<env::PinnedFile>& files,
                                           const env::Download& download) {
    std::vector<std::filesystem::path> paths;
    for (const env::PinnedFile& file : files) {
      if (!objects.contains(file.digest.hex)) {
        const auto folder = home / ("object-" + std::to_string(++downloads));
        base::make_directories(folder);
        const auto path =
            file.urls.empty() ? download({file}, folder).front() : served(file, folder);
        const auto digest = base::digest_file(path);
        if (digest != file.digest) {
          throw base::Error(
              base::ErrorKind::integrity,
              file.name + ": was locked as " + file.digest.text() + ", got " + digest.text());
        }
        objects[digest.hex] = path;
      }
      paths.push_back(objects.at(file.digest.hex));
    }
    return paths;
  }
  std::filesystem::path served(const env::PinnedFile& file, const std::filesystem::path& folder) {
    const std::string url = file.urls.front();
    const auto from = home / url.substr(url.rfind('/') + 1);
    if (!std::filesystem::exists(from)) {
      throw base::Error(base::ErrorKind::transfer, url + ": nobody has it");
    }
    std::filesystem::copy_file(from, folder / file.name);
    return folder / file.name;
  }
};

}  // namespace sabath::test
