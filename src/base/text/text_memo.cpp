#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_memo.hpp>
#include <sabath/base/trust.hpp>

#include <vector>

namespace sabath::base {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

/// Oldest first. A line that is not whole is none.
Lines lines_of(const std::filesystem::path& file) {
  Lines lines;
  std::error_code code;
  if (!std::filesystem::exists(file, code) || why_untrusted(file)) return lines;
  const std::string text = read_file_if_exists(file).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    const std::size_t tab = text.find('\t', at);
    if (tab < end)
      lines.emplace_back(text.substr(at, tab - at), text.substr(tab + 1, end - tab - 1));
    at = end + 1;
  }
  return lines;
}

}  // namespace

TextMemo::TextMemo(std::filesystem::path file, std::size_t most)
    : file_(std::move(file)), most_(most) {}

void TextMemo::load() {
  if (loaded_) return;
  loaded_ = true;
  try {
    for (auto& [key, answer] : lines_of(file_))
      known_[std::move(key)] = std::move(answer);
  } catch (const Error&) {
    known_.clear();
  }
}

std::optional<std::string> TextMemo::get(const std::string& key) {
  load();
  const auto found = known_.find(key);
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

void TextMemo::put(const std::string& key, const std::string& answer) {
  if ((key + answer).find_first_of("\t\n") != std::string::npos) return;
  known_[key] = answer;
  added_[key] = answer;
}

void TextMemo::save() noexcept {
  if (added_.empty()) return;
  try {
    Lines lines = lines_of(file_);
    std::erase_if(lines, [&](const auto& line) { return added_.contains(line.first); });
    lines.insert(lines.end(), added_.begin(), added_.end());
    const std::size_t gone = lines.size() > most_ ? lines.size() - most_ / 2 : 0;
    std::string text;
    for (std::size_t i = gone; i < lines.size(); ++i)
      text += lines[i].first + "\t" + lines[i].second + "\n";
    make_directories(file_.parent_path());
    write_file_atomically(file_, text, Durability::ordered_only, 0600);
    added_.clear();
  } catch (const std::exception&) {
    // It will be found again.
  }
}

}  // namespace sabath::base
