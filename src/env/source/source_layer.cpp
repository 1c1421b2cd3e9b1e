#include "source_layer.hpp"

#include "layers/layer_variables.hpp"
#include "layers/locked_layer.hpp"
#include "source_build.hpp"
#include "source_tree.hpp"
#include "store/linked_libraries.hpp"
#include "tools/compilers.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <array>
#include <cerrno>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Trees up to this size are hashed each time: that is as quick as a look into the memo.
constexpr std::uint64_t small_tree_bytes = 1U << 20U;

fs::path source_folder(const LayerContext& context) {
  const std::string place = place_of(context.spec.name);
  std::error_code code;
  const fs::path recipe = fs::weakly_canonical(fs::absolute(context.recipe_directory), code);
  const fs::path path = spec::expand(context.spec.path, {{"recipe", recipe.string()}}, place);
  fs::path real = fs::canonical(recipe / path, code);
  if (code || !fs::is_directory(real, code)) {
    throw base::Error(base::ErrorKind::not_found,
                      place + ": " + path.string() + ": no such folder",
                      "\"path\" of a source layer is the folder with its code");
  }
  if (!(real.string() + "/").starts_with(recipe.string() + "/")) {
    throw base::Error(base::ErrorKind::usage,
                      place + ": " + path.string() + ": lies outside of the recipe",
                      "a recipe builds only what lies in its own folder");
  }
  return real;
}

/// How a layer may be built, and what one that installed nothing lacks.
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
  // What says where to install is sabath's: builds would leave the prefix.
  constexpr std::array<std::string_view, 5> taken{
      "CMAKE_INSTALL_PREFIX", "DESTDIR", "PREFIX", "prefix", "exec-prefix"};
  for (const auto& [name, value] : spec.options) {
    if (std::find(taken.begin(), taken.end(), name) != taken.end()) {
      throw base::Error(base::ErrorKind::usage,
                        place + ": the option '" + name + "' is not free",
                        "sabath chooses where a layer is installed; {env} leads there");
    }
  }
  std::map<std::string, std::string> options = spec.options;
  if (spec.build == "cmake") options.insert({"CMAKE_BUILD_TYPE", "Release"});
  return options;
}

/// The steps as they are asked for, as far as they can be understood.
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
  // Through it compilers call the prefixes before theirs by nature, and cmake then gives what it
  // links with them no rpath. It finds libraries through CMAKE_PREFIX_PATH.
  if (context.spec.build == "cmake") environment.erase("LIBRARY_PATH");
  for (const Language& language : languages) {
    const auto compiler = compilers.find(std::string(language.name));
    if (compiler == compilers.end()) continue;
    std::string command;
    for (const std::string& word : compiler->second.command)
      command += (command.empty() ? "" : " ") + word;
    environment[std::string(language.variable)] = command;
  }
  return environment;
}

}  // namespace

SourceLayer::SourceLayer(base::ProcessRunner& processes,
                         std::shared_ptr<Memo> memo,
                         base::Environment user)
    : processes_(processes),
      memo_(std::move(memo)),
      toolchain_(processes, memo_),
      user_(std::move(user)),
      fetched_(processes, user_) {}

std::string SourceLayer::digest_of(const fs::path& source) {
  const auto files = list_source(source);
  std::uint64_t total_bytes = 0;
  base::WallTime changed{};
  base::Hasher stamps;
  for (const base::TreeFile& file : files) {
    total_bytes += file.size_bytes;
    stamps.update(file.path + '\0' + file.link_target + '\0' + (file.executable ? 'x' : 'f'));
    if (!file.link_target.empty()) continue;
    const auto stamp = stamp_of(source / file.path);
    if (!stamp) base::throw_errno((source / file.path).string(), "cannot read", ENOENT);
    stamps.update(stamp->text + '\0');
    changed = std::max(changed, stamp->changed);
  }
  if (total_bytes <= small_tree_bytes) return base::tree_digest(source, files).text();
  const std::string key = stamps.finish().hex;
  if (auto known = memo_->find(key)) return *known;
  std::string digest = base::tree_digest(source, files).text();
  if (memo_->is_at_rest(changed)) memo_->remember(key, digest, {});
  return digest;
}

