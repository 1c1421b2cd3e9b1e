#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// A regular expression in Perl's syntax (PCRE2). Works on bytes, unless the pattern has characters
/// beyond ASCII. Thread safety: one thread at a time, since the object holds the last match.
class Regex {
 public:
  enum class Outcome { found, none, too_hard };

  /// Throws Error{usage} for a pattern with a `problem_of`.
  explicit Regex(std::string_view pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  /// The problem of an invalid `pattern`: "at position 7: missing closing parenthesis".
  static std::optional<std::string> problem_of(std::string_view pattern);

  /// Finds the first match in `subject` that begins at `from` or later. Returns `too_hard` if the
  /// search needs too many steps. `subject` may hold any bytes; groups are views of it.
  Outcome search(std::string_view subject, std::size_t from = 0);
  /// Group `number` (0: the whole) of the last match; nothing if the group did not match.
  std::optional<std::string_view> group(int number) const;
  /// The numbers of the groups of this name, and how many groups there are.
  std::vector<int> groups_named(std::string_view name) const;
  int group_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A pattern that a whole text (a name, a version, a URL) must match. A text that needs too many
/// steps does not match. Thread safety: any thread.
class Form {
 public:
  explicit Form(std::string_view pattern);

  bool matches(std::string_view text) const;
  /// The text and its groups, empty where one took no part; nothing for a text of another form.
  std::optional<std::vector<std::string>> parts(std::string_view text) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace sabath::base
