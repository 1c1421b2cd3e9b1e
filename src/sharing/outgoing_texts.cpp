#include "outgoing_texts.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <fstream>
#include <set>

namespace sabath::sharing {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using base::printable;

/// A text is read in pieces that end with a line where there is one.
constexpr std::size_t piece_bytes = 4U << 20U;

/// Reads texts one after the other.
class TextScanner {
 public:
  TextScanner(const CrateTools& tools, OutgoingTexts& found) : tools_(tools), found_(found) {}

  void scan_text(const std::string& member, std::string_view text) {
    own_digests_.clear();
    if (member.ends_with("/record.json")) own_digests_ = session_digests(text);
    refuse_secret(member, text, 1);
    own_digests_.clear();
    add_private_paths(text, found_.facts);
    if (member.ends_with(".json")) add_private_members(text, found_.facts);
  }

  void scan_file(const std::string& member, const fs::path& file) {
    if (member.ends_with(".json")) return scan_text(member, base::read_file(file, ~0ULL));
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw Error(ErrorKind::storage, printable(file.string()) + ": cannot be read");
    std::string text;
    std::size_t line = 1;
    for (bool is_last = false; !is_last;) {
      stop_if_asked(member);
      is_last = !read_piece(stream, text);
      if (stream.bad())
        throw Error(ErrorKind::storage, printable(file.string()) + ": cannot be read");
      if (text.find('\0') != std::string::npos) return found_.not_scanned.push_back(member);
      const std::size_t end = is_last ? text.size() : text.rfind('\n') + 1;
      const std::string_view piece = std::string_view(text).substr(0, end == 0 ? text.size() : end);
      refuse_secret(member, piece, line);
      add_private_paths(piece, found_.facts);
      line += static_cast<std::size_t>(std::ranges::count(piece, '\n'));
      // The second half of a line that has no end is read again with what follows.
      text.erase(0, end == 0 ? text.size() / 2 : end);
    }
  }

  void scan_archive(const std::string& member, const fs::path& file) {
    const base::TempDir folder(fs::temp_directory_path());
    base::extract_archive(file, folder.path(), {}, tools_.observer, tools_.stop);
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
      const std::string path = entry.path().lexically_relative(folder.path()).string();
      if (entry.is_regular_file() && !entry.is_symlink())
        scan_file(member + "/" + path, entry.path());
    }
  }

 private:
  void stop_if_asked(const std::string& member) const {
    if (tools_.stop.stop_requested())
      throw Error(ErrorKind::interrupted, printable(member) + ": interrupted");
  }

  /// Adds to the rest of the last piece. Returns false at the end of the file.
  static bool read_piece(std::ifstream& stream, std::string& text) {
    const std::size_t before = text.size();
    text.resize(before + piece_bytes);
    stream.read(text.data() + before, static_cast<std::streamsize>(piece_bytes));
    text.resize(before + static_cast<std::size_t>(stream.gcount()));
    return stream.gcount() == static_cast<std::streamsize>(piece_bytes);
  }

  void refuse_secret(const std::string& member, std::string_view text, std::size_t line) const {
    for (const base::SecretSpan& span : base::find_secrets(text)) {
      const std::string value(text.substr(span.begin, span.length));
      if (!span.is_certain || own_digests_.contains(value)) continue;
      line += static_cast<std::size_t>(std::ranges::count(text.substr(0, span.begin), '\n'));
      throw Error(ErrorKind::usage,
                  printable(member) + ":" + std::to_string(line) + ": has " +
                      std::string(span.what) + ", which must not leave the house",
                  "remove it from the run's files, and make the run again");
    }
    if (tools_.secrets.are_in(text))
      throw Error(ErrorKind::usage,
                  printable(member) + ": has a secret of your environment or of credentials.json",
                  "remove it from the run's files, and make the run again");
  }

  const CrateTools& tools_;
  OutgoingTexts& found_;
  std::set<std::string> own_digests_{};  ///< of the text that is read
};

}  // namespace

OutgoingTexts scan_texts(const CrateContent& content, const CrateTools& tools) {
  OutgoingTexts found;
  TextScanner scanner(tools, found);
  for (const auto& [name, text] : content.texts)
    scanner.scan_text(name, text);
  for (const auto& [name, file] : content.files) {
    if (name.ends_with(".tar.gz") && name.starts_with("run/code")) {
      scanner.scan_archive(name, file);
    } else {
      scanner.scan_file(name, file);
    }
  }
  return found;
}

}  // namespace sabath::sharing
