#pragma once

#include <cstddef>
#include <string_view>

namespace sabath::spec {

/// The facet with the variables that the stages of a run inherited: name -> the name of the home's
/// key and a digest that is keyed by it. Digests of two keys say nothing about each other. An empty
/// value: there was no key.
inline constexpr std::string_view session_facet = "session";
inline constexpr std::size_t key_name_digits = 16;
inline std::string_view key_of_session_value(std::string_view value) {
  return value.substr(0, key_name_digits);
}

/// The facet with the files that processes opened and that nothing else of the record names. Its
/// items are path -> size and digest, `method`, and what could not be seen as `note 1`, `note 2`
/// ...
inline constexpr std::string_view opened_facet = "opened";
inline constexpr std::string_view opened_method = "method";
inline constexpr std::string_view opened_note = "note ";
/// Methods: the kernel reported each open, or processes were looked at now and then.
inline constexpr std::string_view every_open = "fanotify";
inline constexpr std::string_view some_opens = "sampling";
inline bool is_opened_path(std::string_view item) {
  return item.starts_with('/');
}

/// Does a terminal, a desktop or a login set this variable anew each time (TERM, PWD, SSH_TTY)?
/// Cached stages do not inherit it.
bool is_of_login(std::string_view variable);

/// Does it say who runs the process, where, or as which job of a scheduler (HOME, TMPDIR,
/// SLURM_JOB_ID)? Programs need it to work; it is not an input.
bool is_of_place(std::string_view variable);

/// Is it one of these, or of a desktop? Another value of it makes no difference between two runs.
bool changes_with_session(std::string_view variable);

}  // namespace sabath::spec
