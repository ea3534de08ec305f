// .npz files read: malformed archives, tricks in names, bombs, ZIP64.
#include "halfulp/tensors/npz.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tensor_files.hpp"

namespace halfulp::tensors {
namespace {

std::uint32_t crc_of(std::string_view bytes) {  // CRC-32 of IEEE 802.3, bit by bit
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

/// A member as its two headers describe it; each field can lie.
struct Member {
  std::string name = "a.npy", data = {};
  std::uint64_t size = data.size(), compressed = data.size();
  int method = 0, flags = 0;
  std::uint32_t crc = crc_of(data);
  std::string local_name = name, extra = {}, local_extra = {};
  int local_method = method;
  std::int64_t at = -1;  ///< header offset in the directory; -1: where it is
};

std::string local_of(const Member& m) {
  return raw("PK\3\4") + le(20, 2) + le(static_cast<unsigned>(m.flags), 2) +
         le(static_cast<unsigned>(m.local_method), 2) + le(0, 4) + le(m.crc, 4) + le(m.compressed, 4) +
         le(m.size, 4) + le(m.local_name.size(), 2) + le(m.local_extra.size(), 2) + m.local_name +
         m.local_extra + m.data;
}

struct End {
  std::int64_t entries = -1, size = -1, offset = -1;
  int disk = 0;
  std::string before = {}, comment = {};
};

std::string zip(const std::vector<Member>& members, const End& end = {}) {
  std::string out, directory;
  for (const Member& m : members) {
    const std::uint64_t at = m.at >= 0 ? static_cast<std::uint64_t>(m.at) : out.size();
    out += local_of(m);
    directory += raw("PK\1\2") + le(20, 2) + le(20, 2) + le(static_cast<unsigned>(m.flags), 2) +
                 le(static_cast<unsigned>(m.method), 2) + le(0, 4) + le(m.crc, 4) + le(m.compressed, 4) +
                 le(m.size, 4) + le(m.name.size(), 2) + le(m.extra.size(), 2) + le(0, 2) + le(0, 2) +
                 le(0, 2) + le(0, 4) + le(at, 4) + m.name + m.extra;
  }
  const auto or_else = [](std::int64_t given, std::uint64_t fact) {
    return given >= 0 ? static_cast<std::uint64_t>(given) : fact;
  };
  const std::uint64_t offset = out.size();
  return out + directory + end.before + raw("PK\5\6") + le(static_cast<unsigned>(end.disk), 2) + le(0, 2) +
         le(or_else(end.entries, members.size()), 2) + le(or_else(end.entries, members.size()), 2) +
         le(or_else(end.size, directory.size()), 4) + le(or_else(end.offset, offset), 4) +
         le(end.comment.size(), 2) + end.comment;
}

std::string array(const std::string& data, const std::vector<std::uint64_t>& shape) {
  return npy_header_text({"|u1", false, shape}) + data;
}

Member member(const std::string& name, const std::string& data = array("abc", {3})) {
  return {.name = name, .data = data};
}

/// A stored block of RFC 1951: the bytes as they are.
std::string stored_block(const std::string& data) {
  return raw("\1") + le(data.size(), 2) + le(~data.size(), 2) + data;
}

Member deflated(const std::string& stream, const std::string& data) {
  return {
      .data = stream, .size = data.size(), .compressed = stream.size(), .method = 8, .crc = crc_of(data)};
}

/// Opens and reads every array.
std::string message(const std::string& archive) {
  return message_of([&] {
    const NpzFile file(source_of(archive, "x.npz"));
    for (const ZipEntry& entry : file.entries()) open_zip_member(source_of(archive, "x.npz"), entry);
    for (const std::string& name : file.names()) text_of(file.open(name));
  });
}

TEST(Npz, ReadsStoredAndDeflatedMembers) {
  const std::string data = array("abc", {3});
  const std::string archive = zip({member("a.npy"), [&] {
                                     Member m = deflated(stored_block(data), data);
                                     m.name = m.local_name = "dir/b:c.npy";
                                     return m;
                                   }()});
  EXPECT_TRUE(contains(message(archive), "outside the archive"));  // a colon names a drive
  Member b = deflated(stored_block(data), data);
  b.name = b.local_name = "dir/b.npy";
  const NpzFile file(
      source_of(zip({member("a.npy"), b, member("readme.txt", "x")}, {.comment = "a comment PK\5\6"})));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"a", "dir/b"}));
  EXPECT_EQ(text_of(file.open("a")), "abc");
  EXPECT_EQ(text_of(file.open("dir/b")), "abc");
  EXPECT_EQ(file.open("a", "mxint8").type().name, "mxint8");
  EXPECT_TRUE(contains(message_of([&] { file.open("dirb"); }),
                       "'file' has none of that name; the nearest is dir/b"));
  EXPECT_TRUE(NpzFile(source_of(zip({}))).names().empty());
}

