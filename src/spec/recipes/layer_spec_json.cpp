#include "layer_spec_json.hpp"

#include "documents/checked_read.hpp"
#include "documents/fields_json.hpp"
#include "placeholder.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/regex.hpp>

#include <algorithm>

namespace sabath::spec {
namespace {

constexpr std::string_view recipe_folder = "{recipe}";

/// Numbers and truth values as the build system spells them; for configure, a flag without a value
/// is an empty text.
std::string read_option(const std::string& build, base::JsonReader reader) {
  if (reader.is_boolean()) {
    if (build == "cmake") return reader.boolean() ? "ON" : "OFF";
    if (build == "autotools") return reader.boolean() ? "" : "no";
    return reader.boolean() ? "1" : "0";
  }
  if (reader.is_number()) return base::canonical_json(reader.json());
  std::string text = reader.string();
  check_argument(text, reader);
  return text;
}

void check_option_name(const std::string& build,
                       const std::string& name,
                       const base::JsonReader& reader) {
  static const base::Form flag("[A-Za-z0-9][A-Za-z0-9_.+-]*");
  if (build != "autotools") {
    check_by(variable_name, name, reader);
  } else if (!flag.matches(name)) {
    reader.problem("'" + name + "' is not an option of configure", "write it without its '--'");
  }
}

std::vector<std::string> read_languages(base::JsonReader reader) {
  if (!reader.exists()) return {"c", "c++"};
  std::vector<std::string> languages = read_distinct(reader);
  if (!reader.is_array()) return languages;
  for (base::JsonReader& item : reader.items())
    if (item.is_string()) item.one_of({"c", "c++", "fortran"});
  return languages;
}

/// Commands with their arguments.
std::vector<std::vector<std::string>> read_steps(base::JsonReader reader) {
  std::vector<std::vector<std::string>> steps;
  const KnownPlaceholders known{{"prefix", "source", "jobs"}, {}};
  for (base::JsonReader& item : reader.items()) {
    auto& step = steps.emplace_back();
    for (base::JsonReader& word : item.items()) {
      step.push_back(word.string());
      check_argument(step.back(), word);
      check_template(step.back(), known, word);
    }
    if (step.empty()) item.problem("is no command", "a list: a program and its arguments");
  }
  if (steps.empty()) reader.problem("has no command");
  return steps;
}

/// A folder in code that is fetched; empty: all of it.
std::string read_folder_within(base::JsonReader reader) {
  std::string path = reader.string();
  if (reader.is_string() && !base::is_safe_relative_path(path)) {
    reader.problem("'" + path + "' is not a folder in what is fetched",
                   "a relative path without '..'");
  }
  return path;
}

/// The code lies in the recipe, in a repository, or in an archive.
void read_origin(LayerSpec& layer, base::JsonReader& reader) {
  base::JsonReader git = reader.optional("git");
  base::JsonReader archive = reader.optional("archive");
  if (git.exists() && archive.exists()) {
    archive.problem("the code comes from \"git\" already", "keep one of the two");
  }
  if (git.exists()) {
    layer.origin.git = read_code_url(git, {"https", "http", "ssh", "git", "file"});
    base::JsonReader ref = reader.required("ref");
    layer.origin.ref = ref.string();
    static const base::Form plain("[A-Za-z0-9][A-Za-z0-9._/+-]*");
    if (ref.is_string() && !plain.matches(layer.origin.ref)) {
      ref.problem("'" + layer.origin.ref + "' is not a commit, tag or branch");
    }
  } else if (archive.exists()) {
    layer.origin.archive = read_code_url(archive, {"https", "http", "ftp", "file"});
    base::JsonReader digest = reader.optional("digest");
    if (!digest.exists()) return;
    base::Digest& given = layer.origin.digest.emplace();
    FieldReader::read(digest, given);
    if (given.hex.empty() || given.algorithm != base::DigestAlgorithm::sha256) {
      digest.problem("is not a SHA-256",
                     "\"sha256:<64 hex>\", or leave it out: 'sabath env lock' finds it");
    }
  }
}

bool is_image_reference(const std::string& text) {
  static const base::Form form(
      "([A-Za-z0-9.-]+(:[0-9]+)?/)?[a-z0-9._-]+(/[a-z0-9._-]+)*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?"
      "(@sha256:[0-9a-f]{64})?");
  return form.matches(text);
}

void check_bind(const std::string& bind, const base::JsonReader& reader) {
  static const base::Form form("/[^:]*(:/[^:]*(:(ro|rw))?)?");
  if (!form.matches(bind)) {
    reader.problem("'" + bind + "' is not a bind", "\"/HOST\" or \"/HOST:/CONTAINER:ro\"");
  }
  check_argument(bind, reader);
}

}  // namespace

std::string read_recipe_path(base::JsonReader reader, const std::string& what) {
  std::string path = reader.string();
  if (!reader.is_string() || path == recipe_folder) return path;
  const auto problems = template_problems(path, {{"recipe"}, {}});
  for (const TemplateProblem& problem : problems)
    reader.problem(problem.problem, problem.hint);
  if (!problems.empty()) return path;
  const std::string start = std::string(recipe_folder) + "/";
  if (!path.starts_with(start) || !base::is_safe_relative_path(path.substr(start.size()))) {
    reader.problem("'" + path + "' is not a " + what + " beneath the recipe",
                   "write '{recipe}/NAME', without '..'");
  }
  return path;
}

std::vector<std::string> read_recipe_paths(base::JsonReader reader, const std::string& what) {
  std::vector<std::string> paths;
  for (const base::JsonReader& item : reader.items())
    paths.push_back(read_recipe_path(item, what));
  return paths;
}

std::vector<std::string> read_commands(base::JsonReader reader) {
  return read_distinct(std::move(reader), [](const std::string& name, const auto& item) {
    if (name.find('/') == std::string::npos) return;
    item.problem("'" + name + "' is a path", "name a program that is found on PATH");
  });
}

std::string read_code_url(base::JsonReader reader, const std::vector<std::string>& schemes) {
  static const base::Form form("([a-z]+)://([^/\\s]*)(/\\S*)?");
  std::string url = reader.string();
  std::string known;
  for (const std::string& scheme : schemes)
    known += (known.empty() ? "" : ", ") + scheme;
  if (!reader.is_string()) return url;
  const auto parts = form.parts(url);
  if (!parts || std::find(schemes.begin(), schemes.end(), parts->at(1)) == schemes.end()) {
    reader.problem("'" + url + "' is not a URL", "of one of these schemes: " + known);
  } else if (parts->at(2).find(':') < parts->at(2).find('@') &&
             parts->at(2).find('@') != std::string::npos) {
    reader.problem("a document holds no password", "logins stand in the credentials file");
  }
  check_argument(url, reader);
  return url;
}

void read_source_layer(LayerSpec& layer, base::JsonReader& reader) {
  read_origin(layer, reader);
  layer.path = layer.origin.is_set() ? read_folder_within(reader.optional("path"))
                                     : read_recipe_path(reader.required("path"), "folder");
  layer.patches = read_recipe_paths(reader.optional("patches"), "patch");
  layer.build = reader.required("build").one_of({"cmake", "make", "autotools", "steps"});
  if (layer.build == "steps") {
    layer.steps = read_steps(reader.required("steps"));
  } else {
    for (const auto& [name, value] : reader.optional("options").members()) {
      check_option_name(layer.build, name, value);
      layer.options[name] = read_option(layer.build, value);
    }
  }
  layer.languages = read_languages(reader.optional("languages"));
}

void read_container_layer(LayerSpec& layer, base::JsonReader& reader) {
  ContainerRequest& request = layer.container;
  base::JsonReader image = reader.required("image");
  request.image = image.string();
  if (image.is_string() && !is_image_reference(request.image)) {
    image.problem("'" + request.image + "' is not an image",
                  "such as \"docker.io/library/python:3.11-slim\"");
  }
  base::JsonReader engines = reader.optional("engines");
  request.engines = read_distinct(engines);
  for (base::JsonReader& item : engines.items())
    item.one_of({"apptainer", "singularity", "podman", "docker"});
  request.binds = read_distinct(reader.optional("binds"), check_bind);
  request.gpus = reader.optional("gpus").boolean();
  layer.commands = read_commands(reader.optional("commands"));
}

nlohmann::ordered_json written_source_layer(const LayerSpec& layer) {
  FieldWriter io;
  if (!layer.origin.git.empty()) {
    io("git", layer.origin.git);
    io("ref", layer.origin.ref);
  }
  if (!layer.origin.archive.empty()) io("archive", layer.origin.archive);
  io("digest", layer.origin.digest);
  if (!layer.path.empty()) io("path", layer.path);
  if (!layer.patches.empty()) io("patches", layer.patches);
  io("build", layer.build);
  if (layer.build == "steps") {
    io("steps", layer.steps);
  } else {
    io("options", layer.options);
  }
  io("languages", layer.languages);
  return io.take();
}

nlohmann::ordered_json written_container(const ContainerRequest& request) {
  FieldWriter io;
  io("image", request.image);
  if (!request.engines.empty()) io("engines", request.engines);
  if (!request.binds.empty()) io("binds", request.binds);
  io("gpus", request.gpus);
  return io.take();
}

}  // namespace sabath::spec
