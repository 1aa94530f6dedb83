// Code that runs in this process: ORC links it and tells debuggers and profilers of it.
#include "Optimize.h"
#include "abi/Environment.h"
#include "abi/TileRegisters.h"

#include "llvm/ExecutionEngine/JITEventListener.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kiln {

static std::string textOf(llvm::Error error) { return llvm::toString(std::move(error)); }

struct CpuModule::Code final : CodeImage {
  std::unique_ptr<llvm::orc::LLJIT> jit;

  void *find(const std::string &symbol) const override {
    llvm::Expected<llvm::orc::ExecutorAddr> address = jit->lookupLinkerMangled(symbol);
    if (address)
      return address->toPtr<void *>();
    llvm::consumeError(address.takeError());
    return nullptr;
  }
};

CpuModule::CpuModule() = default;
CpuModule::~CpuModule() = default;
CpuModule::CpuModule(CpuModule &&) noexcept = default;
CpuModule &CpuModule::operator=(CpuModule &&) noexcept = default;

const CpuKernel *CpuModule::lookup(llvm::StringRef name) const {
  for (const CpuKernel &kernel : Contents.kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

std::shared_ptr<const CodeImage> CpuModule::image() const { return Linked; }

/// Links objects into this process and tells debuggers and profilers about them.
static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> makeLinker(bool isProfiled) {
  llvmir::initializeTarget();
  return llvm::orc::LLJITBuilder()
      .setPlatformSetUp(llvm::orc::setUpInactivePlatform) // kernels have no constructors
      .setObjectLinkingLayerCreator([=](llvm::orc::ExecutionSession &session) {
        auto layer = std::make_unique<llvm::orc::RTDyldObjectLinkingLayer>(
            session, [](const llvm::MemoryBuffer &) {
              // In one piece: code refers to its constants by 32-bit distances, and pieces that the
              // system chose one by one may lie further apart.
              return std::make_unique<llvm::SectionMemoryManager>(nullptr, /*ReserveAlloc=*/true);
            });
        if (auto *gdb = llvm::JITEventListener::createGDBRegistrationListener())
          layer->registerJITEventListener(*gdb);
        // Only who profiles wants files in the home directory; null if LLVM was built without.
        if (isProfiled)
          if (auto *perf = llvm::JITEventListener::createPerfJITEventListener())
            layer->registerJITEventListener(*perf);
        return llvm::Expected<std::unique_ptr<llvm::orc::ObjectLayer>>(std::move(layer));
      })
      .create();
}

/// Gives the linker every member of an archive.
static llvm::Error addObjects(llvm::orc::LLJIT &jit, llvm::StringRef bytes) {
  llvm::Expected<std::unique_ptr<llvm::object::Archive>> archive =
      llvm::object::Archive::create(llvm::MemoryBufferRef(bytes, "kiln"));
  if (!archive)
    return archive.takeError();
  llvm::Error wrong = llvm::Error::success();
  for (const llvm::object::Archive::Child &child : (*archive)->children(wrong)) {
    llvm::Expected<llvm::MemoryBufferRef> member = child.getMemoryBufferRef();
    if (!member)
      return llvm::joinErrors(std::move(wrong), member.takeError());
    if (member->getBufferEnd() > bytes.end()) // which LLVM does not look at
      return llvm::joinErrors(std::move(wrong),
                              llvm::createStringError("the archive ends within a member"));
    auto copy =
        llvm::MemoryBuffer::getMemBufferCopy(member->getBuffer(), member->getBufferIdentifier());
    if (llvm::Error error = jit.addObjectFile(std::move(copy)))
      return llvm::joinErrors(std::move(wrong), std::move(error));
  }
  return wrong;
}

Expected<CpuModule> loadCpuObject(CpuObject object) {
  mayUseTileRegisters(); // asks for them: code for a CPU that was named may use them
  Expected<bool> isProfiled = flagFromEnvironment("KILN_PERF", false);
  if (!isProfiled)
    return isProfiled.status();
  llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit = makeLinker(*isProfiled);
  if (!jit)
    return Status(StatusCode::Internal, "cannot link in this process: " + textOf(jit.takeError()));
  if (llvm::Error error = addObjects(**jit, object.bytes))
    return Status(StatusCode::InvalidArgument, "not code: " + textOf(std::move(error)));
  Status failed;
  auto find = [&](const std::string &symbol, auto &function) {
    llvm::Expected<llvm::orc::ExecutorAddr> address = (*jit)->lookupLinkerMangled(symbol);
    if (address)
      function = address->toPtr<std::remove_reference_t<decltype(function)>>();
    else
      failed = Status(StatusCode::NotFound,
                      symbol + " cannot be linked: " + textOf(address.takeError()));
  };
  for (CpuKernel &kernel : object.kernels) {
    if (!kernel.group)
      find(kernel.symbol, kernel.function);
    else
      for (RoleSpec &role : kernel.group->roles)
        find(kernel.symbol + "." + role.name, role.function);
  }
  for (CpuOrchestration &orchestration : object.orchestrations)
    find(orchestration.symbol, orchestration.function);
  if (!failed.isOk())
    return failed;
  CpuModule module;
  module.Contents = std::move(static_cast<CpuContents &>(object));
  auto code = std::make_shared<CpuModule::Code>();
  code->jit = std::move(*jit);
  module.Linked = std::move(code);
  return module;
}

} // namespace kiln
