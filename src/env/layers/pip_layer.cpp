#include "builtin_layers.hpp"
#include "layer_variables.hpp"
#include "locked_layer.hpp"
#include "package_check.hpp"
#include "package_layer.hpp"
#include "source/source_build.hpp"
#include "tools/pip.hpp"
#include "tools/platform.hpp"
#include "tools/toolchain.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <utility>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Compiles bytecode. Skips files that are not Python of this version, as pip and uv do; failing to
/// write is an error. Arguments: folder, number of processes.
constexpr const char* compile_script = R"(
import multiprocessing, os, py_compile, sys
from concurrent.futures import ProcessPoolExecutor

def compile_one(file):
    try:
        py_compile.compile(file, doraise=True)
    except py_compile.PyCompileError:
        pass

files = [os.path.join(folder, name) for folder, inner, names in os.walk(sys.argv[1])
         for name in names if name.endswith(".py")]

with ProcessPoolExecutor(int(sys.argv[2]), mp_context=multiprocessing.get_context("fork")) as pool:
    for done in pool.map(compile_one, files, chunksize=16):
        pass
)";

void add_words(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// Package files on this machine, to be installed into a prefix.
struct PackageInstall {
  const LayerBuild& build;
  const Python& python;
  const std::vector<spec::LockedPackage>& packages;
  std::vector<std::filesystem::path> files{};  ///< one for each package
  std::optional<std::filesystem::path> uv{};   ///< used where it exists
};

/// Links each file under its own name: objects of a cache have other names.
fs::path link_folder(const PackageInstall& install) {
  fs::path folder = install.build.work / "wheels";
  base::make_directories(folder);
  for (std::size_t i = 0; i < install.packages.size(); ++i) {
    const fs::path link = folder / install.packages[i].file;
    std::error_code code;
    fs::remove(link, code);
    fs::create_symlink(install.files[i], link, code);
    if (code) base::throw_errno(link.string(), "cannot make", code.value());
  }
  return folder;
}

std::vector<spec::LockedPackage> packages_of(const PackageInstall& install, bool source) {
  std::vector<spec::LockedPackage> packages;
  for (const spec::LockedPackage& package : install.packages) {
    if (package.is_source() == source) packages.push_back(package);
  }
  return packages;
}

/// Installs wheels or sources. Builds from source see only the packages installed before.
void install_kind(const PackageInstall& install,
                  bool source,
                  const Words& tool,
                  BuildSteps& steps) {
  const auto packages = packages_of(install, source);
  if (packages.empty()) return;
  const fs::path list = install.build.work / (source ? "sources.txt" : "wheels.txt");
  base::write_file_atomically(list, hashed_requirements(packages), base::Durability::ordered_only);
  Words argv = tool;
  add_words(argv,
            {"--no-deps",
             "--require-hashes",
             "--no-index",
             "--find-links",
             (install.build.work / "wheels").string(),
             "--requirement",
             list.string()});
  add_words(argv, source ? Words{"--no-build-isolation"} : Words{"--only-binary", ":all:"});
  const std::string count = base::counted(packages.size(), "package");
  steps.run(source ? "building " + count + " from source, which runs code of theirs"
                   : "installing " + count,
            argv,
            install.build.work);
}

/// Makes a virtual environment in the prefix and installs exactly these files, with checked
/// digests, without a network and without resolving. Installs wheels first, so that builds from
/// source find them. Returns the tools that were used. Throws as BuildSteps::run.
std::map<std::string, std::string> install_packages(const PackageInstall& install,
                                                    base::ProcessRunner& processes,
                                                    BuildSteps& steps) {
  link_folder(install);
  const std::string base = install.python.executable.string();
  const std::string prefix = install.build.prefix.string();
  const std::string python = prefix + "/bin/python";
  std::map<std::string, std::string> used{{"python.executable", base},
                                          {"python.build", install.python.build}};
  Words tool;
  Words check;
  if (install.uv) {
    const std::string uv = install.uv->string();
    steps.run("making an environment with uv",
              {uv, "venv", "--no-config", "--offline", "--python", base, prefix},
              install.build.work);
    tool = {uv,
            "pip",
            "install",
            "--no-config",
            "--offline",
            "--no-cache",
            "--python",
            python,
            "--link-mode",
            "hardlink"};
    check = {uv, "pip", "check", "--no-config", "--offline", "--no-cache", "--python", python};
    used["tool.installer"] = "uv";
  } else {
    steps.run("making an environment with venv",
              {base, "-I", "-m", "venv", "--without-pip", prefix},
              install.build.work);
    const PipProgram pip = find_pip(install.build.context,
                                    install.python,
                                    install.build.work,
                                    {},
                                    processes,
                                    install.build.stop);
    tool = pip.command;
    add_words(tool,
              {"--python",
               python,
               "install",
               "--no-input",
               "--no-cache-dir",
               "--no-compile",
               "--disable-pip-version-check",
               "--no-warn-script-location"});
    check = pip.command;
    add_words(check, {"--python", python, "check", "--no-input", "--disable-pip-version-check"});
    used["tool.installer"] = "pip " + pip.version;
  }
  install_kind(install, false, tool, steps);
  install_kind(install, true, tool, steps);
  // Stages cannot write into a prefix and would compile their imports each time.
  steps.run("compiling bytecode",
            {python, "-I", "-c", compile_script, prefix + "/lib", jobs_of(install.build.limits)},
            install.build.work);
  // A lock may be incomplete: nothing was resolved here.
  steps.run("checking that the packages have what they need", check, install.build.work);
  return used;
}

/// Returns the variables for the install.
base::Environment install_variables(base::Environment variables) {
  // With SOURCE_DATE_EPOCH bytecode would be checked against its source at every import.
  variables.erase("SOURCE_DATE_EPOCH");
  variables["PYTHONNOUSERSITE"] = "1";
  return variables;
}

class PipLayer final : public PackageLayer {
 public:
  explicit PipLayer(const LayerTools& tools)
      : PackageLayer(tools), memo_(tools.memo), toolchain_(tools.processes, tools.memo) {}

  spec::LayerKind kind() const override { return spec::LayerKind::pip; }
  std::string_view description() const override { return "Python packages"; }
  std::map<std::string, std::string> resolve(const LayerContext& context) override {
    const Packages packages = locked(context);
    auto facts = facts_of(packages);
    const Python python = find_python(context, processes_, *memo_);
    facts["python"] = python.implementation + " " + python.version;
    if (std::ranges::none_of(packages, [](const auto& one) { return one.is_source(); }))
      return facts;
    facts["platform.level"] = architecture_level();
    for (const auto& [language, command] : {std::pair{"c", "cc"}, std::pair{"c++", "c++"}}) {
      const auto tool = toolchain_.compiler(language, command, context.variables);
      facts[std::string("compiler.") + language] = tool ? tool->identity : "none";
    }
    return facts;
  }

  std::map<std::string, std::string> check_expectations(const LayerBuild& build) override {
    std::vector<std::string> requested;
    for (const spec::LockedPackage& package : locked(build.context))
      if (package.requested) requested.push_back(package.name);
    return check_packages(build, {build.lock, build.prefix.string()}, requested, processes_);
  }

  base::Digest request_digest(const LayerContext& context) override {
    return read_packages(context).digest;
  }

  spec::PackageLayerLock lock(const LockRequest& request, const LockTarget& target) override {
    const LayerContext& context = request.context;
    const PackageList list = read_packages(context);
    const Python python = find_python(context, processes_, *memo_);
    const std::string place = place_of(context.spec.name);
    std::optional<PipTarget> other;
    if (!target.platform.empty() || !target.python.empty())
      other = pip_target(target, python, place);
    spec::PlatformPackages packages;
    packages.platform = other ? other->platform : python.platform;
    packages.python = other ? other->tag : python.tag;
    request.observer.note(place + ": resolving for " + packages.platform + ", python " +
                          (other ? other->version : python.version));
    for (const std::string& name : context.spec.packages.from_source) {
      request.observer.warn(
          place + ": " + name + " is to be built from source: resolving runs its code",
          "the recipe names it in \"from_source\"");
    }
    Pip pip(request, python, processes_, user_);
    for (const std::string& name : pip.settings().left_out) {
      request.observer.warn(
          place + ": your pip setting '" + base::printable(name) + "' is left out",
          "what is installed depends on the recipe alone; indexes, certificates and "
          "proxies are used");
    }
    packages.resolver = "pip " + pip.version();
    packages.packages = pip.resolve(list, other);
    return {kind(), context.spec.name, list.digest, {std::move(packages)}};
  }

 private:
  PackageLayer::Packages locked(const LayerContext& context) override {
    const auto lock = read_locked_layer(context, read_packages(context).digest);
    const Python python = find_python(context, processes_, *memo_);
    return packages_for(context, lock, python.platform, python.tag).packages;
  }

  std::set<std::string> requested(const LayerContext& context) override {
    return read_packages(context).requested;
  }

  Download download(const LockRequest& request, const Packages& packages) override {
    // Found at the first download: most files come from the cache.
    struct Engine {
      Python python{};
      std::optional<Pip> pip{};
    };
    const auto engine = std::make_shared<Engine>();
    return [this, engine, &request, &packages](const std::vector<PinnedFile>& files,
                                               const fs::path& folder) {
      if (!engine->pip) {
        engine->python = find_python(request.context, processes_, *memo_);
        engine->pip.emplace(request, engine->python, processes_, user_);
      }
      Packages some;
      for (const PinnedFile& file : files) {
        some.push_back(*std::ranges::find_if(
            packages, [&](const auto& one) { return one.file == file.name; }));
        request.observer.note(place_of(request.context.spec.name) + ": fetching " + file.what);
      }
      return engine->pip->download(some, folder);
    };
  }

  /// Building from source runs code of the packages before anything of them was imported.
  void announce(const LockRequest& request, const Packages& packages) const override {
    std::string names;
    for (const spec::LockedPackage& package : packages) {
      if (package.is_source())
        names += (names.empty() ? "" : ", ") + package.name + " " + package.version;
    }
    if (names.empty()) return;
    request.observer.warn(place_of(request.context.spec.name) + ": " + names +
                              ": built from source, which runs their code here",
                          "only packages that the recipe names in \"from_source\" are");
  }

  std::map<std::string, std::string> install(const LayerBuild& build,
                                             const Packages& packages,
                                             const std::vector<fs::path>& files) override {
    const Python python = find_python(build.context, processes_, *memo_);
    const PackageInstall install{build, python, packages, files, find_uv(build.context.variables)};
    BuildSteps steps(processes_, build, install_variables(build.context.variables));
    auto used = install_packages(install, processes_, steps);
    check_present(build, packages_in(build.prefix));
    return used;
  }

  std::map<std::string, std::string> installed(const fs::path& prefix) const override {
    return packages_in(prefix);
  }

  std::shared_ptr<Memo> memo_;
  Toolchain toolchain_;
};

}  // namespace

std::unique_ptr<EnvironmentLayer> make_pip_layer(const LayerTools& tools) {
  return std::make_unique<PipLayer>(tools);
}

}  // namespace sabath::env
