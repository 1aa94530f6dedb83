#include "kiln/runtime/npy.h"

#include "FileIo.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <optional>

using namespace kiln;

static constexpr std::string_view magic("\x93NUMPY", 6);
// numpy itself refuses headers beyond 10 000 characters; there is no honest reason for a longer
// one.
static constexpr uint64_t maxHeader = 10000;

static Status invalid(const std::string &what, const std::string &message) {
  return Status(StatusCode::InvalidArgument, "'" + what + "': " + message);
}

namespace {

struct NpyHeader {
  std::string descr;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;
};

/// Parses the header: a Python dict literal with three known keys. Nothing else is accepted.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : Text(text) {}

  /// Empty on success, else what is wrong.
  std::string parse(NpyHeader &header) {
    if (!eat('{'))
      return "the header is not a dictionary";
    while (!eat('}')) {
      std::optional<std::string> key = string();
      if (!key || !eat(':'))
        return "the header has a malformed key";
      if (std::string error = value(*key, header); !error.empty())
        return error;
      if (!eat(',') && peek() != '}')
        return "the header lacks a comma after '" + *key + "'";
    }
    if (peek() != '\0')
      return "the header has text after its dictionary";
    if (header.descr.empty() || !header.fortran || !header.shape)
      return "the header lacks one of 'descr', 'fortran_order' and 'shape'";
    return "";
  }

private:
  std::string value(const std::string &key, NpyHeader &header) {
    if (key == "descr") {
      std::optional<std::string> text = string();
      if (!text)
        return "'descr' is not a plain type; structured arrays are not supported";
      header.descr = *text;
      return "";
    }
    if (key == "fortran_order") {
      if (eatWord("True"))
        header.fortran = true;
      else if (eatWord("False"))
        header.fortran = false;
      else
        return "'fortran_order' is neither True nor False";
      return "";
    }
    if (key == "shape") {
      header.shape = tuple();
      return header.shape ? "" : "'shape' is not a tuple of numbers that fit 63 bits";
    }
    return "the header has the unknown key '" + key + "'";
  }

  char peek() {
    while (Pos < Text.size() && std::isspace(static_cast<unsigned char>(Text[Pos])))
      ++Pos;
    return Pos < Text.size() ? Text[Pos] : '\0';
  }
  bool eat(char c) {
    if (peek() != c || Pos >= Text.size())
      return false;
    ++Pos;
    return true;
  }
  bool eatWord(std::string_view word) {
    peek();
    if (Text.substr(Pos, word.size()) != word)
      return false;
    Pos += word.size();
    return true;
  }
  std::optional<std::string> string() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return std::nullopt;
    size_t end = Text.find(quote, Pos + 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string text(Text.substr(Pos + 1, end - Pos - 1));
    Pos = end + 1;
    return text;
  }
  std::optional<int64_t> number() {
    if (!std::isdigit(static_cast<unsigned char>(peek())))
      return std::nullopt;
    int64_t result = 0;
    for (; Pos < Text.size() && std::isdigit(static_cast<unsigned char>(Text[Pos])); ++Pos)
      if (__builtin_mul_overflow(result, int64_t{10}, &result) ||
          __builtin_add_overflow(result, int64_t{Text[Pos] - '0'}, &result))
        return std::nullopt;
    return result;
  }
  std::optional<std::vector<int64_t>> tuple() {
    std::vector<int64_t> items;
    if (!eat('('))
      return std::nullopt;
    while (!eat(')')) {
      std::optional<int64_t> item = number();
      if (!item)
        return std::nullopt;
      items.push_back(*item);
      if (!eat(',') && peek() != ')')
        return std::nullopt;
    }
    return items;
  }

  std::string_view Text;
  size_t Pos = 0;
};

/// What the header says, and where the elements start.
struct NpyLayout {
  DType dtype = DType::F32;
  std::vector<int64_t> extents;
  uint64_t dataOffset = 0;
  uint64_t dataBytes = 0;
};

} // namespace

static std::optional<DType> typeOfDescr(const std::string &descr) {
  // For one-byte types byte order means nothing and numpy writes '|'.
  if (descr == "<i1" || descr == "|i1")
    return DType::I8;
  for (const DTypeInfo &row : dtypeTable)
    if (row.isElement && !row.npyWidened && descr == row.npy)
      return row.type;
  return std::nullopt;
}

static Status checkDescr(const std::string &what, const NpyHeader &header) {
  if (header.descr.size() > 1 && header.descr[0] == '>')
    return invalid(what, "big-endian type '" + header.descr + "' is not supported; save it as '<" +
                             header.descr.substr(1) + "'");
  if (!typeOfDescr(header.descr))
    return invalid(
        what, "type '" + header.descr +
                  "' is not supported; use <f4, <f2, |i1, <i2, <i4, <i8 or |b1 (x.astype(...))");
  if (*header.fortran)
    return invalid(what, "the array is in Fortran order; save numpy.ascontiguousarray(x)");
  return Status::ok();
}

