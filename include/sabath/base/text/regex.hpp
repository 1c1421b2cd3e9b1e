#pragma once

#include <sabath/base/text/regex.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

/// A regular expression in Perl's syntax (PCRE2). One thread at a time: a search keeps its match
/// here. Works on bytes, unless the pattern itself has characters beyond ASCII.
class Regex {
 public:
  enum class Outcome { found, none, too_hard };

  /// Throws Error{usage} for what `problem_of` has a word for.
  explicit Regex(std::string_view pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  /// Why `pattern` is none: "at position 7: missing closing parenthesis".
  static std::optional<std::string> problem_of(std::string_view pattern);

  /// The first match in `subject` that begins at `from` or later. `too_hard` when the search was
  /// given up because it needs too many steps. `subject` may hold any bytes; groups are views of
  /// it.
  Outcome search(std::string_view subject, std::size_t from = 0);
  /// Group `number` (0: the whole) of the last match that was found; nothing if it took no part.
  std::optional<std::string_view> group(int number) const;
  /// The numbers of the groups of this name, and how many groups there are.
  std::vector<int> groups_named(std::string_view name) const;
  int group_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The form that a name, a version, a URL must have, as a whole. A text that takes too many steps
/// is not of the form. From any thread.
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
