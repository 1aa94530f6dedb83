#include "Server.h"

#include "Page.h"
#include "Payloads.h"

#include "abi/FileIo.h"

#include "llvm/ADT/StringExtras.h"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using llvm::StringRef;

namespace kiln::view {

Server::Server(int fd, uint16_t port, std::string token, std::string page, const DumpFile *dump)
    : Fd(fd), Port(port), Token(std::move(token)), Page(std::move(page)), Dump(dump) {}
Server::Server(Server &&other) noexcept
    : Fd(std::exchange(other.Fd, -1)), Port(other.Port), Token(std::move(other.Token)),
      Page(std::move(other.Page)), Dump(other.Dump) {}
Server::~Server() {
  if (Fd >= 0)
    ::close(Fd);
}

Expected<Server> Server::listen(uint16_t port, std::string page, const DumpFile *dump) {
  uint8_t random[16];
  if (::getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
    return errnoStatus("make a token for", "the server");
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return errnoStatus("open a socket for", "the server");
  Server server(fd, port, llvm::toHex(random, /*LowerCase=*/true), std::move(page), dump);
  int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  std::string where = "127.0.0.1:" + std::to_string(port);
  if (::bind(fd, reinterpret_cast<sockaddr *>(&address), size) != 0 || ::listen(fd, 16) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size) != 0) {
    Status failed = errnoStatus("listen on", where);
    return Status(failed.code(),
                  failed.message() + "; leave out --port, and any free one is taken");
  }
  server.Port = ntohs(address.sin_port);
  return server;
}

std::string Server::address() const {
  return "http://127.0.0.1:" + std::to_string(Port) + "/" + Token + "/";
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

static std::string response(const char *status, const char *type, const std::string &body) {
  return std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff"
         "\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY"
         "\r\nCross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: " +
         contentPolicy(true) + "\r\n\r\n" + body;
}

static std::string refusal(const char *status) {
  return response(status, "text/plain; charset=utf-8", std::string(status) + "\n");
}

/// The value of the only header of this name; empty if there is none, or more than one.
static StringRef header(StringRef head, StringRef name) {
  StringRef value;
  llvm::SmallVector<StringRef> lines;
  head.split(lines, "\r\n");
  for (StringRef line : llvm::drop_begin(lines)) {
    auto [key, rest] = line.split(':');
    if (!key.equals_insensitive(name))
      continue;
    if (!value.empty())
      return "";
    value = rest.trim();
  }
  return value;
}

std::string Server::respondWithValues(const std::string &query) const {
  std::map<std::string, int64_t> numbers;
  llvm::SmallVector<StringRef> parts;
  StringRef(query).split(parts, '&');
  for (StringRef part : parts) {
    auto [key, value] = part.split('=');
    int64_t number;
    if (value.getAsInteger(10, number) || number < 0 || !numbers.emplace(key.str(), number).second)
      return refusal("400 Bad Request");
  }
  if (!Dump || numbers.size() != 5)
    return refusal("400 Bad Request");
  for (const char *key : {"entry", "row", "col", "rows", "cols"})
    if (!numbers.contains(key))
      return refusal("400 Bad Request");
  auto entry = static_cast<uint64_t>(numbers["entry"]);
  if (entry >= Dump->entries().size())
    return refusal("404 Not Found");
  Expected<std::vector<double>> values =
      readWindow(*Dump, Dump->entries()[entry],
                 {numbers["row"], numbers["col"], numbers["rows"], numbers["cols"]});
  if (!values)
    return refusal("404 Not Found");
  return response(
      "200 OK", "application/octet-stream",
      std::string(reinterpret_cast<const char *>(values->data()), values->size() * sizeof(double)));
}

std::string Server::respond(const std::string &head) const {
  auto [first, rest] = StringRef(head).split("\r\n");
  llvm::SmallVector<StringRef> words;
  first.split(words, ' ');
  if (words.size() != 3 || !words[2].starts_with("HTTP/1."))
    return refusal("400 Bad Request");
  if (words[0] != "GET")
    return refusal("405 Method Not Allowed");
  std::string port = ":" + std::to_string(Port);
  if (StringRef host = header(head, "Host");
      host != "127.0.0.1" + port && host != "localhost" + port)
    return refusal("403 Forbidden");
  StringRef path = words[1];
  // Compared in constant time: how long it takes tells nothing about the token.
  std::string prefix = "/" + Token + "/";
  unsigned apart = path.size() < prefix.size();
  for (size_t i = 0; i < prefix.size() && !(path.size() < prefix.size()); ++i)
    apart |= static_cast<unsigned>(path[i] ^ prefix[i]);
  if (apart)
    return refusal("404 Not Found");
  path = path.drop_front(prefix.size());
  if (path.empty())
    return response("200 OK", "text/html; charset=utf-8", Page);
  if (path.consume_front("values?"))
    return respondWithValues(path.str());
  return refusal("404 Not Found");
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

using Clock = std::chrono::steady_clock;

static bool waitFor(int fd, short what, Clock::time_point end) {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  pollfd poll{fd, what, 0};
  return left > 0 && ::poll(&poll, 1, static_cast<int>(left)) > 0;
}

void Server::answer(int connection) const {
  using namespace std::chrono_literals;
  constexpr size_t most = 8192;
  // Also for who sends, or takes, a byte now and then.
  Clock::time_point asked = Clock::now() + 1s, answered = Clock::now() + 5s;
  std::string head;
  char part[2048];
  while (head.find("\r\n\r\n") == std::string::npos) {
    if (head.size() > most || !waitFor(connection, POLLIN, asked))
      return;
    ssize_t got = ::recv(connection, part, sizeof part, 0);
    if (got <= 0)
      return;
    head.append(part, static_cast<size_t>(got));
  }
  std::string text = respond(head.substr(0, head.find("\r\n\r\n")));
  for (size_t sent = 0; sent < text.size();) {
    if (!waitFor(connection, POLLOUT, answered))
      return;
    // Takes what there is room for; else it would wait for as long as the reader likes.
    ssize_t put =
        ::send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put <= 0 && errno != EAGAIN)
      return;
    sent += static_cast<size_t>(std::max<ssize_t>(put, 0));
  }
}

void Server::run() {
  while (true) {
    int connection = ::accept4(Fd, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0 && errno != EINTR && errno != ECONNABORTED && errno != EMFILE)
      return;
    if (connection < 0)
      continue;
    // Browsers open connections that they may never use; nobody waits behind those for long.
    constexpr int most = 16;
    for (int open; (open = NumOpen.load()) >= most;)
      NumOpen.wait(open);
    NumOpen.fetch_add(1);
    std::thread([this, connection] {
      answer(connection);
      ::close(connection);
      NumOpen.fetch_sub(1);
      NumOpen.notify_one();
    }).detach();
  }
}

} // namespace kiln::view