TEST(Npz, SizesAndPlacesMayStandInTheZip64Records) {
  Member m = member("a.npy");
  const std::string sizes = le(m.size, 8) + le(m.compressed, 8);
  m.local_extra = le(0x7777, 2) + le(1, 2) + "x" + le(1, 2) + le(16, 2) + sizes;
  m.extra = le(1, 2) + le(24, 2) + sizes + le(0, 8);
  m.size = m.compressed = m.at = 0xffffffff;
  EXPECT_EQ(message(zip({m})), "accepted");
  const std::string plain = zip({m}), directory = plain.substr(plain.find("PK\1\2"),
                                                               plain.size() - 22 - plain.find("PK\1\2"));
  const std::uint64_t offset = plain.find("PK\1\2");
  const std::string record = raw("PK\6\6") + le(44, 8) + le(45, 2) + le(45, 2) + le(0, 8) + le(1, 8) +
                             le(1, 8) + le(directory.size(), 8) + le(offset, 8) + raw("PK\6\7") + le(0, 4) +
                             le(offset + directory.size(), 8) + le(1, 4);
  const std::string archive =
      zip({m}, {.entries = 0xffff, .size = 0xffffffff, .offset = 0xffffffff, .before = record});
  EXPECT_EQ(message(archive), "accepted");
  EXPECT_EQ(text_of(NpzFile(source_of(archive)).open("a")), "abc");
}

