#include "selection.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace sabath::catalog {
namespace {

using base::printable;
using std::string_view;

constexpr string_view operator_signs = "=<>!~";
constexpr std::size_t most_terms = 500;
constexpr std::size_t deepest = 50;
constexpr string_view quoting_hint = "quote the selection: shells take '<', '>' and '(' for theirs";

struct Sign {
  string_view text;
  Comparison comparison;
  string_view word;
};
constexpr std::array<Sign, 7> signs{{
    {"=", Comparison::equal, ""},
    {"!=", Comparison::unequal, ".ne"},
    {"<", Comparison::less, ".lt"},
    {"<=", Comparison::at_most, ".le"},
    {">", Comparison::more, ".gt"},
    {">=", Comparison::at_least, ".ge"},
    {"~", Comparison::contains, ".like"},
}};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

std::string nearest_run(string_view word, const SelectionNames& names) {
  std::vector<std::string> words{"@last", "@running", "@best", "@previous"};
  if (names.saved) {
    for (const auto& saved : names.saved())
      words.push_back("@" + saved.first);
  }
  return base::did_you_mean(
      word,
      words,
      "@last is the newest that has ended, @last~1 the one before it, @running the newest that has "
      "not ended, @best the best, @previous side A of the last comparison");
}

/// A text and the place in it: words, signs, quoted texts, and where items end.
class Scanner {
 protected:
  explicit Scanner(string_view text) : text_(text) {}

  [[noreturn]] void refuse(const std::string& problem, const std::string& hint = {}) const {
    refuse_selection(
        text_,
        problem + " (at character " + std::to_string(std::min(at_, text_.size()) + 1) + ")",
        hint);
  }

  [[noreturn]] void refuse_term(string_view term) const {
    refuse("'" + printable(term) + "' is not KEY=VALUE",
           "'sabath help selections' lists the terms; " + std::string(quoting_hint));
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_]))
      ++at_;
  }

  /// `word` at this place, with a blank or a parenthesis behind it.
  bool begins_with_word(string_view word, std::size_t at) const {
    if (base::lower_case(text_.substr(at, word.size())) != word) return false;
    const auto behind = at + word.size();
    return behind < text_.size() && (is_blank(text_[behind]) || text_[behind] == '(');
  }

  bool take_word(string_view word) {
    skip_blanks();
    if (!begins_with_word(word, at_)) return false;
    at_ += word.size();
    return true;
  }

  bool take(char sign) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != sign) return false;
    ++at_;
    return true;
  }

  /// Where the item that begins at `at` ends: before a comma, or a ')' that closes a group.
  std::size_t end_of_item(std::size_t at) const {
    std::size_t open = 0;
    for (; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == ',') break;
      if (c == '(') ++open;
      if (c == ')' && groups_ > 0 && open == 0) break;
      if (c == ')' && open > 0) --open;
    }
    return at;
  }

  /// Does a term begin at `at`? Then a word "or" before it joins, and is not of a value.
  bool begins_term(std::size_t at) const {
    while (at < text_.size() && is_blank(text_[at]))
      ++at;
    if (at >= text_.size()) return false;
    if (text_[at] == '(' || text_[at] == '@' || begins_with_word("not", at)) return true;
    const auto sign = text_.find_first_of(operator_signs, at);
    return sign != text_.npos && sign > at && sign < end_of_item(at);
  }

  bool at_quote() const { return at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\''); }

  /// A text between quotes; the quote within it is written twice.
  std::string quoted() {
    const char quote = text_[at_++];
    std::string found;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c != quote) {
        found += c;
      } else if (at_ < text_.size() && text_[at_] == quote) {
        found += text_[at_++];
      } else {
        return found;
      }
    }
    refuse("a closing quote is missing");
  }

  string_view text_;
  std::size_t at_ = 0;
  std::size_t groups_ = 0;  ///< that are open
};

/// Reads one text from left to right.
class Parser : private Scanner {
 public:
  /// `terms`: how many were read, in all texts.
  Parser(string_view text, const SelectionNames& names, std::size_t saved_depth, std::size_t& terms)
      : Scanner(text), names_(names), saved_depth_(saved_depth), terms_(terms) {}

