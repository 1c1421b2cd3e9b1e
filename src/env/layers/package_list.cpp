#include "package_list.hpp"

#include "layer_variables.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/spec/recipe.hpp>

#include <algorithm>
#include <sstream>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

/// Without comment and blanks around.
std::string content_of(std::string line) {
  const auto comment = line.find('#');
  const bool begins = comment == 0 || (comment != std::string::npos && comment > 0 &&
                                       (line[comment - 1] == ' ' || line[comment - 1] == '\t'));
  if (begins) line.resize(comment);
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> read_requirement_file(const LayerContext& context,
                                               const std::string& named) {
  const std::string place = place_of(context.spec.name);
  const fs::path path = spec::expand(named, {{"recipe", context.recipe_directory.string()}}, place);
  const auto text = base::read_file_if_exists(path);
  if (!text) {
    throw Error(ErrorKind::not_found,
                place + ": " + path.string() + ": no such file",
                "the recipe names it among its requirements or constraints");
  }
  std::vector<std::string> requirements;
  std::istringstream lines(*text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::string requirement = content_of(line);
    if (requirement.empty()) continue;
    if (!spec::required_package(requirement)) {
      throw Error(ErrorKind::usage,
                  place + ": " + path.string() + ":" + std::to_string(number) + ": '" +
                      base::printable(requirement) + "' is not a package with versions",
                  "options, URLs and paths are left out: where packages come from is set in your "
                  "pip configuration, and their digests stand in the lock");
    }
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

std::vector<std::string> gather(const LayerContext& context,
                                std::vector<std::string> texts,
                                const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    for (std::string& text : read_requirement_file(context, file))
      texts.push_back(std::move(text));
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return texts;
}

}  // namespace

PackageList read_packages(const LayerContext& context) {
  const spec::PackageRequest& request = context.spec.packages;
  PackageList list;
  list.requirements = gather(context, request.requirements, request.requirement_files);
  list.constraints = gather(context, request.constraints, request.constraint_files);
  base::Hasher hasher;
  hasher.update("sabath-packages/1\npython " + request.python + "\n");
  for (const std::string& one : list.requirements) {
    hasher.update("requirement " + one + "\n");
    list.requested.insert(*spec::required_package(one));
  }
  for (const std::string& one : list.constraints)
    hasher.update("constraint " + one + "\n");
  for (const std::string& one : std::set(request.from_source.begin(), request.from_source.end()))
    hasher.update("from_source " + one + "\n");
  list.digest = hasher.finish();
  return list;
}

}  // namespace sabath::env
