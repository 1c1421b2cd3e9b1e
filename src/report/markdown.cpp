#include "document.hpp"
#include "escape.hpp"

#include <sabath/base/text/pieces.hpp>

#include <algorithm>

namespace sabath::report {
namespace {

constexpr std::size_t markdown_characters = 4000;

std::string markdown_table(const Table& table) {
  std::string text = markdown_text(table.caption) + "\n\n|";
  for (const Table::Column& column : table.columns)
    text += " " + markdown_text(column.title) + " |";
  text += "\n|";
  for (const Table::Column& column : table.columns)
    text += column.cells == Table::Cells::number ? " ---: |" : " --- |";
  text += "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const std::string& cell : row)
      text += " " + markdown_text(cell, markdown_characters) + " |";
    text += "\n";
  }
  return text + "\n";
}

/// Lines between fences that are longer than any in the lines.
std::string fenced(const std::string& lines) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : lines) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fence + "text\n" + lines + fence + "\n\n";
}

std::string plain_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += plain_text(line, markdown_characters) + "\n";
  return text;
}

struct MarkdownBlock {
  std::string operator()(const std::string& paragraph) const {
    return markdown_text(paragraph, markdown_characters) + "\n\n";
  }
  std::string operator()(const Table& table) const { return markdown_table(table); }
  std::string operator()(const Figure& figure) const {
    return "### " + markdown_text(figure.title) + "\n\n" +
           markdown_text(figure.description, markdown_characters) + "\n\n" +
           (figure.text.empty() ? "" : fenced(plain_lines(base::text_lines(figure.text))));
  }
  std::string operator()(const Listing& listing) const {
    return "### " + markdown_text(listing.caption) + "\n\n" + fenced(plain_lines(listing.lines));
  }
};

}  // namespace

std::string write_markdown(const Report& report) {
  const Document document = document_of(report);
  std::string text =
      "# " + markdown_text(document.title) + "\n\n" +
      (document.question.empty() ? ""
                                 : markdown_text(document.question, markdown_characters) + "\n\n") +
      "**" + markdown_text(document.verdict) + "** " +
      markdown_text(document.reason, markdown_characters) + "\n\n";
  for (const auto& [label, fact] : document.facts)
    text += "- " + markdown_text(label) + ": " + markdown_text(fact, markdown_characters) + "\n";
  text += "\n";
  for (const Section& section : document.sections) {
    text += "## " + markdown_text(section.title) + "\n\n";
    for (const Block& block : section.blocks)
      text += std::visit(MarkdownBlock{}, block);
  }
  return text;
}

}  // namespace sabath::report
