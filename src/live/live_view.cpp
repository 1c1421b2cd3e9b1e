#include "pages.hpp"
#include "view_state.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/live/live_view.hpp>

#include <array>
#include <functional>
#include <string_view>

namespace sabath::live {
namespace {

using serve::Query;

struct Page {
  std::string_view name{};  ///< the first word of a query
  std::size_t words = 1;    ///< with the names behind it
  std::string_view part{};  ///< the third word; empty: none
  serve::LiveSource::Kind kind = serve::LiveSource::Kind::light;
  std::string (*make)(ViewState& state, const Query& query) = nullptr;
};

using Kind = serve::LiveSource::Kind;

constexpr std::array<Page, 16> pages{{
    {"about", 1, "", Kind::light, [](ViewState& s, const Query&) { return about_json(s); }},
    {"now", 1, "", Kind::light, [](ViewState& s, const Query&) { return now_json(s); }},
    {"runs", 1, "", Kind::light, [](ViewState& s, const Query& q) { return runs_json(s, q); }},
    {"run",
     2,
     "",
     Kind::light,
     [](ViewState& s, const Query& q) { return run_json(s, q.words[1]); }},
    {"run", 3, "courses", Kind::stretches, courses_json},
    {"run", 3, "log", Kind::stretches, log_json},
    {"run",
     3,
     "usage",
     Kind::light,
     [](ViewState& s, const Query& q) { return usage_json(s, q.words[1]); }},
    {"run",
     3,
     "record",
     Kind::heavy,
     [](ViewState& s, const Query& q) { return record_json(s, q.words[1]); }},
    {"facets", 1, "", Kind::heavy, facets_json},
    {"report", 1, "", Kind::heavy, report_json},
    {"compare", 1, "", Kind::heavy, compare_json},
    {"studies", 1, "", Kind::light, [](ViewState& s, const Query&) { return studies_json(s); }},
    {"study",
     2,
     "",
     Kind::light,
     [](ViewState& s, const Query& q) { return study_json(s, q.words[1]); }},
    {"assets", 1, "", Kind::light, assets_json},
    {"asset",
     2,
     "",
     Kind::light,
     [](ViewState& s, const Query& q) { return asset_json(s, q.words[1]); }},
    {"baselines", 1, "", Kind::light, [](ViewState& s, const Query&) { return baselines_json(s); }},
}};

const Page* page_of(const Query& query) {
  for (const Page& page : pages) {
    const bool fits = query.words.size() == page.words && query.words.front() == page.name &&
                      (page.part.empty() || query.words.back() == page.part);
    if (fits) return &page;
  }
  return nullptr;
}

}  // namespace

LiveView::LiveView(ViewParts parts) : state_(std::make_unique<ViewState>(std::move(parts))) {}

LiveView::~LiveView() = default;

serve::LiveSource::Kind LiveView::kind_of(const Query& query) const {
  const Page* const page = page_of(query);
  return page == nullptr ? Kind::stretches : page->kind;
}

std::string LiveView::answer(const Query& query) {
  if (const Page* const page = page_of(query)) return page->make(*state_, query);
  throw base::Error(base::ErrorKind::not_found,
                    "api/" + base::printable(query.words.front()) + ": unknown answer");
}

serve::Download LiveView::open(const Query& query) {
  return open_output(*state_, query);
}

}  // namespace sabath::live