TEST(Npz, MalformedArchivesAreRefusedWithTheByteThatIsWrong) {
  const std::string data = array("abc", {3}), good = zip({member("a.npy")});
  const auto changed = [](Member m, auto&& change) {
    change(m);
    return zip({m});
  };
  const Member a = member("a.npy"), d = deflated(stored_block(data), data);
  const struct {
    const char* name;
    std::string bytes;
    std::string part;
  } table[] = {
      {"empty", "", "byte 0: it does not end as a ZIP archive does"},
      {"text", "hello, this is not an archive at all", "it does not end as a ZIP archive does"},
      {"no end", good.substr(0, good.size() - 22), "it does not end as a ZIP archive does"},
      {"cut end", good.substr(0, good.size() - 1), "it does not end as a ZIP archive does"},
      {"trailing byte", good + "x", "it does not end as a ZIP archive does"},
      {"cut start", good.substr(1), "the directory does not lie where"},
      {"leading byte", "x" + good, "the directory does not lie where"},
      {"two disks", zip({a}, {.disk = 1}), "spans several files"},
      {"lying count", zip({a}, {.entries = 60000}), "60000 members do not fit"},
      {"count of none", zip({a}, {.entries = 0}), "goes on after its last record"},
      {"lying directory size", zip({a}, {.size = 1 << 30}), "does not lie where"},
      {"lying directory offset", zip({a}, {.offset = 1}), "does not lie where"},
      {"ZIP64 record outside",
       zip({a}, {.size = 71, .before = raw("PK\6\7") + le(0, 4) + le(1ull << 60, 8) + le(1, 4)}),
       "ZIP64 end record is said to lie outside"},
      {"no ZIP64 record", zip({a}, {.before = raw("PK\6\7") + le(0, 4) + le(3, 8) + le(1, 4)}),
       "no ZIP64 end record"},
      {"broken record",
       [&] {
         std::string s = good;
         s[s.find("PK\1\2")] = 'x';
         return s;
       }(),
       "a broken record"},
      {"name beyond",
       [&] {
         std::string s = good;
         s[s.find("PK\1\2") + 29] = '\x7f';
         return s;
       }(),
       "a broken record"},
      {"encrypted", changed(a, [](Member& m) { m.flags = 1; }), "is encrypted"},
      {"bzip2", changed(a, [](Member& m) { m.method = m.local_method = 12; }), "compressed by method 12"},
      {"local method", changed(a, [](Member& m) { m.local_method = 8; }),
       "its header and the directory differ"},
      {"local name", changed(a, [](Member& m) { m.local_name = "b.npy"; }),
       "its header and the directory differ"},
      {"no local header", changed(a, [](Member& m) { m.at = 4; }), "there is no header"},
      {"header beyond", changed(a, [](Member& m) { m.at = 1 << 30; }), "its header lies outside"},
      {"size beyond", changed(a, [](Member& m) { m.size = m.compressed = 100000; }),
       "reaches into the directory"},
      {"two sizes", changed(a, [](Member& m) { m.size = 4; }), "has two sizes"},
      {"wrong CRC", changed(a, [](Member& m) { m.crc ^= 1; }), "does not have the CRC"},
      {"flipped bit", changed(a, [](Member& m) { m.data.back() ^= 1; }), "does not have the CRC"},
      {"array longer than member", zip({member("a.npy", data.substr(0, data.size() - 1))}),
       "of which 2 are there"},
      {"member longer than array", zip({member("a.npy", data + "d")}), "1 bytes follow the array"},
      {"member is no array", zip({member("a.npy", "hello")}), "does not start as an .npy file"},
      {"twice", zip({a, a}), "is there twice"},
      {"folder", zip({member("a/")}), "a member is a folder"},
      {"no name", zip({member("")}), "a member is a folder or has no name"},
      {"absolute", zip({member("/etc/passwd")}), "a path outside the archive"},
      {"upwards", zip({member("../a.npy")}), "a path outside the archive"},
      {"upwards inside", zip({member("x/../../a.npy")}), "a path outside the archive"},
      {"dot", zip({member("./a.npy")}), "a path outside the archive"},
      {"empty part", zip({member("x//a.npy")}), "a path outside the archive"},
      {"backslash", zip({member("..\\a.npy")}), "a path outside the archive"},
      {"drive", zip({member("C:a.npy")}), "a path outside the archive"},
      {"NUL", zip({member(raw("a\0b.npy"))}), "control characters"},
      {"line feed", zip({member("a\n.npy")}), "control characters"},
      {"overlap",
       [&] {
         const std::string inner = local_of(member("b.npy"));
         Member outer = member("a.npy", inner), b = member("b.npy");
         b.at = static_cast<std::int64_t>(local_of(outer).size() - inner.size());
         b.data.clear();
         return zip({outer, b});
       }(),
       "overlap"},
      {"bomb", changed(d, [](Member& m) { m.size = 3ull << 30; }), "cannot make"},
      {"inflates to more", changed(d, [](Member& m) { m.size -= 1; }), "inflates to more than"},
      {"inflates to less", changed(d, [](Member& m) { m.size += 1; }), "inflates to less than"},
      {"bytes after the stream", zip({deflated(stored_block(data) + "x", data)}),
       "bytes follow its deflate stream"},
      {"cut stream", zip({deflated(stored_block(data).substr(0, 20), data)}),
       "its deflate stream does not end"},
      {"bad stream", zip({deflated("\x07garbage", data)}), "its deflate stream is damaged"},
      {"deflated CRC", changed(d, [](Member& m) { m.crc ^= 1; }), "does not have the CRC"},
      {"long extra field", changed(a, [](Member& m) { m.extra = le(1, 2) + le(50, 2); }),
       "an extra field is longer"},
      {"short ZIP64 field",
       changed(a,
               [](Member& m) {
                 m.extra = le(1, 2) + le(0, 2);
                 m.size = 0xffffffff;
               }),
       "ZIP64 field is too short"},
      {"ZIP64 size of 2^63",
       changed(a,
               [](Member& m) {
                 m.extra = le(1, 2) + le(16, 2) + le(1ull << 63, 8) + le(1ull << 63, 8);
                 m.size = m.compressed = 0xffffffff;
               }),
       "reaches into the directory"},
  };
  for (const auto& row : table) {
    const std::string text = message(row.bytes);
    EXPECT_TRUE(contains(text, row.part)) << row.name << ": " << text;
    EXPECT_TRUE(contains(text, "file 'x.npz")) << row.name << ": " << text;
    EXPECT_TRUE(contains(text, ", byte ")) << row.name << ": " << text;
  }
}

TEST(Npz, EveryTruncationAndEveryChangedByteIsRefusedOrHarmless) {
  const std::string data = array("abc", {3}),
                    whole = zip({member("a.npy"), deflated(stored_block(data), data)});
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_NE(message(whole.substr(0, n)), "accepted") << n;
  const std::string archive = zip({member("a.npy")});
  for (std::size_t n = 0; n < archive.size(); ++n) {
    std::string changed = archive;
    changed[n] = static_cast<char>(~changed[n]);
    try {
      const NpzFile file(source_of(changed));
      for (const std::string& name : file.names()) EXPECT_EQ(text_of(file.open(name)), "abc") << n;
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace halfulp::tensors
