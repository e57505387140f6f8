// Kernel names of different tools made comparable.
#pragma once

#include <string>
#include <string_view>

namespace sm89::calibrate {

// The demangled name ("_Z..." is demangled) without blanks, `const`, the return type of templates, and casts
// of template arguments: "void axpy<float, (int)4>(float *, const float *)" and "_Z4axpyIfLi4EEvPT_PKS0_"
// give "axpy<float,4>(float*,float*)".
std::string CanonicalName(std::string_view name);

// That without template arguments and parameters: "axpy". What ncu prints with --kernel-name-base function.
std::string BaseName(std::string_view canonical);

// True for a canonical name without parameters: extern "C", or a tool that leaves them out.
inline bool IsBareName(std::string_view canonical) { return canonical.find('(') == std::string_view::npos; }

}  // namespace sm89::calibrate
