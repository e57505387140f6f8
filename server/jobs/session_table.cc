#include "server/jobs/session_table.h"

#include "sim/base/status_macros.h"

namespace sm89 {

absl::Status SessionTable::Save(const WorkerSession& s) {
  return db_.Write([&](Transaction& tx) {
    return tx.Run(
        "INSERT OR REPLACE INTO worker_sessions (worker, ticket_sha256, session_sha256, pid, start_ticks, "
        "host, "
        "version, start_unix_nanos, restarts, draining) VALUES (?,?,?,?,?,?,?,?,?,?)",
        {s.worker, s.ticket_sha256, s.session_sha256, s.pid, s.start_ticks, s.host, s.version,
         s.start_unix_nanos, s.restarts, s.draining});
  });
}

absl::Status SessionTable::Erase(const std::string& worker) {
  return db_.Write(
      [&](Transaction& tx) { return tx.Run("DELETE FROM worker_sessions WHERE worker = ?", {worker}); });
}

absl::StatusOr<std::vector<WorkerSession>> SessionTable::Load() {
  std::vector<WorkerSession> sessions;
  const Database::Body body = [&](Transaction& tx) {
    return tx.Query(
        "SELECT worker, ticket_sha256, session_sha256, pid, start_ticks, host, version, start_unix_nanos, "
        "restarts, draining FROM worker_sessions ORDER BY worker",
        {}, [&](const Row& row) {
          sessions.push_back({row.Text(0), row.Text(1), row.Text(2), row.Int(3), row.Uint(4), row.Text(5),
                              row.Text(6), row.Int(7), row.Uint(8), row.Bool(9)});
          return absl::OkStatus();
        });
  };
  RETURN_IF_ERROR(db_.Read(body));
  return sessions;
}

}  // namespace sm89
