#define PCRE2_CODE_UNIT_WIDTH 8
#include <sabath/base/error.hpp>
#include <sabath/base/text/regex.hpp>

#include <pcre2.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace sabath::base {

/// Deleter of a handle of PCRE2. Has linkage: types of members must have it in unity builds.
template <class T, void (*free_it)(T*)>
struct Freed {
  void operator()(T* value) const { free_it(value); }
};

namespace {

/// What a sound pattern never needs on one line, and what takes some milliseconds.
constexpr std::uint32_t step_limit = 1'000'000;

using Code = std::unique_ptr<pcre2_code, Freed<pcre2_code, pcre2_code_free>>;
using Match = std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data, pcre2_match_data_free>>;
using Context =
    std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context, pcre2_match_context_free>>;
using Stack = std::unique_ptr<pcre2_jit_stack, Freed<pcre2_jit_stack, pcre2_jit_stack_free>>;

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

/// The compiled pattern, or what is wrong with it.
std::pair<Code, std::string> compile(std::string_view pattern) {
  const bool is_ascii = std::all_of(
      pattern.begin(), pattern.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const std::uint32_t options = PCRE2_DUPNAMES | PCRE2_NEVER_BACKSLASH_C |
                                (is_ascii ? PCRE2_NEVER_UTF : PCRE2_UTF | PCRE2_MATCH_INVALID_UTF);
  int error = 0;
  PCRE2_SIZE position = 0;
  Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()),
                          pattern.size(),
                          options,
                          &error,
                          &position,
                          nullptr));
  if (code) return {std::move(code), std::string()};
  return {Code(), "at position " + std::to_string(position) + ": " + message_of(error)};
}

/// Throws Error{usage}.
Code compiled(std::string_view pattern) {
  auto [code, problem] = compile(pattern);
  if (!code) throw Error(ErrorKind::usage, "'" + std::string(pattern) + "': " + problem);
  return std::move(code);
}

/// Bounds the steps of a search.
Context bounds() {
  Context context(pcre2_match_context_create(nullptr));
  if (!context) throw std::bad_alloc();
  pcre2_set_match_limit(context.get(), step_limit);
  return context;
}

Match match_for(const Code& code) {
  Match match(pcre2_match_data_create_from_pattern(code.get(), nullptr));
  if (!match) throw std::bad_alloc();
  return match;
}

}  // namespace

struct Regex::State {
  Code code;
  Match match;
  Stack stack;
  Context context = bounds();
  std::string_view subject{};
};

Regex::Regex(std::string_view pattern) : state_(std::make_unique<State>()) {
  state_->code = compiled(pattern);
  // Without it searching is slower, and that is all. Not for a Form: it takes longer than to judge
  // a hundred names.
  pcre2_jit_compile(state_->code.get(), PCRE2_JIT_COMPLETE);
  state_->match = match_for(state_->code);
  // What long lines take: PCRE2's own has 32 KiB.
  state_->stack.reset(
      pcre2_jit_stack_create(std::size_t{32} << 10U, std::size_t{8} << 20U, nullptr));
  if (state_->stack) pcre2_jit_stack_assign(state_->context.get(), nullptr, state_->stack.get());
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

std::optional<std::string> Regex::problem_of(std::string_view pattern) {
  auto [code, problem] = compile(pattern);
  if (code) return std::nullopt;
  return problem;
}

Regex::Outcome Regex::search(std::string_view subject, std::size_t from) {
  state_->subject = subject;
  const int found = pcre2_match(state_->code.get(),
                                reinterpret_cast<PCRE2_SPTR>(subject.data()),
                                subject.size(),
                                from,
                                0,
                                state_->match.get(),
                                state_->context.get());
  if (found > 0) return Outcome::found;
  if (found == PCRE2_ERROR_NOMATCH) return Outcome::none;
  // Besides the limit of steps: depth, heap, or the stack of the compiled code.
  return Outcome::too_hard;
}

std::optional<std::string_view> Regex::group(int number) const {
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(state_->match.get());
  const auto index = static_cast<std::size_t>(number) * 2;
  if (index >= 2 * std::size_t{pcre2_get_ovector_count(state_->match.get())}) return std::nullopt;
  const PCRE2_SIZE begin = offsets[index];
  const PCRE2_SIZE end = offsets[index + 1];
  // \K in a lookahead can put the beginning behind the end.
  if (begin == PCRE2_UNSET || end < begin) return std::nullopt;
  return state_->subject.substr(begin, end - begin);
}

std::vector<int> Regex::groups_named(std::string_view name) const {
  std::uint32_t count = 0;
  std::uint32_t size = 0;
  PCRE2_SPTR table = nullptr;
  pcre2_pattern_info(state_->code.get(), PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(state_->code.get(), PCRE2_INFO_NAMEENTRYSIZE, &size);
  pcre2_pattern_info(state_->code.get(), PCRE2_INFO_NAMETABLE, &table);
  std::vector<int> numbers;
  for (std::uint32_t i = 0; i < count; ++i) {
    const PCRE2_SPTR entry = table + std::size_t{i} * size;  // number in two bytes, name, NUL
    if (name == reinterpret_cast<const char*>(entry + 2))
      numbers.push_back(entry[0] << 8 | entry[1]);
  }
  return numbers;
}

int Regex::group_count() const {
  std::uint32_t count = 0;
  pcre2_pattern_info(state_->code.get(), PCRE2_INFO_CAPTURECOUNT, &count);
  return static_cast<int>(count);
}

struct Form::State {
  Code code;
  Context context = bounds();
};

Form::Form(std::string_view pattern)
    : state_(std::make_shared<const State>(
          State{compiled("\\A(?:" + std::string(pattern) + ")\\z"), bounds()})) {}

bool Form::matches(std::string_view text) const {
  return parts(text).has_value();
}

std::optional<std::vector<std::string>> Form::parts(std::string_view text) const {
  const Match match = match_for(state_->code);
  const int found = pcre2_match(state_->code.get(),
                                reinterpret_cast<PCRE2_SPTR>(text.data()),
                                text.size(),
                                0,
                                0,
                                match.get(),
                                state_->context.get());
  if (found <= 0) return std::nullopt;
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(match.get());
  std::vector<std::string> parts(pcre2_get_ovector_count(match.get()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (offsets[2 * i] != PCRE2_UNSET)
      parts[i] = text.substr(offsets[2 * i], offsets[2 * i + 1] - offsets[2 * i]);
  }
  return parts;
}

}  // namespace sabath::base