void SourceLayer::add_source_facts(const LayerContext& context,
                                   std::map<std::string, std::string>& facts) {
  if (!context.spec.origin.is_set()) {
    facts["source.tree"] = digest_of(source_folder(context));
    return;
  }
  const spec::LockedPackage package = FetchedSource::locked(context);
  if (package.version.empty()) {
    facts["source.archive"] = package.digest.text();
  } else {
    facts["source.commit"] = package.version;
    facts["source.tree"] = package.digest.text();
  }
  if (!context.spec.path.empty()) facts["source.path"] = context.spec.path;
}

std::map<std::string, std::string> SourceLayer::resolve(const LayerContext& context) {
  const auto options = options_of(context.spec);
  std::map<std::string, std::string> facts{{"build", context.spec.build}};
  for (const auto& [name, value] : options)
    // For configure "--x" and "--x=yes" are the same.
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

bool SourceLayer::is_locked(const spec::LayerSpec& spec) const {
  return spec.origin.is_set() && !spec.origin.digest;
}

spec::PackageLayerLock SourceLayer::lock(const LayerErrand& errand, const LockTarget&) {
  return fetched_.lock(errand);
}

std::vector<PinnedFile> SourceLayer::fetch(const LayerErrand& errand, const BringFiles& bring) {
  if (!errand.context.spec.origin.is_set()) return {};
  return {fetched_.bring(errand, bring).first};
}

void SourceLayer::copy_locked_source(const LayerBuild& build, const fs::path& to) {
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

std::map<std::string, std::string> SourceLayer::check(const LayerBuild& build,
                                                      const base::Environment& environment) {
  const std::string place = place_of(build.lock.name);
  std::error_code code;
  if (fs::is_empty(build.prefix, code) || code) {
    throw base::Error(base::ErrorKind::environment,
                      place + ": the build installed nothing; its log is " + build.log.string(),
                      std::string(find_build_system(build.context.spec).lacks));
  }
  base::Environment running = environment;
  add_prefix(running, {.lock = build.lock, .prefix = build.prefix.string()});
  const auto libraries = linked_libraries(processes_, build.prefix, running, build.stop);
  if (!libraries) return {};
  if (!libraries->missing.empty()) {
    throw base::Error(base::ErrorKind::environment,
                      place + ": shared libraries are not found: " + in_words(libraries->missing),
                      "install what is missing, or link with its rpath; the log of the build is " +
                          build.log.string());
  }
  std::map<std::string, std::string> present;
  for (const auto& [name, path] : libraries->found)
    present["library." + name] = path;
  return present;
}

void SourceLayer::describe(const LayerContext& context, spec::BuiltLayer& built) {
  if (!is_locked(context.spec)) return;
  built.lock_file = locked_file(context);
}

/// The patches that the key was made with.
static std::vector<Patch> locked_patches(const LayerBuild& build) {
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

fs::path SourceLayer::prepare_source(const LayerBuild& build) {
  const LayerContext& context = build.context;
  fs::path source = build.work / "source";
  if (context.spec.origin.is_set()) {
    const LayerErrand errand{
        context, build.work, build.observer, build.stop, build.bring, build.limits};
    const auto file = fetched_.bring(errand, build.bring).second;
    build.observer.note(place_of(build.lock.name) + ": unpacking " + file.filename().string());
    source = unpack_source(errand, file, source);
  } else {
    copy_locked_source(build, source);
  }
  apply_patches(build, locked_patches(build), source, processes_);
  if (!context.spec.origin.is_set() || context.spec.path.empty()) return source;
  std::error_code code;
  const fs::path within = source / context.spec.path;
  if (fs::is_directory(within, code)) return within;
  throw base::Error(base::ErrorKind::environment,
                    place_of(build.lock.name) + ": " + context.spec.path + ": no such folder",
                    "\"path\" is a folder in what is fetched");
}

std::map<std::string, std::string> SourceLayer::build(const LayerBuild& build) {
  if (build.stop.stop_requested()) {
    throw base::Error(base::ErrorKind::interrupted, place_of(build.lock.name) + ": interrupted");
  }
  const auto environment =
      build_environment(build.context, find_compilers(build.context, toolchain_));
  SourceBuild request{
      build, prepare_source(build), options_of(build.context.spec), environment, toolchain_};
  if (build.context.spec.build == "autotools") request.environment = autotools_environment(request);
  BuildSteps steps(processes_, build, request.environment);
  auto used = find_build_system(build.context.spec).run(request, steps);
  build.observer.note(place_of(build.lock.name) + ": checking what was built");
  used.merge(check(build, request.environment));
  return used;
}

}  // namespace sabath::env
