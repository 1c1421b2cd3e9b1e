#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_stamp.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/provenance/command_inputs.hpp>
#include <sabath/provenance/file_digests.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <variant>

namespace sabath::provenance {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_code = std::uintmax_t{16} << 20U;

bool is_named_as_script(const fs::path& file) {
  static constexpr std::array<std::string_view, 10> endings{
      ".bash", ".f90", ".jl", ".lua", ".m", ".pl", ".py", ".R", ".rb", ".sh"};
  return std::ranges::find(endings, file.extension().string()) != endings.end();
}

/// Not what a command may as well write: a log, a table of results.
bool is_script(const fs::path& file) {
  std::error_code code;
  const auto runs = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  if ((fs::status(file, code).permissions() & runs) != fs::perms::none) return true;
  return is_named_as_script(file) || !interpreter_of(file).empty();
}

bool holds_scripts(const fs::path& folder) {
  constexpr int most = 10'000;  // that are looked at
  std::error_code code;
  int looked_at = 0;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    if (is_named_as_script(at->path())) return true;
    if (++looked_at == most) break;
  }
  return false;
}

bool is_program(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 4> head{};
  stream.read(head.data(), head.size());
  return std::string_view(head.data(), head.size()) == "\177ELF";
}

/// The path that a word of a template stands for, with the recipe's folder filled in. Nothing if it
/// has other placeholders.
std::optional<fs::path> path_of(std::string word, const fs::path& recipe) {
  constexpr std::string_view own = "{recipe}";
  constexpr std::string_view code = "{code}";
  if (word.starts_with(own)) word.replace(0, own.size(), recipe.string());
  if (word.starts_with(code)) word.replace(0, code.size(), (recipe / "code").string());
  if (!word.starts_with('/') || word.find('{') != std::string::npos) return std::nullopt;
  return fs::path(word).lexically_normal();
}

/// Each of the stages' words that is a path, as the recipe has it, and what it leads to.
std::map<std::string, fs::path> named_paths(const spec::Recipe& recipe) {
  std::map<std::string, fs::path> paths;
  const auto take = [&](const std::string& text) {
    for (const std::string& word : words_of(text)) {
      const auto path = path_of(word, recipe.directory);
      if (path) paths.emplace(word, *path);
    }
  };
  for (const spec::Stage& stage : recipe.stages) {
    for (const std::string& argument : stage.run)
      take(argument);
    for (const auto& [name, value] : stage.variables)
      take(value);
  }
  return paths;
}

/// Those outside of the recipe's folder.
std::map<std::string, fs::path> outer_paths(const spec::Recipe& recipe) {
  auto paths = named_paths(recipe);
  std::erase_if(paths,
                [&](const auto& item) { return base::is_beneath(item.second, recipe.directory); });
  return paths;
}

/// Of those that `counts` takes, by their word and their path.
template <class Counts>
std::map<std::string, std::string> digests_of(const spec::Recipe& recipe, const Counts& counts) {
  std::map<std::string, std::string> items;
  for (const auto& [word, path] : outer_paths(recipe)) {
    std::error_code code;
    if (is_of_system(path) || !fs::is_regular_file(path, code)) continue;
    if (fs::file_size(path, code) > largest_code || is_program(path)) continue;
    if (!counts(word, path)) continue;
    try {
      items[std::string(outer_file_prefix) + word] = base::digest_file(path).text();
    } catch (const base::Error&) {
      continue;  // nobody may read it here
    }
  }
  return items;
}

}  // namespace

std::vector<std::string> words_of(const std::string& argument) {
  constexpr std::string_view separators = " \t\r\n'\"`;|&()<>=,:$";
  std::vector<std::string> words{argument};
  for (std::size_t at = 0; at < argument.size();) {
    const auto begin = argument.find_first_not_of(separators, at);
    if (begin == std::string::npos) break;
    const auto end = std::min(argument.find_first_of(separators, begin), argument.size());
    const std::string_view gap = std::string_view(argument).substr(at, begin - at);
    const bool is_written = gap.find('>') != std::string_view::npos;
    if (!is_written) words.push_back(argument.substr(begin, end - begin));
    at = end;
  }
  return words;
}

std::string interpreter_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 256> head{};
  stream.read(head.data(), head.size());
  const std::string_view text(head.data(), static_cast<std::size_t>(stream.gcount()));
  if (!text.starts_with("#!")) return {};
  return std::string(
      text.substr(2, text.find('\n') == text.npos ? text.npos : text.find('\n') - 2));
}

std::optional<fs::path> file_named_by(const std::string& word, const std::string& path_variable) {
  if (word.empty() || word.size() >= 4096 || word.find('\0') != std::string::npos) return {};
  std::error_code code;
  if (word.front() == '/') {
    if (word.starts_with("/proc/") || word.starts_with("/sys/"))
      return {};  // no content of its own
    if (fs::is_regular_file(word, code)) return fs::path(word);
    return {};
  }
  if (word.find('/') != std::string::npos) return {};
  return base::find_program(word, path_variable);
}

bool names_surroundings(const spec::Recipe& recipe) {
  const auto paths = outer_paths(recipe);
  return std::ranges::any_of(paths, [](const auto& item) {
    const std::string& word = item.first;  // with a blank it is a whole line of shell
    return word.starts_with('{') && word.find(' ') == std::string::npos;
  });
}

std::map<std::string, std::string> outer_files(const spec::Recipe& recipe) {
  return digests_of(recipe, [](const std::string& word, const fs::path& path) {
    return !word.starts_with('/') || is_script(path);
  });
}

std::map<std::string, std::string> outer_data(const spec::Recipe& recipe, base::WallTime planned) {
  const auto before = std::chrono::nanoseconds(planned.time_since_epoch()).count();
  return digests_of(recipe, [&](const std::string& word, const fs::path& path) {
    if (!word.starts_with('/') || is_script(path)) return false;
    const auto stamp = base::stamp_of(path);
    return stamp && stamp->modified_ns < before && stamp->changed_ns < before;
  });
}

std::set<fs::path> named_code(const spec::Recipe& recipe, const spec::ParameterValues& parameters) {
  std::set<fs::path> places;
  const auto take = [&](const fs::path& path) {
    std::error_code code;
    if (is_of_system(path)) return;
    const bool counts = fs::is_directory(path, code)
                            ? holds_scripts(path)
                            : fs::is_regular_file(path, code) &&
                                  fs::file_size(path, code) <= largest_code && !is_program(path) &&
                                  is_script(path);
    if (counts) places.insert(path);
  };
  for (const auto& [word, path] : named_paths(recipe)) {
    if (word.starts_with('/')) take(path);
  }
  for (const auto& [name, value] : parameters) {
    const auto* const text = std::get_if<std::string>(&value);
    if (text != nullptr && text->starts_with('/')) take(fs::path(*text).lexically_normal());
  }
  return places;
}

}  // namespace sabath::provenance
