//===- ViewCommand.cpp - `kiln view` -----------------------------------------------------===//
#include "abi/JsonOutput.h"
#include "kiln/View/View.h"

#include "Page.h"
#include "Payloads.h"
#include "Server.h"

#include "abi/FileIo.h"
#include "kiln/runtime/shown.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>

namespace kiln {
namespace {

using namespace view;

constexpr int kGood = 0, kBadInput = 2;

struct Request {
  std::string directory, out, other;
  bool serve = false, json = false;
  int port = 0;
};

int complain(const Status &status) {
  noteFailure(status);
  std::fflush(stdout);
  std::fprintf(stderr, "kiln: error: %s\n", shown(status.message()).c_str());
  return kBadInput;
}

/// Everything that the page shows.
Expected<RunFolder> readAll(const Request &request) {
  Expected<RunFolder> folder = RunFolder::open(request.directory);
  if (!folder)
    return folder;
  folder->data["version"] = KILN_VERSION;
  folder->data["served"] = request.serve;
  if (folder->dump)
    folder->data["arguments"] = digestArguments(*folder->dump);
  if (request.other.empty())
    return folder;
  if (!folder->dump)
    return Status(StatusCode::NotFound, request.directory +
                                            " holds no dump to compare; was the run made with "
                                            "--record or --dump-args?");
  Expected<DumpFile> other = DumpFile::open(request.other);
  if (!other)
    return other.status();
  folder->data["difference"] = digestDifference(*folder->dump, *other, request.other);
  return folder;
}

int serve(const Request &request, const RunFolder &folder) {
  Expected<Server> server = Server::listen(static_cast<uint16_t>(request.port),
                                           renderPage(folder.data, /*isServed=*/true),
                                           folder.dump ? &*folder.dump : nullptr);
  if (!server)
    return complain(server.status());
  if (request.json)
    printJson({{"address", server->address()}}, onOneLine);
  else
    std::printf("%s\nOpen it in a browser on this machine; Ctrl-C ends it.\n",
                server->address().c_str());
  std::fflush(stdout);
  server->run();
  return kGood;
}

/// Where the page goes. A name is replaced by a file, so it must not be that of a device; a link
/// that the user names is followed, as in /dev/stdout.
Expected<std::string> pathOf(const Request &request) {
  if (request.out.empty())
    return request.directory + "/view.html";
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(request.out, error);
  if (error)
    return request.out;
  if (!std::filesystem::is_regular_file(real, error) && !std::filesystem::is_directory(real, error))
    return Status(StatusCode::InvalidArgument,
                  "'" + request.out + "' is a device or a pipe; -o takes the name of a file");
  return real.string();
}

int write(const Request &request, const RunFolder &folder) {
  Expected<std::string> where = pathOf(request);
  if (!where)
    return complain(where.status());
  const std::string &path = *where;
  std::string page = renderPage(folder.data, /*isServed=*/false);
  if (Status bad = writeFileAtomically(path, page); !bad.isOk())
    return complain(Status(bad.code(), bad.message() + "; -o FILE writes the page elsewhere"));
  const Json &problems = folder.data["problems"];
  if (request.json) {
    Json json{{"page", path}, {"bytes", page.size()}, {"problems", problems}};
    printJson(json);
    return kGood;
  }
  std::printf("%s (%.1f MB; open it in a browser)\n", shown(path).c_str(),
              static_cast<double>(page.size()) / 1e6);
  for (const Json &problem : problems)
    std::printf("  left out: %s: %s\n", problem["file"].get<std::string>().c_str(),
                shown(problem["message"].get<std::string>()).c_str());
  return kGood;
}

} // namespace

int viewCommand(int argc, const char *const *argv) {
  // CLI11 and the standard library may throw; this is the boundary where that ends.
  try {
    Request request;
    CLI::App app("Makes a page of what a run or a check left in a folder: run, timeline, graph, "
                 "arguments, pipes, memory, code, findings.",
                 "kiln view");
    app.add_option("DIR", request.directory, "The folder: what --out was")->required();
    app.add_option("-o,--out", request.out, "The page to write; DIR/view.html if none is given");
    app.add_option("--diff", request.other,
                   "Another run's folder: its dumped tensors are compared with these");
    app.add_flag("--serve", request.serve,
                 "Serve the page on 127.0.0.1 instead, with every element of large tensors");
    app.add_option("--port", request.port, "With --serve: the port; any free one if none is given")
        ->check(CLI::Range(1, 65535));
    app.add_flag("--json", request.json, "Machine-readable output");
    app.footer("Examples:\n"
               "  kiln run prog.mlir --record --out out && kiln view out\n"
               "  kiln check prog.mlir --record --out out && kiln view out\n"
               "  kiln view right --diff wrong\n"
               "  kiln view out --serve");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
      if (error.get_exit_code() == 0)
        return app.exit(error);
      return complain(
          Status(StatusCode::InvalidArgument, std::string(error.what()) + "; see --help"));
    }
    if (request.serve && !request.out.empty())
      return complain(Status(StatusCode::InvalidArgument,
                             "--serve writes no page; leave out --out, or --serve"));
    if (request.port != 0 && !request.serve)
      return complain(Status(StatusCode::InvalidArgument, "--port is for --serve"));
    Expected<RunFolder> folder = readAll(request);
    if (!folder)
      return complain(folder.status());
    return request.serve ? serve(request, *folder) : write(request, *folder);
  } catch (const std::exception &error) {
    return complain(Status(StatusCode::Internal, error.what()));
  }
}

} // namespace kiln
