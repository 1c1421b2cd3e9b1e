#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/session_differences.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/session_variables.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace sabath::compare {
namespace {

using Items = std::map<std::string, std::string>;

constexpr std::size_t shown_digits = 12;

const Items* items_of(const spec::RunRecord& record, std::string_view facet) {
  const spec::Facet* const found = record.facet(facet);
  return found == nullptr ? nullptr : &found->items;
}

/// Sides whose record lacks it: "A", "B" or "A and B"; else empty.
std::string lacking(bool has_a, bool has_b) {
  if (has_a) return has_b ? "" : "B";
  return has_b ? "A" : "A and B";
}

/// Name of the key of a facet's digests; empty without digests.
std::string_view key_of(const Items& session) {
  return session.empty() ? "" : spec::key_of_session_value(session.begin()->second);
}

bool is_of_one_home(const Items& a, const Items& b) {
  return a.empty() || b.empty() || (!key_of(a).empty() && key_of(a) == key_of(b));
}

bool is_known_by_value(const std::string& name, const spec::RunRecord& record) {
  for (const char* const facet : {"variables", "determinism"}) {
    const spec::Facet* const found = record.facet(facet);
    if (found != nullptr && (found->items.contains(name) || found->items.contains("seed." + name)))
      return true;
  }
  const auto& determinism = record.determinism;
  return determinism &&
         (determinism->seeds.contains(name) || determinism->switches.contains(name) ||
          determinism->threads.contains(name));
}

std::string digest_text(const Items& session, const std::string& name) {
  const auto found = session.find(name);
  if (found == session.end()) return {};
  return "set (digest " + found->second.substr(spec::key_name_digits, shown_digits) + ")";
}

bool is_sampled(const Items& opened) {
  const auto method = opened.find(std::string(spec::opened_method));
  return method == opened.end() || method->second != spec::every_open;
}

bool has_notes(const Items& opened) {
  return std::ranges::any_of(
      opened, [](const auto& item) { return item.first.starts_with(spec::opened_note); });
}

bool saw_all(const spec::RunRecord& record, const Items& opened) {
  return !is_sampled(opened) && !has_notes(opened) && !reuses_stages(record);
}

/// Values are "12 bytes, sha256:...", or the size alone for files without a digest.
bool is_other(const std::string& a, const std::string& b) {
  const bool is_hashed = a.find(',') != std::string::npos && b.find(',') != std::string::npos;
  return is_hashed ? a != b : a.substr(0, a.find(',')) != b.substr(0, b.find(','));
}

/// What a run opened or loaded, by path, in the words of the facet. Whether a short-lived program
/// is seen as loaded too depends on when it is looked at.
using Files = std::map<std::string, std::vector<std::string>>;

Files files_of(const Items& opened, const spec::RunRecord& record) {
  Files files;
  if (record.software) {
    for (const spec::LoadedLibrary& library : record.software->libraries) {
      std::string text = fmt::format("{} bytes", library.size_bytes);
      if (!library.digest.hex.empty()) text += ", " + library.digest.text();
      files[base::printable(library.path)].push_back(std::move(text));
    }
  }
  for (const auto& [path, file] : opened)
    files[path] = {file};
  return files;
}

bool all_are_other(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::all_of(a, [&](const std::string& one) {
    return std::ranges::all_of(b, [&](const std::string& other) { return is_other(one, other); });
  });
}

}  // namespace

bool reuses_stages(const spec::RunRecord& record) {
  return std::ranges::find(record.stages, "reused", &spec::StageRecord::state) !=
         record.stages.end();
}

bool is_uncertain(std::string_view facet) {
  return facet == spec::session_facet || facet == spec::opened_facet;
}

std::vector<spec::FacetDifference> session_differences(const spec::RunRecord& a,
                                                       const spec::RunRecord& b) {
  std::vector<spec::FacetDifference> differences;
  const Items* const of_a = items_of(a, spec::session_facet);
  const Items* const of_b = items_of(b, spec::session_facet);
  if (of_a == nullptr || of_b == nullptr || !is_of_one_home(*of_a, *of_b)) return differences;
  Items all = *of_a;
  all.insert(of_b->begin(), of_b->end());
  for (const auto& [name, digest] : all) {
    if (spec::changes_with_session(name)) continue;
    if (is_known_by_value(name, a) || is_known_by_value(name, b)) continue;
    spec::FacetDifference one{
        std::string(spec::session_facet), name, digest_text(*of_a, name), digest_text(*of_b, name)};
    if (one.a != one.b) differences.push_back(std::move(one));
  }
  return differences;
}

std::vector<spec::FacetDifference> opened_differences(const spec::RunRecord& a,
                                                      const spec::RunRecord& b) {
  std::vector<spec::FacetDifference> differences;
  const Items* const of_a = items_of(a, spec::opened_facet);
  const Items* const of_b = items_of(b, spec::opened_facet);
  if (of_a == nullptr || of_b == nullptr) return differences;
  const bool is_certain = saw_all(a, *of_a) && saw_all(b, *of_b);
  Files files_a = files_of(*of_a, a);
  Files files_b = files_of(*of_b, b);
  Items all = *of_a;
  all.insert(of_b->begin(), of_b->end());
  for (const auto& [path, file] : all) {
    if (!spec::is_opened_path(path)) continue;
    const auto& in_a = files_a[path];
    const auto& in_b = files_b[path];
    const bool in_both = !in_a.empty() && !in_b.empty();
    if (in_both ? !all_are_other(in_a, in_b) : !is_certain) continue;
    differences.push_back({std::string(spec::opened_facet),
                           path,
                           in_a.empty() ? "" : in_a.front(),
                           in_b.empty() ? "" : in_b.front()});
  }
  return differences;
}

std::vector<std::string> not_looked_at(const spec::RunRecord& a, const spec::RunRecord& b) {
  std::vector<std::string> texts;
  const Items* const session_a = items_of(a, spec::session_facet);
  const Items* const session_b = items_of(b, spec::session_facet);
  if (const auto who = lacking(session_a != nullptr, session_b != nullptr); !who.empty()) {
    texts.push_back(fmt::format("variables of the session (not recorded by {})", who));
  } else if (!is_of_one_home(*session_a, *session_b)) {
    texts.emplace_back(
        "variables of the session (unknown: digests of two homes cannot be compared)");
  }
  const Items* const opened_a = items_of(a, spec::opened_facet);
  const Items* const opened_b = items_of(b, spec::opened_facet);
  if (const auto who = lacking(opened_a != nullptr, opened_b != nullptr); !who.empty()) {
    texts.push_back(fmt::format("files that processes opened (not recorded by {})", who));
  } else {
    if (is_sampled(*opened_a) || is_sampled(*opened_b))
      texts.emplace_back("files that were open for a short time");
    if (has_notes(*opened_a) || has_notes(*opened_b))
      texts.emplace_back("files that a record notes as not seen ('sabath show RUN --libraries')");
  }
  if (reuses_stages(a) || reuses_stages(b)) texts.emplace_back("what reused stages had read");
  texts.emplace_back("the network and the clock");
  return texts;
}

}  // namespace sabath::compare
