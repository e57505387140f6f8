// sm89-settings-doc: writes configs/SETTINGS.md from the settings table.
#include <fstream>
#include <iostream>

#include "sim/config/config.h"

int main(int argc, char** argv) {
  if (argc > 2) {
    std::cerr << "usage: sm89-settings-doc [FILE]\n";
    return 2;
  }
  if (argc == 1) {
    std::cout << sm89::SettingsMarkdown();
    return std::cout.good() ? 0 : 1;
  }
  std::ofstream out(argv[1], std::ios::binary);
  out << sm89::SettingsMarkdown();
  out.close();
  if (out) return 0;
  std::cerr << "cannot write " << argv[1] << "\n";
  return 1;
}
