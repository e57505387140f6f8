// The parts of the form table put together and indexed by opcode.
#include "sim/sass/form_table.h"

#include <algorithm>

namespace sm89::sass {
namespace {

constexpr size_t kOpcodes = 1 << 13;

struct Table {
  std::vector<Form> forms;
  std::vector<uint32_t> first;  // by opcode; one more at the end

  Table() {
    for (auto rows : {FloatRows(), IntegerRows(), ConvertRows(), TensorRows(), MemoryRows(), TextureRows(),
                      ControlRows(), UniformRows()}) {
      for (const Row& row : rows) ExpandRow(row, forms);
    }
    std::stable_sort(forms.begin(), forms.end(),
                     [](const Form& a, const Form& b) { return a.opcode < b.opcode; });
    first.assign(kOpcodes + 1, 0);
    for (const Form& form : forms) ++first[form.opcode + 1];
    for (size_t i = 0; i < kOpcodes; ++i) first[i + 1] += first[i];
  }
};

const Table& TheTable() {
  static const Table table;
  return table;
}

}  // namespace

std::span<const Form> FormsOf(uint32_t opcode) {
  const Table& table = TheTable();
  if (opcode >= kOpcodes) return {};
  return std::span(table.forms).subspan(table.first[opcode], table.first[opcode + 1] - table.first[opcode]);
}

std::span<const Form> AllForms() { return TheTable().forms; }

}  // namespace sm89::sass
