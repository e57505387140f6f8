// Renderings of fragment layouts.
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/analysis/json_text.h"
#include "sim/analysis/mma_diagram.h"

namespace sm89::analysis {
namespace {

constexpr uint32_t kCellWidth = 64, kCellHeight = 20, kMargin = 40, kTitle = 24;

// Lane groups of four share a row of most fragments: one colour a group.
constexpr std::array<const char*, 8> kColours = {"#cfe8ff", "#ffe2c6", "#d6f5d6", "#f7d6e6",
                                                 "#e6e0ff", "#fff4c2", "#d9f2f2", "#eadfd2"};

std::string CellText(const FragmentPicture& fragment, const FragmentPicture::Cell& cell) {
  std::string text = absl::StrCat("T", cell.lane, ":R", cell.reg);
  if (fragment.bits < 32) absl::StrAppend(&text, ".", cell.part);
  return text;
}

std::string Svg(const std::string& shape) { return absl::StrCat("  ", shape, "\n"); }

void DrawFragment(const FragmentPicture& fragment, uint32_t top, std::string* svg) {
  absl::StrAppend(
      svg, Svg(absl::StrFormat("<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s: %d x %d, %d registers a "
                               "lane, %d-bit elements</text>",
                               kMargin, top + 16, fragment.matrix, fragment.rows, fragment.columns,
                               fragment.registers, fragment.bits)));
  for (uint32_t r = 0; r < fragment.rows; ++r) {
    for (uint32_t c = 0; c < fragment.columns; ++c) {
      const FragmentPicture::Cell& cell = fragment.cells[r * fragment.columns + c];
      const uint32_t x = kMargin + c * kCellWidth, y = top + kTitle + r * kCellHeight;
      absl::StrAppend(svg,
                      Svg(absl::StrFormat("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" "
                                          "stroke=\"#555\"/>",
                                          x, y, kCellWidth, kCellHeight, kColours[cell.lane / 4 % 8])));
      absl::StrAppend(svg, Svg(absl::StrFormat("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                                               x + kCellWidth / 2, y + 14, CellText(fragment, cell))));
    }
  }
}

}  // namespace

std::string ToText(const MmaPicture& picture) {
  std::string text =
      absl::StrCat(picture.name, "\nT<lane>:R<register of the operand>.<element from its low end>\n");
  for (const FragmentPicture& f : picture.fragments) {
    absl::StrAppendFormat(&text, "\n%s: %d x %d, %d registers a lane, %d-bit elements\n", f.matrix, f.rows,
                          f.columns, f.registers, f.bits);
    for (uint32_t r = 0; r < f.rows; ++r) {
      absl::StrAppendFormat(&text, "%4d ", r);
      for (uint32_t c = 0; c < f.columns; ++c) {
        absl::StrAppendFormat(&text, " %-9s", CellText(f, f.cells[r * f.columns + c]));
      }
      while (text.back() == ' ') text.pop_back();
      text.push_back('\n');
    }
  }
  return text;
}

std::string ToJson(const MmaPicture& picture) {
  Json root;
  root["format"] = "sm89-mma-layout/1";
  root["name"] = picture.name;
  root["cell"] = {"lane", "register", "element"};
  root["fragments"] = Json::array();
  for (const FragmentPicture& f : picture.fragments) {
    Json object;
    object["matrix"] = f.matrix;
    object["rows"] = f.rows;
    object["columns"] = f.columns;
    object["registers"] = f.registers;
    object["element_bits"] = f.bits;
    object["cells"] = Json::array();
    for (const FragmentPicture::Cell& cell : f.cells) {
      object["cells"].push_back(Json::array({cell.lane, cell.reg, cell.part}));
    }
    root["fragments"].push_back(std::move(object));
  }
  return Dump(root);
}

std::string ToSvg(const MmaPicture& picture) {
  uint32_t width = 0, height = kMargin;
  std::string body;
  for (const FragmentPicture& fragment : picture.fragments) {
    DrawFragment(fragment, height, &body);
    height += kTitle + fragment.rows * kCellHeight + kMargin;
    width = std::max(width, 2 * kMargin + fragment.columns * kCellWidth);
  }
  return absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
      "\" font-family=\"monospace\" font-size=\"11\">\n",
      Svg(absl::StrFormat("<text x=\"%d\" y=\"24\" font-size=\"16\">%s</text>", kMargin, picture.name)), body,
      "</svg>\n");
}

}  // namespace sm89::analysis
