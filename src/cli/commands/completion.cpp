#include "commands.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace sabath::cli {
namespace {

/// One command as the scripts need it: "env build", its words (sub-commands and long options) and
/// their descriptions.
struct Node {
  std::string path{};
  std::vector<std::pair<std::string, std::string>> words{};
};

void collect_nodes(const CommandOutline& command,
                   const std::string& path,
                   std::vector<Node>& nodes) {
  Node node{path, {}};
  for (const CommandOutline& sub : command.commands) {
    node.words.emplace_back(sub.name, sub.description);
    collect_nodes(sub, path.empty() ? sub.name : path + " " + sub.name, nodes);
  }
  node.words.insert(node.words.end(), command.options.begin(), command.options.end());
  nodes.push_back(std::move(node));
}

/// For use between single quotes of a shell, and within zsh's "word:description".
std::string quoted(std::string text) {
  std::erase(text, '\'');
  std::ranges::replace(text, ':', ';');
  return text;
}

std::string words_of(const Node& node) {
  std::string words;
  for (const auto& [word, description] : node.words)
    words += (words.empty() ? "" : " ") + word;
  return words;
}

/// What the operands of a command are, as a shell command that lists them.
constexpr const char* operands = R"sh(_sabath_operands() {
  case "$1" in
    run|check|env\ build|env\ lock|env\ exec) sabath list recipes --quiet 2>/dev/null | awk 'NR>1 {print $2}' ;;

    fetch) sabath list assets --quiet 2>/dev/null | awk 'NR>1 {print $2}' ;;
    show|verify|env\ show) { sabath list recipes; sabath list assets; } 2>/dev/null |
      awk '$1 != "kind" {print $2}'
      echo @last ;;

    compare|repro) sabath list runs --quiet 2>/dev/null | awk 'NR>1 {print $1}'
      printf '%s\n' @last @last~1 ;;

    tag|untag|note|archive|rm) sabath list runs --quiet 2>/dev/null | awk 'NR>1 {print $1}'
      printf '%s\n' @last ;;

    logs|wait|status|cancel) printf '%s\n' @running @last ;;
    list) printf '%s\n' runs studies assets recipes envs ;;
    completion) printf '%s\n' bash zsh fish ;;
  esac
}
)sh";

std::string bash_script(const std::vector<Node>& nodes) {
  std::string script =
      "# bash completion for sabath: source it, or put it where bash-completion looks\n";
  script += operands;
  script += "_sabath_words() {\n  case \"$1\" in\n";
  for (const Node& node : nodes) {
    script += "    '" + node.path + "') echo '" + words_of(node) + "' ;;\n";
  }
  script += R"sh(  esac
}

_sabath() {
  local current=${COMP_WORDS[COMP_CWORD]} path= word i words
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    [[ $word == -* ]] && continue
    [[ -n $(_sabath_words "${path:+$path }$word") ]] && path="${path:+$path }$word"
  done

  words=$(_sabath_words "$path")
  [[ $current == -* ]] || words="$words $(_sabath_operands "$path")"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _sabath sabath
)sh";
  return script;
}

std::string zsh_script(const std::vector<Node>& nodes) {
  std::string script = "#compdef sabath\n";
  script += operands;
  script += "_sabath_words() {\n  case \"$1\" in\n";
  for (const Node& node : nodes) {
    script += "    '" + node.path + "') reply=(";
    for (const auto& [word, description] : node.words) {
      script += "'" + word + ":" + quoted(description) + "' ";
    }
    script += ") ;;\n";
  }
  script += R"sh(    *) reply=() ;;
  esac
}

_sabath() {
  local path= word
  local -a reply
  for word in ${words[2,CURRENT-1]}; do
    [[ $word == -* ]] && continue
    _sabath_words "${path:+$path }$word"
    (( ${#reply} )) && path="${path:+$path }$word"
  done

  _sabath_words "$path"
  _describe 'sabath' reply
  [[ $PREFIX == -* ]] || compadd -- ${(f)"$(_sabath_operands "$path")"}
}
compdef _sabath sabath
)sh";
  return script;
}

std::string fish_script(const std::vector<Node>& nodes) {
  std::string script = "# fish completion for sabath\ncomplete -c sabath -f\n";
  for (const Node& node : nodes) {
    std::string condition = "__fish_use_subcommand";
    if (!node.path.empty()) {
      condition = "__fish_seen_subcommand_from " + node.path.substr(node.path.find(' ') + 1);
    }
    for (const auto& [word, description] : node.words) {
      const bool is_option = word.starts_with("--");
      const std::string where = is_option && node.path.empty() ? "" : " -n '" + condition + "'";
      script += "complete -c sabath" + where +
                (is_option ? " -l " + word.substr(2) : " -a " + word) + " -d '" +
                quoted(description) + "'\n";
    }
  }
  return script;
}

/// A completion script for "bash", "zsh" or "fish", made from the commands and options of
/// `program`. Recipes, assets and runs are asked of sabath itself as they are needed.
std::string completion_script(const CommandOutline& program, const std::string& shell) {
  std::vector<Node> nodes;
  collect_nodes(program, "", nodes);
  if (shell == "bash") return bash_script(nodes);
  if (shell == "zsh") return zsh_script(nodes);
  return fish_script(nodes);
}

}  // namespace

void setup_completion(OptionParser& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  OptionParser* command = app.add_subcommand("completion", "print a completion script for a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->one_of({"bash", "zsh", "fish"});
  command->callback([&action, &app, shell] {
    action = [&app, shell](Workspace& workspace) -> int {
      workspace.refuse_json();
      workspace.answer(completion_script(app.outline(), *shell));
      return exit_done;
    };
  });
}

}  // namespace sabath::cli
