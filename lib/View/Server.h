//===- Server.h - `kiln view --serve` ----------------------------------------------------===//
//
// Hands out one page, and parts of the tensors of its dump, to a browser on this machine.
//
// Invariants: it listens on 127.0.0.1 alone. Every address begins with a token that is random for
// each start; anything else is "not found". A request is answered only if its Host is this address,
// so no name that somebody else controls leads here. Nothing is ever written, and no path of a
// request is ever a path of a file.
//
// Threads: one for each connection, at most 16; a request has a second to be sent.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_VIEW_SERVER_H
#define KILN_LIB_VIEW_SERVER_H

#include "kiln/runtime/dump.h"

#include <atomic>

namespace kiln::view {

class Server {
public:
  /// `port` 0: any that is free.
  static Expected<Server> listen(uint16_t port, std::string page, const DumpFile *dump);
  Server(Server &&other) noexcept;
  Server &operator=(Server &&) = delete;
  ~Server();

  /// "http://127.0.0.1:41234/TOKEN/"
  std::string address() const;
  /// Answers until the process is interrupted.
  void run();

private:
  Server(int fd, uint16_t port, std::string token, std::string page, const DumpFile *dump);
  void answer(int connection) const;
  /// What is sent back for the head of a request.
  std::string respond(const std::string &head) const;
  std::string respondWithValues(const std::string &query) const;

  int Fd;
  uint16_t Port;
  std::string Token, Page;
  const DumpFile *Dump;         ///< Null: there is none.
  std::atomic<int> NumOpen = 0; ///< Connections.
};

} // namespace kiln::view

#endif // KILN_LIB_VIEW_SERVER_H
