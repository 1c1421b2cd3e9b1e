#include "build_steps.hpp"
#include "fetched_source.hpp"
#include "layers/builtin_layers.hpp"
#include "layers/layer_variables.hpp"
#include "layers/locked_layer.hpp"
#include "source_build.hpp"
#include "store/linked_libraries.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Trees up to this size are hashed each time: that is as fast as the memo.
constexpr std::uint64_t small_tree_bytes = 1U << 20U;

/// Returns a file or folder of the recipe's own folder. Throws Error{not_found|usage}.
fs::path path_in_recipe(const LayerContext& context, const std::string& named, fs::file_type type) {
  const std::string place = place_of(context.spec.name);
  const bool is_folder = type == fs::file_type::directory;
  std::error_code code;
  const fs::path recipe = fs::weakly_canonical(fs::absolute(context.recipe_directory), code);
  const fs::path path = spec::expand(named, {{"recipe", recipe.string()}}, place);
  fs::path real = fs::canonical(recipe / path, code);
  if (code || fs::status(real, code).type() != type) {
    throw base::Error(base::ErrorKind::not_found,
                      place + ": " + path.string() + ": no such " + (is_folder ? "folder" : "file"),
                      is_folder ? "\"path\" of a source layer is the folder with its code"
                                : "the recipe names it among its patches");
  }
  if (!(real.string() + "/").starts_with(recipe.string() + "/")) {
    throw base::Error(base::ErrorKind::usage,
                      place + ": " + path.string() + ": lies outside of the recipe",
                      is_folder ? "a recipe builds only what lies in its own folder"
                                : "patches are a part of the recipe");
  }
  return real;
}

fs::path source_folder(const LayerContext& context) {
  return path_in_recipe(context, context.spec.path, fs::file_type::directory);
}

/// A build system, with a hint for builds that install nothing.
struct BuildSystem {
  std::string_view name{};
  std::map<std::string, std::string> (*run)(const SourceBuild&, BuildSteps&) = nullptr;
  std::string_view lacks{};
};

constexpr std::array<BuildSystem, 4> build_systems{
    {{"cmake", build_with_cmake, "the CMakeLists.txt needs an install() command"},
     {"make", build_with_make, "the Makefile's target 'install' must copy to $(PREFIX)"},
     {"autotools", build_with_autotools, "'make install' must copy to the --prefix of configure"},
     {"steps", build_with_steps, "the last steps must copy to {prefix}"}}};

const BuildSystem& find_build_system(const spec::LayerSpec& spec) {
  for (const BuildSystem& one : build_systems) {
    if (one.name == spec.build) return one;
  }
  throw base::Error(base::ErrorKind::usage,
                    place_of(spec.name) + ": cannot build with '" + spec.build + "'",
                    "\"build\" is \"cmake\", \"make\", \"autotools\" or \"steps\"");
}

std::map<std::string, std::string> options_of(const spec::LayerSpec& spec) {
  const std::string place = place_of(spec.name);
  find_build_system(spec);
  // Options for the place of the installation are reserved: builds would leave the prefix.
  constexpr std::array<std::string_view, 5> taken{
      "CMAKE_INSTALL_PREFIX", "DESTDIR", "PREFIX", "prefix", "exec-prefix"};
  for (const auto& [name, value] : spec.options) {
    if (std::ranges::find(taken, name) != taken.end()) {
      throw base::Error(base::ErrorKind::usage,
                        place + ": the option '" + name + "' is reserved",
                        "sabath chooses where a layer is installed; {env} leads there");
    }
  }
  std::map<std::string, std::string> options = spec.options;
  if (spec.build == "cmake") options.insert({"CMAKE_BUILD_TYPE", "Release"});
  return options;
}

/// Returns the steps for the key, and checks their placeholders.
std::vector<std::string> steps_of(const spec::LayerSpec& spec) {
  std::vector<std::string> shown;
  if (spec.build != "steps") return shown;
  for (const std::vector<std::string>& step : spec.steps) {
    const std::string place = place_of(spec.name) + ": step " + std::to_string(shown.size() + 1);
    expand_step(step, {{"prefix", ""}, {"source", ""}, {"jobs", ""}}, place);
    shown.push_back(base::quote_command(step));
  }
  return shown;
}

base::Environment build_environment(const LayerContext& context,
                                    const std::map<std::string, Tool>& compilers) {
  base::Environment environment = context.variables;
  // LIBRARY_PATH makes earlier prefixes implicit folders of the compiler, for which cmake sets no
  // rpath. cmake finds libraries by CMAKE_PREFIX_PATH.
  if (context.spec.build == "cmake") environment.erase("LIBRARY_PATH");
  for (const Language& language : languages) {
    const auto compiler = compilers.find(std::string(language.name));
    if (compiler == compilers.end()) continue;
    environment[std::string(language.variable)] = base::joined(compiler->second.command, " ");
  }
  return environment;
}

/// A patch of a source, in the format of `diff -u` or git.
struct Patch {
  std::filesystem::path file{};
  base::Digest digest{};
};

