// The frame of an .npy file: magic, version, header length, header, array.
#include "halfulp/tensors/npy.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "halfulp/tensors/npy_text.hpp"

namespace halfulp::tensors {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint64_t kLargestHeader = 1 << 20;  // a header of a plain array is below 2 KiB

/// Element size of each descr without its byte order.
constexpr std::pair<std::string_view, int> kItems[] = {
    {"b1", 1}, {"i1", 1}, {"u1", 1}, {"f1", 1}, {"V1", 1}, {"i2", 2}, {"u2", 2}, {"f2", 2},
    {"V2", 2}, {"i4", 4}, {"u4", 4}, {"f4", 4}, {"i8", 8}, {"u8", 8}, {"f8", 8}};

std::string type_names() {
  return "f2, f4, f8, i1 to i8, u1 to u8, b1, V1 and V2";
}

/// Type of the elements as the file itself names them; empty for void types.
std::optional<ElementType> own_type(const NpyHeader& header) {
  const std::string_view name = std::string_view(header.descr).substr(1);
  if (name == "f1" || name[0] == 'V') return std::nullopt;
  for (const FileType& row : kFileTypes) {
    if (row.npy == name) return element_type(row.name);
  }
  return std::nullopt;
}

}  // namespace

int NpyHeader::item_bytes() const {
  if (descr.empty() || std::string_view("<>|=").find(descr[0]) == std::string_view::npos) return 0;
  for (const auto& [name, bytes] : kItems) {
    if (std::string_view(descr).substr(1) == name)
      return descr[0] == '|' && bytes > 1 && name[0] != 'V' ? 0 : bytes;
  }
  return 0;
}

NpyHeader read_npy_header(const ByteSource& bytes) {
  const std::string again = "save it again with numpy.save";
  std::array<std::byte, 12> start{};
  bytes.read(0, std::span(start).first(std::min<std::uint64_t>(bytes.size(), start.size())));
  if (bytes.size() < 10 || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    throw malformed(bytes.name(), 0, "it does not start as an .npy file does",
                    "give a file that numpy.save wrote");
  }
  const int major = static_cast<int>(start[6]), minor = static_cast<int>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    throw malformed(
        bytes.name(), 6,
        "format version " + std::to_string(major) + "." + std::to_string(minor) + " is not known",
        "save it as version 1.0, 2.0 or 3.0");
  }
  const std::uint64_t prefix = major == 1 ? 10 : 12;
  if (bytes.size() < prefix)
    throw malformed(bytes.name(), bytes.size(), "the file ends in its header length", again);
  const std::uint64_t length = little(std::span(start).subspan(8, prefix - 8));
  if (length > bytes.size() - prefix || length > kLargestHeader) {
    throw malformed(
        bytes.name(), 8,
        "the header is said to have " + std::to_string(length) + " bytes, and " +
            (length > bytes.size() - prefix ? "the file ends before" : "none has more than 1 MiB"),
        again);
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  bytes.read(prefix, std::as_writable_bytes(std::span(text)));
  NpyHeader header = parse_npy_text(text, bytes.name(), prefix);
  header.version = major;
  header.data_offset = prefix + length;
  const int item = header.item_bytes();
  if (item == 0) {
    throw malformed(bytes.name(), prefix, "arrays of type '" + header.descr + "' cannot be read",
                    "convert it to one of " + type_names());
  }
  const auto count = element_count(header.shape);
  if (!count || *count > (~0ull >> 1) / static_cast<std::uint64_t>(item)) {
    throw malformed(bytes.name(), prefix,
                    "the shape " + shape_text(header.shape) + " has more than 2^63 - 1 bytes", again);
  }
  const std::uint64_t need = *count * static_cast<std::uint64_t>(item),
                      have = bytes.size() - header.data_offset;
  if (have != need) {
    throw malformed(bytes.name(), header.data_offset + std::min(have, need),
                    have < need ? "the file ends here, and the array has " + std::to_string(need) +
                                      " bytes of which " + std::to_string(have) + " are there"
                                : std::to_string(have - need) + " bytes follow the array",
                    again);
  }
  return header;
}

