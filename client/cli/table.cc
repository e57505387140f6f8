#include "client/cli/table.h"

#include <algorithm>

#include "client/cli/format.h"

namespace sm89::client {

void Table::AddRow(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell(""));
  for (size_t i = 0; i < cells.size(); ++i) cells[i].text = Shorten(cells[i].text, columns_[i].max_columns);
  rows_.push_back(std::move(cells));
}

void Table::Print(Terminal& terminal) const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(DisplayWidth(column.title));
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i].text));
  }
  const auto print_row = [&](const std::vector<Cell>& row) {
    std::string line;
    std::string gap;  // blanks wait until something follows them
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - DisplayWidth(row[i].text), ' ');
      const bool right = columns_[i].align == Align::kRight;
      if (right) gap += pad;
      if (!row[i].text.empty()) {
        line += gap + terminal.OnOut(row[i].style, row[i].text);
        gap.clear();
      }
      if (!right) gap += pad;
      gap += "  ";
    }
    terminal.out() << line << '\n';
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.emplace_back(column.title, Style::kBold);
  print_row(titles);
  for (const auto& row : rows_) print_row(row);
}

void PrintFields(Terminal& terminal, const std::vector<std::pair<std::string, std::string>>& fields) {
  size_t width = 0;
  for (const auto& [title, value] : fields) width = std::max(width, title.size());
  for (const auto& [title, value] : fields) {
    if (value.empty()) continue;
    terminal.out() << terminal.OnOut(Style::kBold, title) << std::string(width - title.size() + 2, ' ')
                   << Printable(value) << '\n';
  }
}

Style StyleOf(v1::Job::State state) {
  switch (state) {
    case v1::Job::SUCCEEDED:
      return Style::kGood;
    case v1::Job::FAILED:
    case v1::Job::LOST_CONTACT:
      return Style::kBad;
    case v1::Job::RUNNING:
    case v1::Job::STARTING:
      return Style::kBusy;
    default:
      return Style::kPlain;
  }
}

}  // namespace sm89::client
