#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/exchange/run_crate.hpp>

namespace sabath::exchange {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::size_t digest_length = 64;

[[noreturn]] void refuse(std::size_t line, const std::string& problem) {
  throw Error(ErrorKind::integrity,
              std::string(crate_manifest) + ":" + std::to_string(line) + ": " + problem,
              "the crate was damaged or changed; ask for it again");
}

}  // namespace

std::string write_manifest(const std::vector<CrateMember>& members) {
  std::map<std::string, std::string> lines;
  for (const CrateMember& member : members)
    lines[member.path] = member.digest.hex;
  std::string text;
  for (const auto& [path, hex] : lines)
    text += hex + "  " + path + "\n";
  return text;
}

std::map<std::string, base::Digest> read_manifest(std::string_view text) {
  std::map<std::string, base::Digest> digests;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) refuse(number, "the line is cut short");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const bool has_form = line.size() > digest_length + 2 && line.substr(digest_length, 2) == "  ";
    const auto digest =
        has_form ? base::parse_digest(base::DigestAlgorithm::sha256, line.substr(0, digest_length))
                 : std::nullopt;
    if (!digest) refuse(number, "is not a digest, two blanks and a member");
    const std::string path(line.substr(digest_length + 2));
    if (!base::is_safe_relative_path(path))
      refuse(number, "'" + base::printable(path) + "' is not a path in the crate");
    if (!digests.emplace(path, *digest).second)
      refuse(number, "'" + base::printable(path) + "' stands twice");
  }
  return digests;
}

}  // namespace sabath::exchange
