#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/file_stamp.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/text_memo.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::env {

/// What a memo and a digest of a source tree keep of a file's stamp.
std::string memo_text(const base::FileStamp& stamp);
/// When the content or the state of a file changed last.
base::WallTime last_change(const base::FileStamp& stamp);

/// Cache of slow answers, each with the stamps of the files it depends on; an answer is dropped
/// when one of them has changed. Kept in a file of the user (base::TextMemo). Thread safety: one
/// thread at a time.
class Memo {
 public:
  /// An empty `file` remembers in this object alone.
  Memo(const std::filesystem::path& file, const base::Clock& clock);

  std::optional<std::string> find(const std::string& key);
  /// Does nothing if one of `files` changed so recently that a further change could leave the same
  /// stamp. Ignores failures to write.
  void remember(const std::string& key,
                const std::string& value,
                const std::vector<std::filesystem::path>& files);
  /// Whether `changed` is long enough ago for a stamp to be reliable.
  bool is_at_rest(base::WallTime changed) const;

 private:
  base::TextMemo answers_;
  const base::Clock& clock_;
};

/// Key of an answer of programs: the question, its words, and all variables that the layers set.
std::string memo_key(std::string_view question,
                     const std::vector<std::string>& words,
                     const base::Environment& environment);

}  // namespace sabath::env
