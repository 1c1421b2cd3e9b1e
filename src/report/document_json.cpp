#include "document.hpp"
#include "escape.hpp"

#include <sabath/base/text/json_reader.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace sabath::report {
namespace {

using nlohmann::ordered_json;

/// Number of values that each kind of mark has (Mark).
struct MarkForm {
  const char* name = nullptr;
  std::size_t numbers = 0;
};

MarkForm form_of(Mark::Kind kind) {
  switch (kind) {
    case Mark::Kind::line:
      return {"line", 4};
    case Mark::Kind::text:
      return {"text", 3};
    case Mark::Kind::rectangle:
      return {"rect", 4};
    case Mark::Kind::dot:
      return {"dot", 3};
    case Mark::Kind::path:
      return {"path", 0};
    case Mark::Kind::open:
      return {"open", 0};
    case Mark::Kind::close:
      return {"close", 0};
  }
  return {};
}

/// A tenth of a pixel, as in SVG texts.
double rounded(double value) {
  return std::round(value * 10) / 10;
}

ordered_json drawing_json(const Drawing& drawing) {
  ordered_json marks = ordered_json::array();
  for (const Mark& mark : drawing.marks()) {
    const MarkForm form = form_of(mark.kind);
    ordered_json one = ordered_json::array({form.name, mark.classes});
    for (std::size_t i = 0; i < form.numbers; ++i)
      one.push_back(rounded(mark.at[i]));
    const bool is_path = mark.kind == Mark::Kind::path;
    if (!mark.text.empty()) one.push_back(is_path ? mark.text : plain_text(mark.text, 2000));
    if (mark.kind == Mark::Kind::text) one.push_back(mark.anchor);
    marks.push_back(std::move(one));
  }
  return {{"width", rounded(drawing.width())},
          {"height", rounded(drawing.height())},
          {"title", plain_text(drawing.title(), 2000)},
          {"description", plain_text(drawing.description(), 2000)},
          {"marks", std::move(marks)}};
}

struct JsonBlock {
  ordered_json operator()(const std::string& paragraph) const {
    return {{"kind", "paragraph"}, {"text", paragraph}};
  }
  ordered_json operator()(const Table& table) const {
    constexpr std::array<const char*, 4> words{"text", "number", "name", "sentence"};
    ordered_json columns = ordered_json::array();
    for (const Table::Column& column : table.columns) {
      columns.push_back(
          {{"title", column.title}, {"cells", words[static_cast<std::size_t>(column.cells)]}});
    }
    return {{"kind", "table"},
            {"caption", table.caption},
            {"columns", std::move(columns)},
            {"rows", table.rows},
            {"long", table.is_long}};
  }
  ordered_json operator()(const Figure& figure) const {
    return {{"kind", "figure"},
            {"title", figure.title},
            {"description", figure.description},
            {"drawing", drawing_json(figure.drawing)}};
  }
  ordered_json operator()(const Listing& listing) const {
    return {{"kind", "listing"}, {"caption", listing.caption}, {"lines", listing.lines}};
  }
};

}  // namespace

std::string stage_graph_json(const std::vector<ReportStage>& stages, const std::string& recipe) {
  return base::compact_json(drawing_json(stage_graph(stages, recipe, "stages")));
}

std::string document_json(const Report& report) {
  const Document document = document_of(report);
  ordered_json facts = ordered_json::array();
  for (const auto& [label, fact] : document.facts)
    facts.push_back({label, fact});
  ordered_json sections = ordered_json::array();
  for (const Section& section : document.sections) {
    ordered_json blocks = ordered_json::array();
    for (const Block& block : section.blocks)
      blocks.push_back(std::visit(JsonBlock{}, block));
    sections.push_back(
        {{"id", section.id}, {"title", section.title}, {"blocks", std::move(blocks)}});
  }
  return base::compact_json({{"schema", 1},
                             {"title", document.title},
                             {"question", document.question},
                             {"verdict", document.verdict},
                             {"mood", document.mood},
                             {"reason", document.reason},
                             {"facts", std::move(facts)},
                             {"sections", std::move(sections)},
                             {"command", report.command}});
}

}  // namespace sabath::report
