// Names of special registers that the disassembler was seen to print; the numbers are those of the field.
#include <string>

#include "absl/strings/str_cat.h"
#include "sim/sass/decode.h"

namespace sm89::sass {
namespace {

struct Entry {
  uint32_t index;
  const char* name;
};

constexpr Entry kNames[] = {
    {0x00, "SR_LANEID"},  {0x03, "SR_VIRTID"},    {0x21, "SR_TID.X"},         {0x22, "SR_TID.Y"},
    {0x23, "SR_TID.Z"},   {0x25, "SR_CTAID.X"},   {0x26, "SR_CTAID.Y"},       {0x27, "SR_CTAID.Z"},
    {0x32, "SR_SMEMSZ"},  {0x37, "SR_LMEMHIOFF"}, {0x38, "SR_EQMASK"},        {0x39, "SR_LTMASK"},
    {0x3a, "SR_LEMASK"},  {0x3b, "SR_GTMASK"},    {0x3c, "SR_GEMASK"},        {0x43, "SR_VIRTUALSMID"},
    {0x50, "SR_CLOCKLO"}, {0x51, "SR_CLOCKHI"},   {0x52, "SR_GLOBALTIMERLO"}, {0x53, "SR_GLOBALTIMERHI"},
    {0x64, "SR_PM0"},     {0x6a, "SR_PM3"},       {0x88, "SR_CgaCtaId"},      {0xff, "SRZ"},
};

}  // namespace

std::string SpecialRegisterName(uint32_t index) {
  for (const Entry& entry : kNames) {
    if (entry.index == index) return entry.name;
  }
  return absl::StrCat("SR", index);
}

}  // namespace sm89::sass
