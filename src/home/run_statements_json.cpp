#include <sabath/base/beneath.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/utf8.hpp>
#include <sabath/base/write_access.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/spec/run_count.hpp>

#include <nlohmann/json.hpp>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

namespace sabath::home {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;
using Kind = RunStatement::Kind;

constexpr std::array<std::pair<Kind, const char*>, 3> kinds{
    {{Kind::tag, "tag"}, {Kind::untag, "untag"}, {Kind::note, "note"}}};
constexpr std::string_view file_suffix = ".json";
constexpr std::uint64_t largest_file = 512U << 10U;  // a note in which each byte is escaped

std::string name_of(int number) {
  return std::to_string(number) + std::string(file_suffix);
}

bool is_statement(const std::string& name) {
  const auto number = base::leading_number<int>(name);
  return number && name == name_of(*number);
}

/// The numbers of the statements in a folder, sorted. Other names are of nobody's concern.
std::vector<int> numbers_in(const base::Directory& folder) {
  std::vector<int> numbers;
  for (const std::string& name : folder.names()) {
    if (is_statement(name)) numbers.push_back(*base::leading_number<int>(name));
  }
  std::ranges::sort(numbers);
  return numbers;
}

fs::path file_of(const fs::path& run, int number) {
  return run / statements_name / name_of(number);
}

RunStatement parse_statement(const std::string& text, const fs::path& file, int number) {
  base::JsonDocument document = base::JsonDocument::parse(text, file.string());
  base::JsonReader root = document.root();
  RunStatement statement;
  statement.number = number;
  root.required("schema");
  statement.at = root.required("at").string();
  statement.by = root.required("by").string();
  int found = 0;
  for (const auto& [kind, key] : kinds) {
    base::JsonReader value = root.optional(key);
    if (!value.exists()) continue;
    ++found;
    statement.kind = kind;
    statement.text = value.string();
  }
  if (found != 1) root.problem("must have one of tag, untag and note");
  root.finish();
  document.finish();
  return statement;
}

std::string statement_text(const RunStatement& statement) {
  nlohmann::ordered_json json{{"schema", 1}, {"at", statement.at}, {"by", statement.by}};
  for (const auto& [kind, key] : kinds) {
    if (kind == statement.kind) json[key] = statement.text;
  }
  return base::pretty_json(json);
}

/// The folder of statements, open; nothing where there is none.
std::optional<base::Directory> folder_of(const fs::path& run) {
  struct stat status {};
  // Most runs have none: this is asked of each run of a home.
  if (::lstat((run / statements_name).c_str(), &status) != 0) return std::nullopt;
  return base::Directory::open(run / statements_name);
}

std::string owner_name(unsigned user) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): of a message that ends the command
  const passwd* const entry = ::getpwuid(user);
  return entry == nullptr ? "user " + std::to_string(user) : base::printable(entry->pw_name);
}

/// A file of the folder of statements, whatever it says; nothing where it is gone.
std::optional<std::string> raw_text(const fs::path& run, const std::string& name) {
  try {
    const auto content = base::Beneath(run).read_if_exists(run / statements_name / name);
    return content ? std::optional(content->text) : std::nullopt;
  } catch (const Error& error) {
    throw Error(error.kind(), error.what(), "nothing was removed; move this file elsewhere");
  }
}

/// Copies a file that is not a statement of this version, under its own name.
void copy_other(const fs::path& from, const fs::path& to, const std::string& name) {
  const auto text = raw_text(from, name);
  if (!text) return;
  const base::Beneath beneath(to);
  const fs::path copy = to / statements_name / name;
  beneath.make_directories(copy.parent_path());
  if (beneath.write_once(copy, *text) || raw_text(to, name) == text) return;
  throw Error(ErrorKind::storage,
              copy.string() + ": differs from " + (from / statements_name / name).string(),
              "nothing was removed; rename one of the two files");
}

void refuse_text(const std::string& place, const std::string& problem, const std::string& hint) {
  throw Error(ErrorKind::usage, place + ": " + problem, hint);
}

}  // namespace

std::vector<RunStatement> read_statements(const fs::path& run,
                                          const std::function<void(const std::string&)>& report) {
  std::vector<RunStatement> statements;
  const auto add = [&](int number) {
    const fs::path file = file_of(run, number);
    const auto content = base::Beneath(run).read_if_exists(file, largest_file);
    if (content) statements.push_back(parse_statement(content->text, file, number));
  };
  const auto guarded = [&](auto&& work) {
    try {
      work();
    } catch (const Error& error) {
      if (report) report(error.what());
    }
  };
  guarded([&] {
    const auto folder = folder_of(run);
    if (!folder) return;
    for (const int number : numbers_in(*folder))
      guarded([&] { add(number); });
  });
  return statements;
}

