#include "package_install.hpp"

#include "layer_variables.hpp"
#include "source/source_build.hpp"
#include "tools/pip.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

/// Files that are no Python of this version stay without bytecode, as with pip and uv; that it
/// cannot be written is an error. Arguments: folder, number of processes.
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

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// A folder that has each file under its own name, which objects of a cache do not have.
fs::path link_folder(const PackageInstall& install) {
  const fs::path folder = install.build.work / "wheels";
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

/// Installs one kind of files. What is built from source sees what is installed already, and not
/// what an index has today.
void install_kind(const PackageInstall& install,
                  bool source,
                  const Words& tool,
                  BuildSteps& steps) {
  const auto packages = packages_of(install, source);
  if (packages.empty()) return;
  const fs::path list = install.build.work / (source ? "sources.txt" : "wheels.txt");
  base::write_file_atomically(list, hashed_requirements(packages), base::Durability::ordered_only);
  Words argv = tool;
  append(argv,
         {"--no-deps",
          "--require-hashes",
          "--no-index",
          "--find-links",
          (install.build.work / "wheels").string(),
          "--requirement",
          list.string()});
  append(argv, source ? Words{"--no-build-isolation"} : Words{"--only-binary", ":all:"});
  const std::string count = std::to_string(packages.size());
  steps.run(source ? "building " + count + " packages from source, which runs their code"
                   : "installing " + count + " packages",
            argv,
            install.build.work);
}

}  // namespace

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
    append(tool,
           {"--python",
            python,
            "install",
            "--no-input",
            "--no-cache-dir",
            "--no-compile",
            "--disable-pip-version-check",
            "--no-warn-script-location"});
    check = pip.command;
    append(check, {"--python", python, "check", "--no-input", "--disable-pip-version-check"});
    used["tool.installer"] = "pip " + pip.version;
  }
  install_kind(install, false, tool, steps);
  install_kind(install, true, tool, steps);
  // Stages cannot write into a prefix, and would compile what they import each time.
  steps.run("compiling bytecode",
            {python, "-I", "-c", compile_script, prefix + "/lib", jobs_of(install.build.limits)},
            install.build.work);
  // Nothing was resolved: a lock may be wrong.
  steps.run("checking that the packages have what they need", check, install.build.work);
  return used;
}

}  // namespace sabath::env
