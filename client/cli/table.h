// Columns for people.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "client/cli/terminal.h"
#include "sm89/v1/job.pb.h"

namespace sm89::client {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    size_t max_columns = 60;  // longer cells are cut
  };
  struct Cell {
    std::string text;
    Style style = Style::kPlain;
    Cell(std::string t, Style s = Style::kPlain)
        : text(std::move(t)), style(s) {}  // NOLINT: a cell is its text
    Cell(const char* t) : text(t) {}       // NOLINT
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // One cell a column.
  void AddRow(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }
  // Titles, then rows, two blanks between columns, no trailing blanks.
  void Print(Terminal& terminal) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// "title   value" lines, titles padded to the longest; rows with an empty value are left out.
void PrintFields(Terminal& terminal, const std::vector<std::pair<std::string, std::string>>& fields);

Style StyleOf(v1::Job::State state);

}  // namespace sm89::client
