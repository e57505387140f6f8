#include "sim/isa/register_text.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

struct FileNames {
  std::string_view prefix;
  std::string_view constant;  // the register that is none
  uint8_t constant_index;
};

FileNames NamesOf(RegFile file) {
  switch (file) {
    case RegFile::kGeneral:
      return {"R", "RZ", 255};
    case RegFile::kUniform:
      return {"UR", "URZ", 63};
    case RegFile::kPredicate:
      return {"P", "PT", 7};
    case RegFile::kUniformPredicate:
      return {"UP", "UPT", 7};
  }
  return {"?", "?", 0};
}

}  // namespace

std::string RegistersText(const RegRange& range) {
  const FileNames names = NamesOf(range.file);
  if (range.first == names.constant_index) return std::string(names.constant);
  std::string text = absl::StrCat(Av(names.prefix), range.first);
  if (range.count > 1) absl::StrAppend(&text, "-", Av(names.prefix), range.first + range.count - 1);
  return text;
}

}  // namespace sm89