/// `fileBytes` is the size of the whole file, of which `start` is the beginning.
static Expected<NpyLayout> parseLayout(std::span<const std::byte> start, uint64_t fileBytes,
                                       const std::string &what) {
  if (start.size() < 10 || std::memcmp(start.data(), magic.data(), magic.size()) != 0)
    return invalid(what, "not a .npy file");
  auto byteAt = [&](size_t i) { return static_cast<uint64_t>(start[i]); };
  uint64_t major = byteAt(6), headerStart = major == 1 ? 10 : 12;
  if (major < 1 || major > 3)
    return invalid(what, ".npy version " + std::to_string(major) + " is not supported");
  if (start.size() < headerStart)
    return invalid(what, "the file is truncated");
  uint64_t length = byteAt(8) | byteAt(9) << 8;
  if (major > 1)
    length |= byteAt(10) << 16 | byteAt(11) << 24;
  if (length > maxHeader)
    return invalid(what, "the header claims " + std::to_string(length) + " bytes");
  if (start.size() < headerStart + length)
    return invalid(what, "the file is truncated inside its header");

  NpyHeader header;
  std::string_view text(reinterpret_cast<const char *>(start.data()) + headerStart, length);
  if (std::string error = HeaderParser(text).parse(header); !error.empty())
    return invalid(what, error);
  if (Status bad = checkDescr(what, header); !bad.isOk())
    return bad;

  NpyLayout layout;
  layout.dtype = *typeOfDescr(header.descr);
  layout.extents = *header.shape;
  if (layout.extents.empty())
    layout.extents.push_back(1); // a numpy scalar
  if (layout.extents.size() > KILN_MAX_RANK)
    return invalid(what, "rank " + std::to_string(layout.extents.size()) +
                             " is not supported: at most " + std::to_string(KILN_MAX_RANK));
  unsigned __int128 bytes = static_cast<unsigned __int128>(sizeOf(layout.dtype));
  bool hasZero = false;
  for (int64_t extent : layout.extents)
    hasZero |= extent == 0;
  for (int64_t extent : layout.extents) {
    bytes = hasZero ? 0 : bytes * static_cast<uint64_t>(extent);
    if (bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return invalid(what, "shape " + toString(Dims(layout.extents)) + " overflows 64 bits");
  }
  layout.dataOffset = headerStart + length;
  layout.dataBytes = static_cast<uint64_t>(bytes);
  uint64_t present = fileBytes - layout.dataOffset;
  if (present != layout.dataBytes)
    return invalid(what, "shape " + toString(Dims(layout.extents)) + " of '" + header.descr +
                             "' needs " + std::to_string(layout.dataBytes) +
                             " bytes, the file has " + std::to_string(present));
  return layout;
}

/// Elements from outside: numpy may hold any non-zero byte as True, Kiln's i1 is 0 or 1.
static Expected<Tensor> finishTensor(Tensor tensor) {
  if (tensor.dtype() == DType::I1)
    for (int64_t i = 0; i < tensor.numElements(); ++i)
      tensor.dataAs<uint8_t>()[i] = tensor.dataAs<uint8_t>()[i] != 0;
  return tensor;
}

Expected<Tensor> kiln::parseNpy(std::span<const std::byte> bytes, const std::string &what) {
  Expected<NpyLayout> layout = parseLayout(bytes, bytes.size(), what);
  if (!layout)
    return layout.status();
  Expected<Tensor> tensor = Tensor::empty(layout->dtype, layout->extents);
  if (!tensor)
    return tensor.status().withPrefix("'" + what + "'");
  if (Status bad = tensor->scatterBytes(bytes.subspan(layout->dataOffset)); !bad.isOk())
    return bad;
  return finishTensor(*tensor);
}

Expected<Tensor> kiln::readNpy(const std::string &path) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file)
    return file.status();
  // The header first: nothing of the claimed size is allocated until the file is known to have it.
  std::vector<std::byte> start(std::min<uint64_t>(file->size(), 12 + maxHeader));
  if (Status bad = file->read(0, start); !bad.isOk())
    return bad;
  Expected<NpyLayout> layout = parseLayout(start, file->size(), path);
  if (!layout)
    return layout.status();
  Expected<Tensor> tensor = Tensor::empty(layout->dtype, layout->extents);
  if (!tensor)
    return tensor.status().withPrefix("'" + path + "'");
  std::span<std::byte> elements(tensor->dataAs<std::byte>(), tensor->numBytes());
  if (Status bad = file->read(layout->dataOffset, elements); !bad.isOk())
    return bad;
  return finishTensor(*tensor);
}

Expected<std::string> kiln::npyHeader(DType dtype, Dims extents) {
  if (!isValidDType(static_cast<int64_t>(dtype)) || !info(dtype).isElement)
    return Status(StatusCode::InvalidArgument, "not an element type of tensors");
  std::string dict =
      "{'descr': '" + std::string(info(dtype).npy) + "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : extents)
    dict += std::to_string(extent) + ", ";
  dict += "), }";
  // Elements start at a multiple of 64, as numpy likes for mapping; the header ends with a newline.
  size_t total = (10 + dict.size() + 1 + 63) / 64 * 64;
  dict.resize(total - 10 - 1, ' ');
  dict += '\n';
  std::string header(magic);
  header +=
      {'\x01', '\x00', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  return header + dict;
}

Status kiln::writeNpy(const std::string &path, const Tensor &tensor) {
  if (Status bad = tensor.validate(); !bad.isOk())
    return bad;
  if (info(tensor.dtype()).npyWidened) {
    Expected<Tensor> wide = tensor.castTo(DType::F32);
    return wide ? writeNpy(path, *wide) : wide.status();
  }
  Expected<std::string> header = npyHeader(tensor.dtype(), tensor.extents());
  if (!header)
    return header.status();
  Expected<std::vector<std::byte>> bytes = tensor.gatherBytes();
  if (!bytes)
    return bytes.status();
  std::string_view parts[] = {*header,
                              {reinterpret_cast<const char *>(bytes->data()), bytes->size()}};
  return writeFileAtomically(path, parts);
}
