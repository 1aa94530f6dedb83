// An NCCL for machines without GPUs, as a shared object that tests open: ranks are threads of one
// process, memory is the host's, and every operation is carried out when it is asked for. It writes
// down what was called, and fails where it is told to.
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#if !defined(FAKE_NCCL_VERSION)
#define FAKE_NCCL_VERSION 22005
#endif

namespace {

/// The ranks of a communicator, which wait for each other.
struct Group {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0, arrived = 0;
  uint64_t round = 0;
  std::vector<const void *> given;
  std::vector<char> result; ///< Of what is combined.
  std::map<std::pair<int, int>, std::vector<std::string>> mail;

  /// Everybody's pointer, once everybody has come; `last` is done before anybody goes on.
  template <typename Last> void meet(int rank, const void *mine, Last last) {
    std::unique_lock lock(mutex);
    if (const void *&pointer = given[static_cast<size_t>(rank)]; pointer != mine)
      pointer = mine; // others may still read what is the same
    uint64_t now = round;
    if (++arrived == count) {
      last();
      arrived = 0;
      ++round;
      changed.notify_all();
    }
    changed.wait(lock, [&] { return round != now; });
  }
};

struct Comm {
  std::shared_ptr<Group> group;
  int rank;
};

struct Message {
  Comm *comm;
  bool sends;
  void *data;
  size_t bytes;
  int peer;
};

std::mutex mutex;
std::map<std::string, std::shared_ptr<Group>> groups;
std::string calls, failing;
int asyncError = 0, ids = 0;
thread_local std::vector<Message> *open = nullptr;

int note(const std::string &call) {
  std::lock_guard lock(mutex);
  calls += call + "\n";
  std::string name = call.substr(0, call.find(' '));
  return failing == name ? 2 : 0;
}

size_t sizeOf(int type) { return type == 7 || type == 2 ? 4 : type == 4 ? 8 : 1; }

template <typename T> T combined(int how, T a, T b) {
  return static_cast<T>(how == 0   ? a + b
                        : how == 1 ? a * b
                        : how == 2 ? (a > b ? a : b)
                                   : (a < b ? a : b));
}

/// Element `i` of everybody's, combined.
void reduceElement(Group &group, int type, int how, size_t i, char *into) {
  auto as = [&]<typename T>(T) {
    T all = static_cast<const T *>(group.given[0])[i];
    for (size_t rank = 1; rank < group.given.size(); ++rank)
      all = combined(how, all, static_cast<const T *>(group.given[rank])[i]);
    std::memcpy(into, &all, sizeof all);
  };
  type == 7 ? as(0.0F) : type == 2 ? as(int32_t{}) : type == 4 ? as(int64_t{}) : as(int8_t{});
}

void deliver(const std::vector<Message> &messages) {
  for (const Message &message : messages)
    if (message.sends) {
      Group &group = *message.comm->group;
      std::lock_guard lock(group.mutex);
      group.mail[{message.comm->rank, message.peer}].emplace_back(
          static_cast<const char *>(message.data), message.bytes);
      group.changed.notify_all();
    }
  for (const Message &message : messages)
    if (!message.sends) {
      Group &group = *message.comm->group;
      std::unique_lock lock(group.mutex);
      std::vector<std::string> &box = group.mail[{message.peer, message.comm->rank}];
      group.changed.wait(lock, [&] { return !box.empty(); });
      std::memcpy(message.data, box.front().data(), message.bytes);
      box.erase(box.begin());
    }
}

int reduce(const char *name, const void *from, void *to, size_t count, int type, int how,
           Comm *comm, bool scatters) {
  if (int bad = note(std::string(name) + " " + std::to_string(count) + " type " +
                     std::to_string(type) + " op " + std::to_string(how)))
    return bad;
  Group &group = *comm->group;
  size_t elements = scatters ? count * group.given.size() : count;
  std::vector<char> &result = group.result;
  group.meet(comm->rank, from, [&] {
    result.resize(elements * sizeOf(type));
    for (size_t i = 0; i < elements; ++i)
      reduceElement(group, type, how, i, result.data() + i * sizeOf(type));
  });
  size_t bytes = count * sizeOf(type);
  std::memcpy(to, result.data() + (scatters ? static_cast<size_t>(comm->rank) * bytes : 0), bytes);
  group.meet(comm->rank, nullptr, [] {});
  return 0;
}

} // namespace