/// Returns the command that applies a patch. git and patch behave the same: neither guesses where
/// the context differs.
std::vector<std::string> command_for(const base::Environment& environment, const fs::path& file) {
  const std::string places = search_path(environment);
  if (const auto git = base::find_program("git", places)) {
    return {git->string(), "apply", "-p1", "--whitespace=nowarn", "--", file.string()};
  }
  if (const auto patch = base::find_program("patch", places)) {
    return {patch->string(),
            "-p1",
            "--batch",
            "--forward",
            "--fuzz=0",
            "--no-backup-if-mismatch",
            "--reject-file=-",
            "--input=" + file.string()};
  }
  return {};
}

/// Returns true for lines that name a file or a hunk.
bool names_place(const std::string& line) {
  constexpr std::array signs{"error: ", "patching file", "Hunk #", "can't find file", "malformed"};
  return std::ranges::any_of(
      signs, [&](const char* sign) { return line.find(sign) != std::string::npos; });
}

/// Reads the patches that the layer names, in the recipe's folder. Throws Error{not_found|usage}.
std::vector<Patch> read_patches(const LayerContext& context) {
  std::vector<Patch> patches;
  for (const std::string& named : context.spec.patches) {
    const fs::path real = path_in_recipe(context, named, fs::file_type::regular);
    patches.push_back({real, base::digest_file(real)});
  }
  return patches;
}

/// Applies the patches in order beneath `source`. Applies no patch partially or at another place
/// where the context does not match. Throws Error{environment} that names file and line.
void apply_patches(const LayerBuild& build,
                   const std::vector<Patch>& patches,
                   const fs::path& source,
                   base::ProcessRunner& processes) {
  const std::string place = place_of(build.lock.name);
  for (const Patch& patch : patches) {
    const std::string name = patch.file.filename().string();
    build.observer.note(place + ": applying " + base::printable(name));
    base::Command command;
    command.argv = command_for(build.context.variables, patch.file);
    if (command.argv.empty()) {
      throw_environment(place + ": neither git nor patch is on PATH, and the recipe has patches",
                        "install one (Debian: apt install patch)");
    }
    command.working_directory = source;
    command.environment = build.context.variables;
    // Keeps git from using a repository that happens to lie above the source.
    (*command.environment)["GIT_CEILING_DIRECTORIES"] = source.parent_path().string();
    (*command.environment)["GIT_CONFIG_NOSYSTEM"] = "1";
    command.deadline = build.limits.wall.value_or(usual_build_time);
    const base::ProcessResult result =
        run_unless_stopped(processes, command, build.stop, place + ": stopped while patching");
    const std::string output = result.errors + result.output;
    write_log(build.log, "$ " + base::quote_command(command.argv) + "\n" + output);
    if (result.ok()) continue;
    throw_environment(
        place + ": the patch " + base::printable(name) + " does not apply: " +
            (result.end == base::ProcessEnd::exited ? "" : result.describe()) +
            last_lines_in(output, 20, names_place),
        "patches are applied in the order of the recipe, with -p1, and lines must fit "
        "exactly; the log is " +
            build.log.string());
  }
}

/// Returns the patches, if they are those of the key.
std::vector<Patch> locked_patches(const LayerBuild& build) {
  std::vector<Patch> patches = read_patches(build.context);
  for (std::size_t i = 0; i < patches.size(); ++i) {
    if (build.lock.facts.at("patch." + std::to_string(i + 1)) == patches[i].digest.text()) continue;
    throw base::Error(base::ErrorKind::integrity,
                      place_of(build.lock.name) + ": " + patches[i].file.string() +
                          " was changed while its build began",
                      "run the command again when nobody writes there");
  }
  return patches;
}

class SourceLayer final : public EnvironmentLayer {
 public:
  explicit SourceLayer(const LayerTools& tools)
      : tools_(tools), toolchain_(tools.processes, tools.memo) {}

  spec::LayerKind kind() const override { return spec::LayerKind::source; }
  std::string_view description() const override { return "code that is built here"; }
  std::map<std::string, std::string> resolve(const LayerContext& context) override {
    const auto options = options_of(context.spec);
    std::map<std::string, std::string> facts{{"build", context.spec.build}};
    for (const auto& [name, value] : options)
      // configure treats "--x" and "--x=yes" alike.
      facts["option." + name] = value.empty() && context.spec.build == "autotools" ? "yes" : value;
    int number = 0;
    for (const std::string& step : steps_of(context.spec))
      facts["step." + std::to_string(++number)] = step;
    number = 0;
    for (const Patch& patch : read_patches(context))
      facts["patch." + std::to_string(++number)] = patch.digest.text();
    for (const auto& [language, compiler] : find_compilers(context, toolchain_))
      facts["compiler." + language] = compiler.identity;
    add_source_facts(context, facts);
    return facts;
  }

