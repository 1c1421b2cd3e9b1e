#include "commands.hpp"
#include "made_documents.hpp"

#include <sabath/assets/cache_references.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/sharing/describe_files.hpp>

#include <cstdio>
#include <iostream>

#include <unistd.h>

namespace sabath::cli {
namespace {

constexpr const char* no_licence = "none";

struct AddOptions {
  std::vector<std::string> places{};
  std::string kind{};
  sharing::FileFacts facts{};
  sharing::DocumentRequest request{};
};

/// The licence as typed at the terminal. Throws Error{usage} where nobody can be asked.
std::string asked_licence() {
  const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  std::string answer;
  if (can_ask) {
    std::fputs("licence of these files, such as CC-BY-4.0, or none: ", stderr);
    std::getline(std::cin, answer);
  }
  answer = base::trimmed(answer);
  if (answer.empty())
    throw usage_error("the licence of these files is not known",
                      "--license ID, such as CC-BY-4.0, or --license none");
  return answer;
}

int run_add(const AddOptions& options, Workspace& workspace) {
  sharing::FileFacts facts = options.facts;
  if (!options.kind.empty()) facts.kind = *spec::parse_enum<spec::AssetKind>(options.kind);
  if (facts.license.empty()) facts.license = asked_licence();
  if (facts.license == no_licence) facts.license.clear();
  std::vector<sharing::FilePlace> places;
  for (const std::string& place : options.places) {
    if (assets::is_url(place)) {
      places.push_back({fetched_document(place, workspace), place});
    } else {
      places.push_back({place, {}});
    }
  }
  auto described = sharing::describe_files(places, facts, workspace.observer(), workspace.stop());
  const std::vector<sharing::MadeDocument> made{sharing::keep_asset(
      std::move(described), options.request, workspace.folders(), workspace.documents())};
  return answer_with(made, documents_text(made, options.request.is_dry), workspace);
}

}  // namespace

void setup_add(OptionParser& app, Action& action) {
  auto [command, options] =
      add_command(app, action, "add", "describe files of yours as an asset", run_add);
  command.add_option("places", options.places, "folders, files or URLs")->required();
  command.add_option("--kind", options.kind, "what it is; else a dataset")
      ->one_of(spec::enum_words<spec::AssetKind>());
  command.add_option("--name", options.facts.name, "of the asset; else that of the first place");
  command.add_option("--license", options.facts.license, "such as CC-BY-4.0, or none");
  command.add_option("--title", options.facts.title, "one line for people");
  command.add_option("--version", options.facts.version, "of the asset");
  command.add_flag("--replace", options.request.replaces, "replace an asset of this name");
  command.add_flag("--dry-run", options.request.is_dry, "print the document; write nothing");
}

}  // namespace sabath::cli
