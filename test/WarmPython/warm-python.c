/*===- warm-python.c - a Python that has imported torch already ----------------------===
 *
 * Importing torch takes a second, and the tests start some five hundred Pythons that do. Where
 * server.py runs, `warm-python -c SCRIPT` has a fork of it run the script, with the files, the
 * folder and the environment of this process; it ends as the script ends, and the script ends with
 * it. Anything else, and everything where no server runs, is left to the interpreter itself.
 *
 *===------------------------------------------------------------------------===*/
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): that is its name */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

/* The path of a socket must be short, the path of a build folder need not: it is named through the
 * open folder. */
static int connectToServer(void) {
  int folder = open(KILN_WARM_PYTHON_FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);
  int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/socket", folder);
  if (folder < 0 || server < 0 ||
      connect(server, (const struct sockaddr *)&address, sizeof address) != 0)
    return -1;
  close(folder);
  return server;
}

static FILE *request;
static void add(const char *text) { fwrite(text, 1, strlen(text) + 1, request); }

/* The script, the folder and the environment, each ended by a zero byte. */
static char *makeRequest(const char *script, size_t *size) {
  char *text = NULL, folder[4096];
  request = open_memstream(&text, size);
  if (!request || !getcwd(folder, sizeof folder))
    return NULL;
  add(script);
  add(folder);
  for (char **variable = environ; *variable; ++variable)
    add(*variable);
  return fclose(request) == 0 ? text : NULL;
}

static int sendRequest(int server, const char *text, size_t size) {
  uint64_t length = size;
  int files[3] = {0, 1, 2};
  union {
    char space[CMSG_SPACE(sizeof files)];
    struct cmsghdr align;
  } control = {{0}};
  struct iovec first = {.iov_base = &length, .iov_len = sizeof length};
  struct msghdr message = {.msg_iov = &first,
                           .msg_iovlen = 1,
                           .msg_control = control.space,
                           .msg_controllen = sizeof control.space};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof files);
  memcpy(CMSG_DATA(header), files, sizeof files);
  if (sendmsg(server, &message, MSG_NOSIGNAL) != (ssize_t)sizeof length)
    return 0;
  while (size > 0) {
    ssize_t sent = send(server, text, size, MSG_NOSIGNAL);
    if (sent <= 0)
      return 0;
    text += sent, size -= (size_t)sent;
  }
  return 1;
}

int main(int argc, char **argv) {
  int server = argc == 3 && strcmp(argv[1], "-c") == 0 ? connectToServer() : -1;
  if (server >= 0) {
    size_t size = 0;
    char *text = makeRequest(argv[2], &size);
    int32_t state = 0;
    if (text && sendRequest(server, text, size)) {
      close(0), close(1), close(2); /* they are the script's now */
      if (recv(server, &state, sizeof state, MSG_WAITALL) != (ssize_t)sizeof state)
        return 70;
      if (state < 0)
        kill(getpid(), -state);
      return state;
    }
  }
  argv[0] = (char *)KILN_TORCH_PYTHON;
  execv(argv[0], argv);
  perror(argv[0]);
  return 127;
}