  bool has_prefix() const override { return true; }
  void require_tools(const LayerContext& context) override {
    require_build_tools(context, toolchain_);
  }
  std::map<std::string, std::string> build(const LayerBuild& build) override {
    require_not_stopped(build);
    const auto environment =
        build_environment(build.context, find_compilers(build.context, toolchain_));
    SourceBuild request{
        build, prepare_source(build), options_of(build.context.spec), environment, toolchain_};
    if (build.context.spec.build == "autotools")
      request.environment = autotools_environment(request);
    BuildSteps steps(tools_.processes, build, request.environment);
    auto used = find_build_system(build.context.spec).run(request, steps);
    build.observer.note(place_of(build.lock.name) + ": checking what was built");
    used.merge(check(build, request.environment));
    return used;
  }

  bool is_locked(const spec::LayerSpec& spec) const override {
    return spec.origin.is_set() && !spec.origin.digest;
  }

  base::Digest request_digest(const LayerContext& context) override {
    return source_request(context.spec.origin);
  }

  spec::PackageLayerLock lock(const LockRequest& request, const LockTarget&) override {
    return lock_source(request, tools_);
  }

  std::vector<PinnedFile> fetch(const LockRequest& request) override {
    if (!request.context.spec.origin.is_set()) return {};
    return {bring_source(request, tools_).first};
  }

  void describe(const LayerContext& context, spec::BuiltLayer& built) override {
    if (is_locked(context.spec)) built.lock_file = locked_file(context);
  }

 private:
  std::string digest_of(const fs::path& source) {
    const auto files = list_source(source);
    std::uint64_t total_bytes = 0;
    base::WallTime changed{};
    base::Hasher stamps;
    for (const base::TreeFile& file : files) {
      total_bytes += file.size_bytes;
      stamps.update(file.path + '\0' + file.link_target + '\0' + (file.executable ? 'x' : 'f'));
      if (!file.link_target.empty()) continue;
      const auto stamp = base::stamp_of_any(source / file.path);
      if (!stamp) base::throw_errno((source / file.path).string(), "cannot read", ENOENT);
      stamps.update(memo_text(*stamp) + '\0');
      changed = std::max(changed, last_change(*stamp));
    }
    if (total_bytes <= small_tree_bytes) return base::tree_digest(source, files).text();
    const std::string key = stamps.finish().hex;
    if (auto known = tools_.memo->find(key)) return *known;
    std::string digest = base::tree_digest(source, files).text();
    if (tools_.memo->is_at_rest(changed)) tools_.memo->remember(key, digest, {});
    return digest;
  }

  void add_source_facts(const LayerContext& context, std::map<std::string, std::string>& facts) {
    if (!context.spec.origin.is_set()) {
      facts["source.tree"] = digest_of(source_folder(context));
      return;
    }
    const spec::LockedPackage package = locked_source(context);
    if (package.version.empty()) {
      facts["source.archive"] = package.digest.text();
    } else {
      facts["source.commit"] = package.version;
      facts["source.tree"] = package.digest.text();
    }
    if (!context.spec.path.empty()) facts["source.path"] = context.spec.path;
  }

  void copy_locked_source(const LayerBuild& build, const fs::path& to) {
    const fs::path source = source_folder(build.context);
    const auto files = list_source(source);
    base::make_directories(to);
    copy_source(source, files, to);
    if (base::tree_digest(to, files).text() == build.lock.facts.at("source.tree")) return;
    throw base::Error(
        base::ErrorKind::integrity,
        place_of(build.lock.name) + ": " + source.string() + " was changed while its build began",
        "run the command again when nobody writes there");
  }

  /// Puts the patched code into the work folder. Returns the folder to build.
  fs::path prepare_source(const LayerBuild& build) {
    const LayerContext& context = build.context;
    fs::path source = build.work / "source";
    if (context.spec.origin.is_set()) {
      const auto file = bring_source(build, tools_).second;
      build.observer.note(place_of(build.lock.name) + ": unpacking " + file.filename().string());
      source = unpack_source(build, file, source);
    } else {
      copy_locked_source(build, source);
    }
    apply_patches(build, locked_patches(build), source, tools_.processes);
    if (!context.spec.origin.is_set() || context.spec.path.empty()) return source;
    std::error_code code;
    fs::path within = source / context.spec.path;
    if (fs::is_directory(within, code)) return within;
    throw_environment(place_of(build.lock.name) + ": " + context.spec.path + ": no such folder",
                      "\"path\" is a folder in what is fetched");
  }

  std::map<std::string, std::string> check(const LayerBuild& build,
                                           const base::Environment& environment) {
    const std::string place = place_of(build.lock.name);
    std::error_code code;
    if (fs::is_empty(build.prefix, code) || code) {
      throw_environment(place + ": the build installed nothing; its log is " + build.log.string(),
                        std::string(find_build_system(build.context.spec).lacks));
    }
    base::Environment running = environment;
    add_prefix(running, {.lock = build.lock, .prefix = build.prefix.string()});
    return check_libraries(
        build,
        tools_.processes,
        running,
        "install what is missing, or link with its rpath; the log of the build is " +
            build.log.string());
  }

  LayerTools tools_;
  Toolchain toolchain_;
};

}  // namespace

std::unique_ptr<EnvironmentLayer> make_source_layer(const LayerTools& tools) {
  return std::make_unique<SourceLayer>(tools);
}

}  // namespace sabath::env