  Selection selection() {
    if (text_.empty())
      refuse_selection(text_, "is empty", "name a run, @last, or terms such as recipe=NAME");
    if (!is_expression()) return runs_of(text_);
    Selection selection;
    Expression all = all_of_list();
    skip_blanks();
    if (at_ < text_.size()) {
      refuse(text_[at_] == ')' ? "')' closes nothing"
                               : "the end, a comma, 'and' or 'or' was expected");
    }
    take_reference(all, selection);
    refuse_references(all);
    selection.filter = std::move(all);
    return selection;
  }

 private:
  /// Terms and what joins them, not a run or a range.
  bool is_expression() const {
    if (text_.find_first_of("=<>!(,") != text_.npos || begins_with_word("not", 0)) return true;
    const auto tilde = text_.find('~');
    return tilde != text_.npos && tilde > 0 && text_.front() != '@' &&
           text_.find('@') == text_.npos;
  }

  Selection runs_of(string_view text) {
    const auto dots = text.find("..");
    if (dots == text.npos || text.find('/') != text.npos) {
      if (const auto saved = saved_selection(text)) return *saved;
      return {{reference_of(text)}, {}};
    }
    return {{reference_of(text.substr(0, dots)), reference_of(text.substr(dots + 2))}, {}};
  }

  /// What `@NAME` stands for.
  std::optional<Selection> saved_selection(string_view word) const {
    if (!word.starts_with('@') || !names_.saved) return std::nullopt;
    const auto saved = names_.saved();
    const auto found = saved.find(std::string(word.substr(1)));
    if (found == saved.end()) return std::nullopt;
    if (saved_depth_ >= deepest)
      refuse("the saved selection '" + printable(word) + "' names itself");
    return Parser(found->second, names_, saved_depth_ + 1, terms_).selection();
  }

  RunReference reference_of(string_view text) const {
    using Kind = RunReference::Kind;
    constexpr string_view last = "@last";
    if (!text.starts_with('@')) {
      if (text.empty()) refuse_selection(text_, "an end of the range is missing");
      return {Kind::id, 0, std::string(text)};
    }
    if (text == "@running") return {Kind::running, 0, {}};
    if (text == "@best") return {Kind::best, 0, {}};
    if (text == "@previous") return {Kind::previous, 0, {}};
    if (text == last) return {Kind::last, 0, {}};
    if (text.starts_with("@last~")) {
      const auto number = base::number_in<std::uint32_t>(text.substr(last.size() + 1));
      if (number) return {Kind::last, *number, {}};
    }
    refuse_selection(text_, "'" + printable(text) + "' is not a run", nearest_run(text, names_));
  }

  /// One or several parts, joined as `kind` says.
  static Expression joined(Expression::Kind kind, std::vector<Expression> parts) {
    if (parts.size() == 1) return std::move(parts.front());
    Expression expression;
    expression.kind = kind;
    expression.parts = std::move(parts);
    return expression;
  }

  /// Items joined by commas: all must hold. A comma joins less than 'or' does.
  Expression all_of_list() {
    std::vector<Expression> parts;
    do
      parts.push_back(any_of_words());
    while (take(','));
    return joined(Expression::Kind::all, std::move(parts));
  }

  Expression any_of_words() {
    std::vector<Expression> parts;
    do
      parts.push_back(all_of_words());
    while (take_word("or"));
    return joined(Expression::Kind::any, std::move(parts));
  }

  Expression all_of_words() {
    std::vector<Expression> parts;
    do
      parts.push_back(item());
    while (take_word("and"));
    return joined(Expression::Kind::all, std::move(parts));
  }

  Expression item() {
    if (++depth_ > deepest) refuse("too many parentheses");
    Expression found = one_item();
    --depth_;
    return found;
  }