TensorSource open_npy(Bytes bytes, std::optional<std::string_view> dtype) {
  const NpyHeader header = read_npy_header(*bytes);
  const int item = header.item_bytes();
  const auto own = own_type(header);
  if (!own && !dtype) {
    throw InputError("file '" + bytes->name() + "'",
                     "its type '" + header.descr + "' does not say which format the elements have",
                     "name it, for example --dtype " + std::string(item == 1 ? "e4m3" : "bf16"));
  }
  Tensor tensor{.name = "",
                .dtype = own ? own->name : header.descr,
                .shape = header.shape,
                .offset = header.data_offset,
                .length = bytes->size() - header.data_offset};
  const ElementOrder order{
      .big_endian = header.descr[0] == '>', .column_major = header.fortran_order, .packing = {}};
  const TensorSource source(std::move(tensor), own ? *own : word_type(item), std::move(bytes), order);
  return dtype ? source.as(*dtype) : source;
}

std::string npy_descr(const ElementType& type, bool ml_dtypes_void) {
  const FileType* row = file_type(type.name);
  std::string name = "u" + std::to_string(type.word_bytes);
  const bool own = row != nullptr && row->npy[0] != 'V' && row->npy != "f1";
  if (own) name = row->npy;
  if (!own && ml_dtypes_void && type.word_bytes <= 2) {
    return "<" + (row != nullptr ? std::string(row->npy) : "V" + std::to_string(type.word_bytes));
  }
  return (type.word_bytes == 1 ? "|" : "<") + name;
}

std::string npy_header_text(const NpyHeader& header) {
  std::string text = "{'descr': '" + header.descr +
                     "', 'fortran_order': " + (header.fortran_order ? "True" : "False") + ", 'shape': (";
  for (std::size_t i = 0; i < header.shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(header.shape[i]);
  text += header.shape.size() == 1 ? ",), }" : "), }";
  if (!header.shape.empty()) {  // numpy leaves room for the growing dimension to have 21 digits
    const std::uint64_t grows = header.fortran_order ? header.shape.back() : header.shape.front();
    text.append(21 - std::to_string(grows).size(), ' ');
  }
  // Magic, version, length, text and a line feed fill a multiple of 64 bytes; a full 64 spaces where they
  // do already.
  const auto pad = [&text](std::size_t prefix) { return 64 - (prefix + text.size() + 1) % 64; };
  const bool long_header = text.size() + 1 + pad(10) > 0xffff;
  const std::size_t prefix = long_header ? 12 : 10, length = text.size() + pad(prefix) + 1;
  text.append(pad(prefix), ' ');
  std::string bytes(kMagic);
  bytes += long_header ? '\2' : '\1';
  bytes += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
  return bytes + text + '\n';
}

NpyWriter::NpyWriter(const std::string& path, const NpyHeader& header) : file_(path), left_(0) {
  const auto count = element_count(header.shape);
  const int item = header.item_bytes();
  if (item == 0 || header.descr[0] == '>' || !count ||
      *count > (~0ull >> 1) / static_cast<std::uint64_t>(item)) {
    throw InputError("file '" + path + "'",
                     item == 0 || header.descr[0] == '>'
                         ? "arrays of type '" + header.descr + "' are not written"
                         : "the shape " + shape_text(header.shape) + " overflows",
                     "use one of " + type_names() + " and a size below 2^63 bytes");
  }
  left_ = *count * static_cast<std::uint64_t>(item);
  file_.write(npy_header_text(header));
}

void NpyWriter::write(std::span<const std::byte> words) {
  if (words.size() > left_) {
    throw InputError("file '" + file_.path() + "'", "more elements come than its shape has",
                     "write what the shape says");
  }
  left_ -= words.size();
  file_.write(words);
}

void NpyWriter::commit() {
  if (left_ != 0) {
    throw InputError("file '" + file_.path() + "'",
                     std::to_string(left_) + " bytes of the array are missing",
                     "write what the shape says");
  }
  file_.commit();
}

}  // namespace halfulp::tensors
