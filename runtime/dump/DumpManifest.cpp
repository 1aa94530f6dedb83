// The manifest's text. Entries are rendered directly: a run has tens of thousands, and building a
// JSON value for each takes longer than the run. A test holds the lines against toJson().
#include "abi/Parallel.h"
#include "dump/DumpFormat.h"
#include "dump/DumpWriter.h"

#include <charconv>

using namespace kiln;

namespace {

/// What entries of one kernel have in common, as JSON text.
struct KernelText {
  explicit KernelText(const KernelRecord &kernel) : Kernel(kernel) {
    names = ",\"kernel\":" + quoted(kernel.name) + ",\"kernels\":[";
    if (kernel.members.empty())
      names += quoted(kernel.name);
    for (const std::string &member : kernel.members)
      names += (&member == &kernel.members.front() ? "" : ",") + quoted(member);
    names += "]";
  }

  const std::string &argName(size_t index) {
    while (ArgNames.size() <= index) {
      size_t next = ArgNames.size();
      ArgNames.push_back(quoted(Kernel.signature ? Kernel.signature->argName(next)
                                                 : "arg" + std::to_string(next)));
    }
    return ArgNames[index];
  }

  /// The tensor's box as a field, if it has one.
  const std::string &boxField(size_t tensor) {
    while (Boxes.size() <= tensor) {
      std::string box = Kernel.signature ? Kernel.signature->boxOf(Boxes.size()) : "";
      Boxes.push_back(box.empty() ? "" : ",\"box\":" + quoted(box));
    }
    return Boxes[tensor];
  }

  std::string names;

private:
  static std::string quoted(const std::string &text) { return dumpformat::toText(Json(text)); }

  const KernelRecord &Kernel;
  std::vector<std::string> ArgNames, Boxes;
};

class EntryRenderer {
public:
  EntryRenderer(std::string &out) : Out(out) {}

  void render(const DumpRecord &record, KernelText &kernel) {
    bool isScalar = record.flags & DumpRecord::Scalar;
    Out += "{\"task\":";
    number(record.task);
    Out += kernel.names;
    field("arg_index", uint64_t{record.argIndex});
    Out += ",\"arg_name\":";
    Out += kernel.argName(record.argIndex);
    word("kind", isScalar ? "scalar" : "tensor");
    word("role", toString(static_cast<Direction>(record.role)));
    word("stage", toString(static_cast<DumpStage>(record.stage)));
    word("dtype", toString(static_cast<DType>(record.dtype)));
    flag("unsigned", record.flags & DumpRecord::Unsigned);
    if (isScalar)
      scalar(record);
    else
      tensor(record, kernel);
    field("bin_offset", record.binOffset);
    field("bin_size", record.binSize);
    flag("truncated", record.flags & DumpRecord::Truncated);
    Out += '}';
  }

private:
  void scalar(const DumpRecord &record) {
    Out += ",\"value\":";
    Out += dumpformat::toText(
        dumpformat::scalarValue({record.scalarBits, static_cast<DType>(record.dtype)}));
    field("scalar_value", record.scalarBits);
  }
  void tensor(const DumpRecord &record, KernelText &kernel) {
    list("shape", record.shape, record.rank);
    list("strides", record.strides, record.rank);
    field("offset", record.offset);
    flag("contiguous", record.flags & DumpRecord::Contiguous);
    Out += ",\"address\":\"0x";
    number(record.address, 16);
    Out += '"';
    field("buffer_id", record.bufferId);
    Out += kernel.boxField(record.argIndex);
    flag("internal", record.flags & DumpRecord::Internal);
    flag("marked", record.flags & DumpRecord::Marked);
  }

  template <typename T> void number(T value, int base = 10) {
    char text[24];
    Out.append(text, std::to_chars(text, text + sizeof(text), value, base).ptr);
  }
  void key(const char *name) {
    Out += ",\"";
    Out += name;
    Out += "\":";
  }
  void field(const char *name, uint64_t value) {
    key(name);
    number(value);
  }
  void flag(const char *name, bool value) {
    key(name);
    Out += value ? "true" : "false";
  }
  /// One of Kiln's own words: nothing to escape.
  void word(const char *name, const char *value) {
    key(name);
    Out += '"';
    Out += value;
    Out += '"';
  }
  void list(const char *name, const int64_t *values, int count) {
    key(name);
    Out += '[';
    for (int i = 0; i < count; ++i) {
      if (i != 0)
        Out += ',';
      number(values[i]);
    }
    Out += ']';
  }

  std::string &Out;
};

} // namespace

/// Entries that one thread renders at a time: fewer would not be worth a thread.
static constexpr size_t recordsPerPiece = 2048;

/// "ok", "failed" or "interrupted".
static const char *statusWord(const Status &failure) {
  if (failure.isOk())
    return "ok";
  return failure.code() == StatusCode::Interrupted ? "interrupted" : "failed";
}

std::string DumpWriter::renderEntries(std::span<const DumpRecord> records) const {
  std::string text;
  text.reserve(records.size() * 400); // about what an entry takes
  std::unordered_map<uint32_t, KernelText> kernels;
  for (const auto &[id, kernel] : Kernels)
    kernels.emplace(id, KernelText(*kernel));
  EntryRenderer entries(text);
  for (const DumpRecord &record : records) {
    text += &record == Records.data() ? "\n    " : ",\n    ";
    entries.render(record, kernels.at(record.kernel));
  }
  return text;
}

std::vector<std::string> DumpWriter::renderManifest(const Status &failure, uint64_t tasks) const {
  uint64_t scalars = 0, before = 0, truncated = 0;
  for (const DumpRecord &record : Records) {
    scalars += (record.flags & DumpRecord::Scalar) != 0;
    truncated += (record.flags & DumpRecord::Truncated) != 0;
    before += record.stage == static_cast<uint8_t>(DumpStage::BeforeDispatch);
  }
  Json root;
  root["format"] = dumpformat::formatName;
  root["version"] = dumpformat::formatVersion;
  root["level"] = Options.level;
  root["run"] = {{"program", About.program},
                 {"platform", About.platform},
                 {"seed", About.seed},
                 {"tasks", tasks},
                 {"status", statusWord(failure)},
                 {"error", failure.isOk() ? "" : failure.str()}};
  root["bin_file"] = dumpformat::payloadFile;
  root["bin_bytes"] = PayloadBytes;
  root["totals"] = {{"records", Records.size()},
                    {"tensors", Records.size() - scalars},
                    {"scalars", scalars},
                    {"by_stage",
                     {{toString(DumpStage::BeforeDispatch), before},
                      {toString(DumpStage::AfterCompletion), Records.size() - before}}},
                    {"truncated", truncated},
                    {"dropped", 0}, // nothing is ever dropped: a capture succeeds or the dump stops
                    {"unsigned", UnsignedTasks.size()}};
  root["unsigned_tasks"] = UnsignedTasks;

  // The head is for people, so indented; an entry a line, so that grep works.
  std::string text = jsonText(root);
  text.erase(text.rfind("\n}"));
  text += ",\n  \"entries\": [";
  size_t pieces = (Records.size() + recordsPerPiece - 1) / recordsPerPiece;
  std::vector<std::string> parts(pieces + 2);
  parts.front() = std::move(text);
  parallelFor(pieces, 0, [&](size_t piece) {
    std::span<const DumpRecord> rest = std::span(Records).subspan(piece * recordsPerPiece);
    parts[piece + 1] = renderEntries(rest.first(std::min(rest.size(), recordsPerPiece)));
  });
  parts.back() = Records.empty() ? "]\n}\n" : "\n  ]\n}\n";
  return parts;
}
