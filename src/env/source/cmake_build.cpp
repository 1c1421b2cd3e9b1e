#include "source_build.hpp"

#include <sabath/base/file.hpp>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// Where the source and the build lay must not show in what is built: neither in __FILE__ nor in
/// what debuggers read. Included by each project() of the source.
std::string prefix_map_script(const fs::path& source, const fs::path& folder) {
  std::string script =
      "foreach(language C CXX Fortran)\n"
      "  if(CMAKE_${language}_COMPILER_ID MATCHES \"^(GNU|Clang|IntelLLVM)$\")\n";
  for (const auto& [path, name] : {std::pair{source, "source"}, std::pair{folder, "build"}}) {
    script += "    add_compile_options(\"$<$<COMPILE_LANGUAGE:${language}>:-ffile-prefix-map=" +
              path.string() + "=" + name + ">\")\n";
  }
  return script + "  endif()\nendforeach()\n";
}

}  // namespace

std::map<std::string, std::string> build_with_cmake(const SourceBuild& build, BuildSteps& steps) {
  const LayerBuild& attempt = build.build;
  const Tool cmake = require_tool(build, "cmake");
  const bool ninja = build.toolchain.tool("ninja", build.environment).has_value();
  if (!ninja) require_tool(build, "make");
  const std::string generator = ninja ? "Ninja" : "Unix Makefiles";
  const fs::path folder = attempt.work / "build";
  const fs::path script = attempt.work / "prefix_map.cmake";
  base::write_file_atomically(
      script, prefix_map_script(build.source, folder), base::Durability::ordered_only);

  std::map<std::string, std::string> options{
      {"CMAKE_EXPORT_NO_PACKAGE_REGISTRY", "ON"},
      {"CMAKE_FIND_USE_PACKAGE_REGISTRY", "OFF"},
      {"CMAKE_INSTALL_RPATH",
       attempt.prefix.string() + "/lib;" + attempt.prefix.string() + "/lib64"},
      {"CMAKE_INSTALL_RPATH_USE_LINK_PATH", "ON"},
      {"CMAKE_PROJECT_INCLUDE", script.string()}};
  for (const auto& [name, value] : build.options)
    options[name] = value;
  options["CMAKE_INSTALL_PREFIX"] = attempt.prefix.string();

  const std::string program = cmake.command.front();
  std::vector<std::string> configure{
      program, "-S", build.source.string(), "-B", folder.string(), "-G", generator};
  for (const auto& [name, value] : options)
    configure.push_back("-D" + name + "=" + value);
  steps.run("configuring with cmake", configure, attempt.work);
  steps.run("compiling",
            {program, "--build", folder.string(), "--parallel", jobs_of(attempt.limits)},
            attempt.work);
  steps.run("installing", {program, "--install", folder.string()}, attempt.work);
  return {{"tool.cmake", cmake.identity}, {"tool.generator", generator}};
}

}  // namespace sabath::env
