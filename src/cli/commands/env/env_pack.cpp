#include "env.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include <signal.h>
#include <unistd.h>

namespace sabath::cli {
namespace {

constexpr char shield = '\x01';

std::string pack_text(const std::vector<env::PrefixImage>& images) {
  base::TextTable table({"layer", "size", "image"});
  for (const env::PrefixImage& image : images)
    table.add({image.layer, base::format_bytes(image.size_bytes), image.path.string()});
  return images.empty() ? "no layer of it has files to pack\n" : table.text();
}

int env_pack(const EnvOptions& options, Workspace& workspace) {
  const spec::Recipe recipe = workspace.documents().recipe(options.name);
  const auto built = workspace.environments().build(
      workspace.runner().preparer().environment_of(recipe, options.variant),
      recipe.directory,
      workspace.observer(),
      workspace.stop());
  const env::EnvironmentLease lease(built);
  workspace.environments().check_trusted(built);
  const auto images =
      env::pack_prefixes(built, workspace.processes(), workspace.observer(), workspace.stop());
  return answer_with(images, pack_text(images), workspace);
}

struct EnterOptions {
  std::vector<std::pair<std::string, std::string>> places{};
  std::vector<std::string> command{};
};

/// Becomes the command. It runs as the command line is read, since no thread may have been started.
void env_enter(const EnterOptions& options) {
  std::vector<env::LocalPrefix> prefixes;
  for (const auto& [copy, prefix] : options.places)
    prefixes.push_back({prefix, copy});
  env::enter_local_prefixes(prefixes);
  become(unshielded(options.command), base::current_environment());
}

}  // namespace

std::vector<std::string> shielded_arguments(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto mark = std::ranges::find(words, "--");
  const auto group = std::find(words.begin(), mark, "env");
  const bool is_command = std::find(group, mark, "exec") != mark ||
                          std::find(group, mark, "enter") != mark ||
                          std::find(words.begin(), mark, "--rank") != mark;
  if (mark == words.end() || !is_command) return words;
  for (auto word = mark + 1; word != words.end(); ++word)
    word->insert(0, 1, shield);
  return words;
}

std::vector<std::string> unshielded(std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word.starts_with(shield)) word.erase(0, 1);
  }
  return words;
}

void become(const std::vector<std::string>& command, const base::Environment& variables) {
  const std::string& name = command.front();
  const auto program = base::find_program(name, base::variable_of(variables, "PATH"));
  if (!program) {
    throw base::Error(base::ErrorKind::launch,
                      "'" + base::printable(name) + "': no such command in the environment");
  }
  const auto pointers_to = [](std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts)
      pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  };
  ::signal(SIGPIPE, SIG_DFL);  // ignored signals outlive execve
  ::signal(SIGXFSZ, SIG_DFL);
  std::vector<std::string> argv = command;
  std::vector<std::string> settings;
  for (const auto& [variable, value] : variables)
    settings.push_back(variable + "=" + value);
  ::execve(program->c_str(), pointers_to(argv).data(), pointers_to(settings).data());
  throw base::Error(base::ErrorKind::launch,
                    program->string() + ": cannot be started: " + base::errno_text(errno));
}

void setup_env_pack(OptionParser& group, Action& action) {
  auto [pack, options] =
      add_command(group,
                  action,
                  "pack",
                  "make one image of each layer's files, for file systems slow with many",
                  env_pack);
  pack.add_option("name", options.name, "a recipe")->required();
  add_variant(pack, options);
  // What 'env exec --packed' and runs start in place of a command; not for people.
  auto entered = std::make_shared<EnterOptions>();
  OptionParser* enter = group.add_subcommand("enter", "")->group("");
  enter->add_option("--place", entered->places, "a copy, and the prefix in whose place it is seen");
  enter->add_option("command", entered->command, "the command, after --")->required();
  enter->callback([entered] { env_enter(*entered); });
}

}  // namespace sabath::cli
