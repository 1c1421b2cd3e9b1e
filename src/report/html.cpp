#include "document.hpp"
#include "escape.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/text/codes.hpp>

#include <boost/algorithm/hex.hpp>
#include <fmt/format.h>

#include <array>

namespace sabath::report {
namespace {

constexpr std::size_t html_characters =
    4000;  ///< of a cell or a command, where the beginning will not do

std::string head_of(const Document& document, const std::optional<int>& refresh_s) {
  const std::string hash = base::base64(boost::algorithm::unhex(base::sha256_of(html_style()).hex));
  const std::string policy = fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'", hash);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"referrer\" content=\"no-referrer\"/>\n"
      "<meta name=\"generator\" content=\"sabath\"/>\n{}"
      "<title>{}: {}</title>\n<style>{}</style>\n</head>\n",
      policy,
      refresh_s ? fmt::format("<meta http-equiv=\"refresh\" content=\"{}\"/>\n", *refresh_s) : "",
      markup_text(document.title),
      markup_text(document.verdict),
      html_style());
}

std::string class_of(Table::Cells cells) {
  constexpr std::array<std::string_view, 4> classes{"", "number", "name", "sentence"};
  const std::string_view name = classes[static_cast<std::size_t>(cells)];
  return name.empty() ? std::string() : fmt::format(" class=\"{}\"", name);
}

std::string cell_of(const Table& table, std::size_t column, const std::string& text) {
  const std::string kind = class_of(table.columns[column].cells);
  // The first cell says what the row is of.
  return column == 0
             ? fmt::format("<th scope=\"row\"{}>{}</th>", kind, markup_text(text, html_characters))
             : fmt::format("<td{}>{}</td>", kind, markup_text(text, html_characters));
}

std::string html_table(const Table& table) {
  // Not folded away: what is closed on the screen would be missing on paper.
  std::string text = fmt::format(
      "<div class=\"scroll{1}\" role=\"region\" aria-label=\"{0}\" "
      "tabindex=\"0\">\n<table>\n<caption>{0}</caption>\n<thead><tr>",
      markup_text(table.caption),
      table.is_long ? " long" : "");
  for (const Table::Column& column : table.columns) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>",
                        column.cells == Table::Cells::number ? " class=\"number\"" : "",
                        markup_text(column.title));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      text += cell_of(table, i, row[i]);
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table>\n</div>\n";
}

struct HtmlBlock {
  std::string operator()(const std::string& paragraph) const {
    return "<p>" + markup_text(paragraph, html_characters) + "</p>\n";
  }
  std::string operator()(const Table& table) const { return html_table(table); }
  std::string operator()(const Figure& figure) const {
    return fmt::format(
        "<h3>{}</h3>\n<figure>\n<div "
        "class=\"scroll\">{}</div>\n<figcaption>{}</figcaption>\n</figure>\n",
        markup_text(figure.title),
        svg_text(figure.drawing),
        markup_text(figure.description, html_characters));
  }
  std::string operator()(const Listing& listing) const {
    std::string text = "<h3>" + markup_text(listing.caption) + "</h3>\n<pre tabindex=\"0\"><code>";
    for (const std::string& line : listing.lines)
      text += markup_text(line, html_characters) + "\n";
    return text + "</code></pre>\n";
  }
};

std::string header_of(const Document& document) {
  std::string text = fmt::format(
      "<body>\n<a class=\"skip\" href=\"#content\">Skip to the "
      "results</a>\n<header>\n<h1>{}</h1>\n{}"
      "<p class=\"verdict {}\"><strong>{}</strong> <span>{}</span></p>\n<dl>\n",
      markup_text(document.title),
      document.question.empty()
          ? ""
          : "<p>" + markup_text(document.question, html_characters) + "</p>\n",
      document.mood,
      markup_text(document.verdict),
      markup_text(document.reason, html_characters));
  for (const auto& [label, fact] : document.facts)
    text += fmt::format(
        "<dt>{}</dt><dd>{}</dd>\n", markup_text(label), markup_text(fact, html_characters));
  text += "</dl>\n</header>\n<nav aria-label=\"Sections\">\n<ul>\n";
  for (const Section& section : document.sections)
    text +=
        fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, markup_text(section.title));
  return text + "</ul>\n</nav>\n";
}

}  // namespace

std::string write_html(const Report& report) {
  const Document document = document_of(report);
  std::string text =
      head_of(document, report.refresh_s) + header_of(document) + "<main id=\"content\">\n";
  for (const Section& section : document.sections) {
    text +=
        fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>\n",
                    section.id,
                    markup_text(section.title));
    for (const Block& block : section.blocks)
      text += std::visit(HtmlBlock{}, block);
    text += "</section>\n";
  }
  return text + "</main>\n<footer>Made by sabath " + markup_text(report.sabath_version) + ", " +
         markup_text(report.made) + ".</footer>\n</body>\n</html>\n";
}

}  // namespace sabath::report
