#include "EntryFile.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace kiln {

namespace {

/// Little endian, at the end of the file.
struct Footer {
  char magic[8];
  uint32_t version;
  uint32_t abiVersion;
  uint64_t objectBytes, infoBytes, keyBytes;
  /// Of everything before it, the fields above included.
  uint64_t checksum[2];
};
static_assert(sizeof(Footer) == 56, "the footer is a file format");
static_assert(offsetof(Footer, checksum) == 40, "the footer is a file format");

constexpr char kMagic[8] = {'K', 'I', 'L', 'N', 'J', 'I', 'T', '\n'};

/// Streams the checksum so that the object is not copied for it.
class Checksum {
public:
  Checksum() { XXH3_128bits_reset(&State); }
  void add(const void *bytes, size_t size) { XXH3_128bits_update(&State, bytes, size); }
  void finish(uint64_t (&into)[2]) {
    XXH128_hash_t hash = XXH3_128bits_digest(&State);
    into[0] = hash.low64;
    into[1] = hash.high64;
  }

private:
  XXH3_state_t State;
};

Status damaged(const char *what) { return Status(StatusCode::IoError, what); }

} // namespace

std::string hashText(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)hash.high64,
                (unsigned long long)hash.low64);
  return text;
}

std::string renderTrailer(const Artifact &artifact, std::string_view key) {
  std::string trailer = toJson(artifact.info);
  Footer footer{};
  std::memcpy(footer.magic, kMagic, sizeof kMagic);
  footer.version = cacheFormatVersion;
  footer.abiVersion = KILN_ABI_VERSION;
  footer.objectBytes = artifact.object.size();
  footer.infoBytes = trailer.size();
  footer.keyBytes = key.size();
  trailer += key;
  Checksum checksum;
  checksum.add(artifact.object.data(), artifact.object.size());
  checksum.add(trailer.data(), trailer.size());
  checksum.add(&footer, offsetof(Footer, checksum));
  checksum.finish(footer.checksum);
  return trailer.append(reinterpret_cast<const char *>(&footer), sizeof footer);
}

Expected<EntryParts> parseEntry(std::string_view file) {
  Footer footer;
  if (file.size() < sizeof footer)
    return damaged("it is shorter than any entry");
  std::memcpy(&footer, file.data() + file.size() - sizeof footer, sizeof footer);
  if (std::memcmp(footer.magic, kMagic, sizeof kMagic) != 0)
    return damaged("it does not end as an entry does: truncated, or not one");
  if (footer.version != cacheFormatVersion || footer.abiVersion != KILN_ABI_VERSION)
    return damaged("it was written in another version of the format");
  uint64_t body = file.size() - sizeof footer, left = body;
  for (uint64_t part : {footer.objectBytes, footer.infoBytes, footer.keyBytes}) {
    if (part > left)
      return damaged("its parts are longer than the file");
    left -= part;
  }
  if (left != 0)
    return damaged("its parts are shorter than the file");
  Checksum checksum;
  checksum.add(file.data(), body + offsetof(Footer, checksum));
  uint64_t found[2];
  checksum.finish(found);
  if (std::memcmp(found, footer.checksum, sizeof found) != 0)
    return damaged("its checksum does not match its contents");
  Expected<NativeInfo> info = parseNativeInfo(file.substr(footer.objectBytes, footer.infoBytes));
  if (!info)
    return info.status();
  return EntryParts{std::move(*info), file.substr(0, footer.objectBytes),
                    file.substr(footer.objectBytes + footer.infoBytes, footer.keyBytes)};
}

} // namespace kiln
