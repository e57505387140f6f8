// The pool's worker sessions in the daemon's database (table worker_sessions of component "jobs").
#pragma once

#include <string>
#include <vector>

#include "server/pool/session_store.h"
#include "server/store/database.h"

namespace sm89 {

class SessionTable final : public SessionStore {
 public:
  // After JobStore::Open, which makes the table.
  explicit SessionTable(Database& db) : db_(db) {}

  absl::Status Save(const WorkerSession& session) override;
  absl::Status Erase(const std::string& worker) override;
  absl::StatusOr<std::vector<WorkerSession>> Load() override;

 private:
  Database& db_;
};

}  // namespace sm89