  Expression one_item() {
    if (take_word("not")) {
      Expression none;
      none.kind = Expression::Kind::none;
      none.parts.push_back(item());
      return none;
    }
    skip_blanks();
    if (take('(')) {
      ++groups_;
      Expression all = all_of_list();
      if (!take(')')) refuse("')' is missing");
      --groups_;
      return all;
    }
    if (at_ < text_.size() && text_[at_] == '@') return reference();
    return term();
  }

  Expression reference() {
    const auto end = std::min(text_.find_first_of(", )\t\n", at_), text_.size());
    const string_view word = text_.substr(at_, end - at_);
    if (word.find("..") != word.npos)
      refuse("a range of runs cannot be joined with terms", "name the range alone");
    Expression found;
    if (auto saved = saved_selection(word)) {
      if (saved->references.size() > 1)
        refuse("'" + printable(word) + "' is a range of runs, which cannot be joined with terms");
      if (saved->filter) found = std::move(*saved->filter);
      if (!saved->references.empty()) {
        Expression run;
        run.kind = Expression::Kind::reference;
        run.reference = saved->references.front();
        if (!saved->filter) found.parts.clear();
        found = joined(Expression::Kind::all, {std::move(found), std::move(run)});
      }
    } else {
      found.kind = Expression::Kind::reference;
      found.reference = reference_of(word);
    }
    at_ = end;
    return found;
  }

  Expression term() {
    if (++terms_ > most_terms)
      refuse("has more than " + std::to_string(most_terms) + " conditions",
             "a range such as seed=1..1000, or '*' in a value, says many at once");
    Expression found;
    found.kind = Expression::Kind::term;
    found.term.place = at_;
    found.term.key = key();
    found.term.comparison = comparison(found.term.key);
    value(found.term);
    return found;
  }

  std::string key() {
    if (at_quote()) {
      std::string name = quoted();
      skip_blanks();
      return name;
    }
    const string_view item = text_.substr(at_, end_of_item(at_) - at_);
    const auto sign = item.find_first_of(operator_signs);
    if (sign == item.npos || sign == 0) refuse_term(base::trimmed(item));
    const string_view name = base::trimmed(item.substr(0, sign));
    for (const string_view word : {" or ", " and "}) {
      const auto at = base::lower_case(name).find(word);
      if (at != name.npos && !is_parameter(name)) refuse_term(base::trimmed(name.substr(0, at)));
    }
    at_ += sign;
    return std::string(name);
  }

  bool is_parameter(string_view name) const {
    return names_.is_parameter && names_.is_parameter(name);
  }

  Comparison comparison(std::string& key) {
    const auto end = std::min(text_.find_first_not_of(operator_signs, at_), text_.size());
    const string_view typed = text_.substr(at_, end - at_);
    const auto* const sign = std::ranges::find(signs, typed, &Sign::text);
    if (sign == signs.end()) {
      refuse("the operator '" + printable(typed) + "' is not supported",
             "operators are =, !=, <, <=, >, >= and ~, as in " + printable(key) +
                 "=VALUE; quote a value that begins with one of their signs");
    }
    at_ = end;
    if (sign->comparison != Comparison::equal || is_parameter(key)) return sign->comparison;
    for (const Sign& other : signs) {
      if (other.word.empty() || !key.ends_with(other.word) || key.size() == other.word.size())
        continue;
      key.resize(key.size() - other.word.size());
      return other.comparison;
    }
    return Comparison::equal;
  }

  void value(SelectionTerm& term) {
    if (at_quote()) {
      term.is_quoted = true;
      term.value = quoted();
      skip_blanks();
      const bool is_end = at_ >= text_.size() || text_[at_] == ',' || text_[at_] == ')' ||
                          begins_with_word("or", at_) || begins_with_word("and", at_);
      if (!is_end) refuse("after a quoted value a comma, 'and' or 'or' was expected");
      return;
    }
    const std::size_t end = end_of_value(term);
    term.value = base::trimmed(text_.substr(at_, end - at_));
    at_ = end;
    const std::string lower = base::lower_case(term.value);
    if (lower.ends_with(" or") || lower.ends_with(" and"))
      refuse("behind 'or' and 'and' a term was expected", "quote a value that ends so");
  }