int add_statement(const fs::path& run, Kind kind, const std::string& text, const std::string& at) {
  require_own_run(run);
  const RunStatement statement{0, at, base::user_name() + "@" + probe::node_name(), kind, text};
  const base::Beneath beneath(run);
  beneath.make_directories(run / statements_name);
  const std::vector<int> known = numbers_in(beneath.directory(run / statements_name));
  int number = known.empty() ? 1 : known.back() + 1;
  // Another process may take the number first.
  while (!beneath.write_once(file_of(run, number), statement_text(statement)))
    ++number;
  return number;
}

void merge_statements(const fs::path& from, const fs::path& to) {
  const auto source = folder_of(from);
  if (!source) return;
  const base::Beneath beneath(to);
  std::set<std::string> known;
  int next = 1;
  if (const auto there = folder_of(to)) {
    for (const int number : numbers_in(*there)) {
      known.insert(raw_text(to, name_of(number)).value_or(""));
      next = number + 1;
    }
  }
  for (const int number : numbers_in(*source)) {
    const auto text = raw_text(from, name_of(number));
    if (!text || known.contains(*text)) continue;
    beneath.make_directories(to / statements_name);
    while (!beneath.write_once(file_of(to, next), *text))
      ++next;
    ++next;
  }
  for (const std::string& name : source->names()) {
    if (!is_statement(name) && !name.starts_with('.')) copy_other(from, to, name);
  }
}

std::vector<std::string> current_tags(std::vector<std::string> recorded,
                                      const std::vector<RunStatement>& statements) {
  for (const RunStatement& one : statements) {
    if (one.kind == Kind::note || spec::is_reserved_tag(one.text)) continue;
    const auto known = std::ranges::find(recorded, one.text);
    if (one.kind == Kind::untag && known != recorded.end()) recorded.erase(known);
    if (one.kind == Kind::tag && known == recorded.end()) recorded.push_back(one.text);
  }
  return recorded;
}

void check_tag(const std::string& tag) {
  const std::string place = "tag '" + base::printable(tag.substr(0, longest_tag_bytes)) + "'";
  if (spec::is_reserved_tag(tag))
    refuse_text(place, "is reserved: it says why a run was made", "choose another word");
  const bool has_form = !tag.empty() && base::is_utf8_without_controls(tag) &&
                        tag.find_first_of(",*") == std::string::npos && tag.front() != ' ' &&
                        tag.back() != ' ';
  if (!has_form)
    refuse_text(place, "is not a tag", "a tag is one word or more, without ',' and '*'");
  if (tag.size() > longest_tag_bytes) {
    refuse_text(place,
                "has more than " + std::to_string(longest_tag_bytes) + " bytes",
                "'sabath note' takes longer texts");
  }
  refuse_secrets(std::vector<std::string>{tag}, "tag");
}

void check_note(const std::string& note) {
  if (note.find_first_not_of(" \t\n") == std::string::npos)
    refuse_text("note", "is empty", "such as 'sabath note @last \"warm-up too short\"'");
  if (note.size() > longest_note_bytes) {
    refuse_text("note",
                "has " + base::format_bytes(note.size()) + ", more than " +
                    base::format_bytes(longest_note_bytes),
                "shorten it, or keep it in a file of its own and name that");
  }
  if (!base::is_utf8(note) || note.find('\0') != std::string::npos)
    refuse_text("note", "is not text in UTF-8", "convert it, for example with iconv");
  refuse_secrets(std::vector<std::string>{note}, "note");
}

void require_own_run(const fs::path& run) {
  const base::Directory folder = base::Directory::open(run);
  const unsigned owner = folder.status().st_uid;
  if (owner != ::geteuid()) {
    throw Error(ErrorKind::storage,
                run.string() + ": belongs to " + owner_name(owner),
                "only its owner changes what belongs to a run");
  }
  if (!base::can_others_write(folder.fd())) return;
  throw Error(ErrorKind::storage,
              run.string() + ": belongs to " + owner_name(owner) + ", and others can write to it",
              "chmod go-w " + run.string());
}

}  // namespace sabath::home
