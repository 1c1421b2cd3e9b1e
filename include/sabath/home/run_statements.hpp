#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sabath::home {

// What is said of a run after its end lies beside its record, which never changes. Each statement
// is a file RUN/said/<number>.json, made by rename: many processes may write at once, and a killed
// one leaves nothing half-done (docs/formats/said.md).

struct RunStatement {
  enum class Kind { tag, untag, note };

  int number = 0;  ///< later statements have greater ones
  std::string at{};
  std::string by{};  ///< USER@HOST
  Kind kind = Kind::note;
  std::string text{};

  bool operator==(const RunStatement&) const = default;
};

/// The folder of statements in that of a run, or of an archived run.
inline constexpr const char* statements_name = "said";
inline constexpr std::size_t longest_tag_bytes = 128;
inline constexpr std::size_t longest_note_bytes = 64U << 10U;

/// Reads what was said of a run, oldest first. Passes each file that cannot be read to `report`, as
/// "place: problem", and continues.
std::vector<RunStatement> read_statements(
    const std::filesystem::path& run,
    const std::function<void(const std::string& problem)>& report = {});

/// Adds a statement by this user, dated `at`; durable on return. Returns its number. Throws
/// Error{storage} as require_own_run.
int add_statement(const std::filesystem::path& run,
                  RunStatement::Kind kind,
                  const std::string& text,
                  const std::string& at);

/// Adds what is said in one folder of a run to what another folder of the same run has. Copies all
/// files as they are, also those of newer versions. Throws Error{storage} with the name of a file
/// that cannot be copied.
void merge_statements(const std::filesystem::path& from, const std::filesystem::path& to);

/// The tags of a record, as later statements changed them. Reserved tags stay as recorded.
std::vector<std::string> current_tags(std::vector<std::string> recorded,
                                      const std::vector<RunStatement>& statements);

/// Throws Error{usage} for a tag that nobody may give: no word, reserved, a secret.
void check_tag(const std::string& tag);
/// The same for a note: empty, too long, not text, a secret.
void check_note(const std::string& note);

/// Throws Error{storage} with the owner where a run's folder belongs to another user, or others can
/// write to it.
void require_own_run(const std::filesystem::path& run);

}  // namespace sabath::home
