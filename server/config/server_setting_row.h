// Private to server/config: a row of the settings table with its binding to the member.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "server/config/server_config.h"

namespace sm89 {

struct ServerSettingRow {
  ServerSettingInfo info;
  // Exactly one is set, by type.
  std::string& (*text)(ServerConfig&) = nullptr;
  uint64_t& (*number)(ServerConfig&) = nullptr;
};

std::span<const ServerSettingRow> ServerSettingRows();

}  // namespace sm89