extern "C" {

// What tests say and ask.
void fakeNcclReset(const char *fails, int error) {
  std::lock_guard lock(mutex);
  calls.clear();
  failing = fails;
  asyncError = error;
}
const char *fakeNcclCalls() {
  static std::string copy;
  std::lock_guard lock(mutex);
  return (copy = calls).c_str();
}

int ncclGetVersion(int *version) { return *version = FAKE_NCCL_VERSION, 0; }
const char *ncclGetErrorString(int error) {
  return error == 2 ? "unhandled system error" : error == 6 ? "remote process exited" : "error";
}
const char *ncclGetLastError(void *) { return "no route to host"; }

struct Id {
  char bytes[128];
};

int ncclGetUniqueId(Id *id) {
  int bad = note("ncclGetUniqueId");
  std::lock_guard lock(mutex);
  std::memset(id, 0, sizeof *id);
  std::strcpy(id->bytes, ("id" + std::to_string(ids++)).c_str());
  return bad;
}

int ncclCommInitRank(Comm **comm, int count, Id id, int rank) {
  if (int bad = note("ncclCommInitRank " + std::to_string(rank) + " of " + std::to_string(count)))
    return bad;
  std::lock_guard lock(mutex);
  std::shared_ptr<Group> &group = groups[id.bytes];
  if (!group) {
    group = std::make_shared<Group>();
    group->count = count;
    group->given.resize(static_cast<size_t>(count));
  }
  *comm = new Comm{group, rank};
  return 0;
}

int ncclCommDestroy(Comm *comm) { return note("ncclCommDestroy"), delete comm, 0; }
int ncclCommAbort(Comm *comm) { return note("ncclCommAbort"), delete comm, 0; }
int ncclCommGetAsyncError(Comm *, int *error) {
  std::lock_guard lock(mutex);
  return *error = asyncError, 0;
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int how, Comm *comm, void *) {
  return reduce("ncclAllReduce", from, to, count, type, how, comm, false);
}
int ncclReduceScatter(const void *from, void *to, size_t count, int type, int how, Comm *comm,
                      void *) {
  return reduce("ncclReduceScatter", from, to, count, type, how, comm, true);
}
int ncclBroadcast(const void *from, void *to, size_t count, int, int root, Comm *comm, void *) {
  if (int bad = note("ncclBroadcast " + std::to_string(count) + " from " + std::to_string(root)))
    return bad;
  comm->group->meet(comm->rank, from, [] {});
  if (comm->rank != root)
    std::memcpy(to, comm->group->given[static_cast<size_t>(root)], count);
  comm->group->meet(comm->rank, from, [] {});
  return 0;
}
int ncclAllGather(const void *from, void *to, size_t count, int, Comm *comm, void *) {
  if (int bad = note("ncclAllGather " + std::to_string(count)))
    return bad;
  comm->group->meet(comm->rank, from, [] {});
  for (size_t rank = 0; rank < comm->group->given.size(); ++rank)
    std::memmove(static_cast<char *>(to) + rank * count, comm->group->given[rank], count);
  comm->group->meet(comm->rank, from, [] {});
  return 0;
}

static int post(const char *name, Message message) {
  int bad = note(std::string(name) + " " + std::to_string(message.bytes) + " peer " +
                 std::to_string(message.peer) + (open ? "" : " alone"));
  if (bad == 0 && open)
    open->push_back(message);
  else if (bad == 0)
    deliver({message});
  return bad;
}
int ncclSend(const void *data, size_t bytes, int, int peer, Comm *comm, void *) {
  return post("ncclSend", {comm, true, const_cast<void *>(data), bytes, peer});
}
int ncclRecv(void *data, size_t bytes, int, int peer, Comm *comm, void *) {
  return post("ncclRecv", {comm, false, data, bytes, peer});
}
int ncclGroupStart() { return open = new std::vector<Message>, note("ncclGroupStart"); }
int ncclGroupEnd() {
  std::unique_ptr<std::vector<Message>> messages(open);
  open = nullptr;
  int bad = note("ncclGroupEnd");
  if (bad == 0)
    deliver(*messages);
  return bad;
}
}
