#include "container_engine.hpp"

#include "layers/layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

}  // namespace

ContainerEngine find_engine(const LayerContext& context, Toolchain& toolchain) {
  std::vector<std::string> names = context.spec.container.engines;
  if (names.empty()) names = {"apptainer", "singularity", "podman", "docker"};
  for (const std::string& name : names) {
    if (const auto tool = toolchain.tool(name, context.variables))
      return {name, tool->command.front(), tool->identity};
  }
  const auto path = context.variables.find("PATH");
  throw base::Error(
      base::ErrorKind::environment,
      place_of(context.spec.name) + ": no container engine on PATH: " + in_words(names),
      "install one of them, or load the module that has it in a layer before; PATH "
      "is '" +
          (path == context.variables.end() ? "" : base::printable(path->second)) + "'");
}

std::optional<std::string> image_in_store(const std::string& program,
                                          const std::vector<std::string>& ids,
                                          const ImageTools& tools) {
  for (const std::string& id : ids) {
    const base::ProcessResult result =
        tools.run({program, "image", "inspect", "--format", "{{.Id}}", id});
    if (!result.ok()) continue;
    std::string found = result.output.substr(0, result.output.find('\n'));
    if (!found.starts_with("sha256:")) found.insert(0, "sha256:");
    if (found == id) return found;
  }
  return std::nullopt;
}

void load_layout(const std::string& engine,
                 const std::string& program,
                 const fs::path& layout,
                 const fs::path& work,
                 const ImageTools& tools) {
  if (engine == "podman") {
    // It calls the image after this path, which must have no upper case then.
    const std::string path = layout.filename().string();
    tools.ask("load the image", {program, "pull", "--quiet", "oci:" + path}, layout.parent_path());
    return;
  }
  const std::string archive = (work / "image.tar").string();
  tools.ask("pack the image",
            {"tar",
             "--create",
             "--file",
             archive,
             "--directory",
             layout.string(),
             "blobs",
             "index.json",
             "manifest.json",
             "oci-layout"});
  tools.ask("load the image", {program, "load", "--quiet", "--input", archive});
  std::error_code code;
  fs::remove(archive, code);
}

}  // namespace sabath::env