  std::size_t end_of_value(const SelectionTerm& term) const {
    std::size_t end = end_of_item(at_);
    if (may_be_list(term)) {
      while (end < text_.size() && text_[end] == ',' && is_list_item(end + 1))
        end = end_of_item(end + 1);
    }
    for (std::size_t at = at_; at < end; ++at) {
      if (!is_blank(text_[at])) continue;
      for (const string_view word : {"or", "and"}) {
        if (begins_with_word(word, at + 1) && begins_term(at + 1 + word.size())) return at;
      }
    }
    return end;
  }

  /// Only a parameter may have a list as its value.
  bool may_be_list(const SelectionTerm& term) const {
    const auto [prefix, name] = prefixed(term.key);
    const std::vector<std::string> known = selection_keys();
    return (term.comparison == Comparison::equal || term.comparison == Comparison::unequal) &&
           (prefix.empty() || prefix == "param") &&
           (std::ranges::find(known, term.key) == known.end() ||
            (is_later_key(term.key) && is_parameter(term.key)));
  }

  /// "16" in "hidden=16,16": without an operator it belongs to the value before it.
  bool is_list_item(std::size_t at) const {
    const string_view item = text_.substr(at, end_of_item(at) - at);
    const string_view bare = base::trimmed(item);
    if (bare.empty() || bare.front() == '@' || bare.front() == '(') return false;
    if (item.find_first_of("=<>!") != item.npos || bare.find('~', 1) != bare.npos) return false;
    return !begins_with_word("not", at + static_cast<std::size_t>(bare.data() - item.data()));
  }

  /// Takes the run that the outermost terms stand beside.
  void take_reference(Expression& all, Selection& selection) const {
    if (all.kind == Expression::Kind::reference) {
      selection.references.push_back(all.reference);
      all = Expression{};
      return;
    }
    if (all.kind != Expression::Kind::all) return;
    for (Expression& part : all.parts)
      take_reference(part, selection);
    if (selection.references.size() > 1)
      refuse_selection(text_, "two runs are named in one selection", "name one of them");
  }

  void refuse_references(const Expression& expression) const {
    if (expression.kind == Expression::Kind::reference) {
      refuse_selection(text_,
                       "a run such as @last cannot stand within 'or' or 'not'",
                       "name it beside terms: recipe=NAME,@last");
    }
    for (const Expression& part : expression.parts)
      refuse_references(part);
  }

  const SelectionNames& names_;
  std::size_t saved_depth_;
  std::size_t& terms_;
  std::size_t depth_ = 0;
};

void add_terms(const Expression& expression, std::vector<SelectionTerm>& terms) {
  if (expression.kind == Expression::Kind::term) terms.push_back(expression.term);
  for (const Expression& part : expression.parts)
    add_terms(part, terms);
}

}  // namespace

void refuse_selection(string_view text, const std::string& problem, const std::string& hint) {
  throw base::Error(
      base::ErrorKind::usage, "selection '" + printable(text) + "': " + problem, hint);
}

Selection parse_selection(string_view text, const SelectionNames& names) {
  std::size_t terms = 0;
  return Parser(text, names, 0, terms).selection();
}

SelectionParts parts_of(string_view selection, const SelectionNames& names) {
  const Selection parsed = parse_selection(selection, names);
  SelectionParts parts;
  parts.is_one_run = parsed.references.size() == 1;
  if (parsed.filter) add_terms(*parsed.filter, parts.terms);
  return parts;
}

string_view sign_of(Comparison comparison) {
  return std::ranges::find(signs, comparison, &Sign::comparison)->text;
}

PrefixedKey prefixed(string_view key) {
  for (const string_view prefix : {"param", "metric", "last", "best", "run"}) {
    if (key.starts_with(prefix) && key.substr(prefix.size()).starts_with('.') &&
        key.size() > prefix.size() + 1) {
      return {prefix, key.substr(prefix.size() + 1)};
    }
  }
  return {{}, key};
}

}  // namespace sabath::catalog
