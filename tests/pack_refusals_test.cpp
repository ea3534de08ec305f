// Everything that a damaged or lying pack can say is refused with one clear line.
#include <gtest/gtest.h>

#include <filesystem>

#include "small_pack.hpp"

namespace halfulp::vectors {
namespace {

namespace fs = std::filesystem;

struct Damage {
  const char* what;
  void (*make)(const std::string& folder);
  const char* message;
};

const Damage kDamages[] = {
    {"a flipped bit", [](const std::string& f) { write_bytes(f + "/expected.bin", "\x10\x20\x31"); },
     "SHA-256"},
    {"a column cut short", [](const std::string& f) { fs::resize_file(f + "/input.bin", 11); },
     "11 bytes, and its shape says 12"},
    {"an empty column", [](const std::string& f) { fs::resize_file(f + "/input.bin", 0); },
     "0 bytes, and its shape says 12"},
    {"bytes too many", [](const std::string& f) { fs::resize_file(f + "/status.bin", 4); },
     "4 bytes, and its shape says 3"},
    {"no column", [](const std::string& f) { fs::remove(f + "/flags.bin"); },
     "flags.bin': it cannot be read"},
    {"a column that is a link",
     [](const std::string& f) {
       fs::rename(f + "/flags.bin", f + "/elsewhere");
       fs::create_symlink("elsewhere", f + "/flags.bin");
     },
     "symbolic link"},
    {"a manifest that is a link",
     [](const std::string& f) {
       fs::rename(f + "/manifest.json", f + "/elsewhere");
       fs::create_symlink("elsewhere", f + "/manifest.json");
     },
     "symbolic link"},
    {"a column that is a folder",
     [](const std::string& f) {
       fs::remove(f + "/flags.bin");
       fs::create_directory(f + "/flags.bin");
     },
     "it is a folder"},
    {"no manifest", [](const std::string& f) { fs::remove(f + "/manifest.json"); },
     "it has no manifest.json"},
    {"an empty manifest", [](const std::string& f) { write_bytes(f + "/manifest.json", ""); }, "no JSON"},
    {"no JSON", [](const std::string& f) { write_bytes(f + "/manifest.json", "\x89PNG\r\n\x1a\n"); },
     "byte 1: it is no JSON"},
    {"half a manifest",
     [](const std::string& f) {
       fs::resize_file(f + "/manifest.json", fs::file_size(f + "/manifest.json") / 2);
     },
     "no JSON"},
    {"something after it",
     [](const std::string& f) {
       write_bytes(f + "/manifest.json", read_bytes(f + "/manifest.json") + "x");
     },
     "no JSON"},
    {"deep lists",
     [](const std::string& f) { write_bytes(f + "/manifest.json", std::string(1000000, '[')); },
     "32 levels deep"},
    {"deep objects",
     [](const std::string& f) {
       std::string text;
       for (int i = 0; i < 100000; ++i) text += "{\"a\":";
       write_bytes(f + "/manifest.json", text);
     },
     "32 levels deep"},
    {"a huge manifest",
     [](const std::string& f) { write_bytes(f + "/manifest.json", std::string(17 << 20, ' ')); },
     "at most 16 MiB"},
    {"millions of values",
     [](const std::string& f) {
       std::string text = "[0";
       for (int i = 0; i < 3000000; ++i) text += ",0";
       write_bytes(f + "/manifest.json", text + "]");
     },
     "more than 1048576 values"},
    {"text that is not UTF-8",
     [](const std::string& f) { write_bytes(f + "/manifest.json", "{\"pack\xff\":1}"); }, "no JSON"},
};

TEST(PackRefusals, DamagedFoldersAreRefused) {
  for (const Damage& damage : kDamages) {
    const TemporaryFolder folder;
    const std::string path = write_cast(folder / "a");
    damage.make(path);
    EXPECT_TRUE(contains(error_of_reading(path), damage.message))
        << damage.what << ": " << error_of_reading(path);
  }
}

using Json = nlohmann::ordered_json;
struct Lie {
  const char* what;
  void (*tell)(Json& json);
  const char* message;
};

const Lie kLies[] = {
    {"rows", [](Json& j) { j["rows"] = 4; }, "it has 3 rows, and the pack 4"},
    {"a shape", [](Json& j) { j["columns"][0]["shape"] = {2}; }, "it has 2 rows, and the pack 3"},
    {"more in a row",
     [](Json& j) {
       j["columns"][0]["shape"] = {3, 2};
     },
     "12 bytes, and its shape says 24"},
    {"a format", [](Json& j) { j["columns"][0]["format"] = "f64"; }, "12 bytes, and its shape says 24"},
    {"an unknown format", [](Json& j) { j["columns"][0]["format"] = "f31"; }, "f31"},
    {"an alias", [](Json& j) { j["columns"][0]["format"] = "float32"; }, "another canonical name"},
    {"a long format", [](Json& j) { j["columns"][0]["format"] = std::string(10000, 'x'); },
     "so long a name"},
    {"2^63 rows",
     [](Json& j) {
       j["rows"] = 1ull << 63;
       for (auto& c : j["columns"]) c["shape"] = {1ull << 63};
     },
     "below 2^63"},
    {"2^62 rows",
     [](Json& j) {
       j["rows"] = 1ull << 62;
       for (auto& c : j["columns"]) c["shape"] = {1ull << 62};
     },
     "2^63 bytes or more"},
    {"a product that wraps",
     [](Json& j) {
       j["columns"][0]["shape"] = {3, 1ull << 32, 1ull << 32};
     },
     "2^63 bytes or more"},
    {"a product that wraps behind zero rows",
     [](Json& j) {
       j["rows"] = 0;
       j["columns"][0]["shape"] = {0, 1ull << 62, 1ull << 62};
     },
     "2^63 bytes or more"},
    {"a negative count", [](Json& j) { j["rows"] = -3; }, "'rows' is not a whole number"},
    {"a negative shape", [](Json& j) { j["columns"][0]["shape"] = {-3}; }, "below 2^63"},
    {"a broken count", [](Json& j) { j["rows"] = 3.5; }, "'rows' is not a whole number"},
    {"a count in a string", [](Json& j) { j["rows"] = "3"; }, "'rows' is not a whole number"},
    {"no shape", [](Json& j) { j["columns"][0]["shape"] = Json::array(); }, "1 to 8 dimensions"},
    {"nine dimensions", [](Json& j) { j["columns"][0]["shape"] = {3, 1, 1, 1, 1, 1, 1, 1, 1}; },
     "1 to 8 dimensions"},
    {"a shape that is a number", [](Json& j) { j["columns"][0]["shape"] = 3; }, "'shape' is not a list"},
    {"a path", [](Json& j) { j["columns"][0]["file"] = "../input.bin"; }, "not NAME.bin"},
    {"an absolute path", [](Json& j) { j["columns"][0]["file"] = "/etc/passwd"; }, "not NAME.bin"},
    {"another's file", [](Json& j) { j["columns"][0]["file"] = "flags.bin"; }, "not NAME.bin"},
    {"a path as a name",
     [](Json& j) { j["columns"][0]["name"] = "../input", j["columns"][0]["file"] = "../input.bin"; },
     "a name is"},
    {"a name of two lines",
     [](Json& j) { j["columns"][0]["name"] = "a\nb", j["columns"][0]["file"] = "a\nb.bin"; }, "a name is"},
    {"no file", [](Json& j) { j["columns"][0].erase("file"); }, "its file is not named"},
    {"no hash", [](Json& j) { j["columns"][0].erase("sha256"); }, "is not stated"},
    {"half a hash", [](Json& j) { j["columns"][0]["sha256"] = std::string(32, 'a'); },
     "64 hexadecimal digits"},
    {"a hash in capitals", [](Json& j) { j["columns"][0]["sha256"] = std::string(64, 'A'); },
     "64 hexadecimal digits"},
    {"a wrong hash", [](Json& j) { j["columns"][0]["sha256"] = std::string(64, 'a'); }, "SHA-256"},
    {"a column twice", [](Json& j) { j["columns"].push_back(j["columns"][1]); },
     "'expected' is there twice"},
    {"65 columns",
     [](Json& j) {
       while (j["columns"].size() < 65) j["columns"].push_back(j["columns"][0]);
     },
     "1 to 64 columns"},
    {"no columns", [](Json& j) { j["columns"] = Json::array(); }, "1 to 64 columns"},
    {"no inputs", [](Json& j) { j["columns"].erase(0); }, "need a column of inputs"},
    {"a role", [](Json& j) { j["columns"][0]["role"] = "output"; }, "'role' is not a word"},
    {"a level", [](Json& j) { j["level"] = "all"; }, "'level' is not a word"},
    {"a completeness", [](Json& j) { j["completeness"] = "proved"; }, "'completeness' is not a word"},
    {"a kind", [](Json& j) { j["kind"] = "video"; }, "none of cast, decode, recipe, mma, attention, tensor"},
    {"a tensor with a seed", [](Json& j) { j["kind"] = "tensor"; }, "unknown"},
    {"a version", [](Json& j) { j["pack"] = 2; }, "is not the version 1"},
    {"no version", [](Json& j) { j.erase("pack"); }, "'pack' is missing"},
    {"an unknown key", [](Json& j) { j["extra"] = 1; }, "'extra' is unknown"},
    {"an unknown key of a column", [](Json& j) { j["columns"][0]["offset"] = 1; }, "'offset' is unknown"},
    {"33 flags",
     [](Json& j) {
       for (int i = 0; i < 31; ++i)
         j["flags"].push_back(
             {{"name", "f" + std::to_string(i)}, {"tests", ""}, {"matters", ""}, {"goes_wrong", ""}});
     },
     "more than 32 flags"},
    {"a flag twice", [](Json& j) { j["flags"].push_back(j["flags"][0]); }, "'tie' is there twice"},
    {"a flag without a note", [](Json& j) { j["flags"].erase(1); }, "that no flag stands for"},
    {"a flag that lacks a note", [](Json& j) { j["flags"][0].erase("matters"); }, "'matters' is missing"},
    {"flags without a column", [](Json& j) { j["columns"].erase(3); }, "flags and their column"},
    {"flags of floats", [](Json& j) { j["columns"][3]["format"] = "f32"; }, "uint8 or uint32"},
    {"status twice", [](Json& j) { j["columns"][3]["role"] = "status"; },
     "two columns of flags or of status"},
    {"an alternative of nothing",
     [](Json& j) { j["columns"][1]["name"] = "other", j["columns"][1]["file"] = "other.bin"; },
     "there is no expected"},
    {"details", [](Json& j) { j["details"] = "x"; }, "'details' is not an object"},
    {"another type at the top", [](Json& j) { j = Json::array({1}); }, "it is not an object"},
};

TEST(PackRefusals, LyingManifestsAreRefused) {
  for (const Lie& lie : kLies) {
    const TemporaryFolder folder;
    const std::string path = write_cast(folder / "a");
    change_manifest(path, lie.tell);
    EXPECT_TRUE(contains(error_of_reading(path), lie.message))
        << lie.what << ": " << error_of_reading(path);
  }
}

TEST(PackRefusals, AKeyTwiceIsRefusedWithItsByte) {
  const TemporaryFolder folder;
  const std::string path = write_cast(folder / "a");
  std::string text = read_bytes(path + "/manifest.json");
  text.insert(1, "\"rows\": 3,");
  write_bytes(path + "/manifest.json", text);
  const std::string at = std::to_string(text.rfind("\"rows\": 3,\n") + 6);
  EXPECT_TRUE(contains(error_of_reading(path), "byte " + at + ": key 'rows' is there twice"))
      << error_of_reading(path);
}

TEST(PackRefusals, BitsBeyondAFormatAreRefusedWhenChecked) {
  const TemporaryFolder folder;
  Manifest m = cast_manifest();
  m.columns = {{"input", Role::input, "int4", {3}}, {"expected", Role::expected, "e2m1", {3}}};
  m.flags.clear();
  const auto made = [&](const std::string& name, const std::string& input, const std::string& expected) {
    const auto writer = write_pack(folder / name, m);
    writer->write(0, std::as_bytes(std::span(input)));
    writer->write(1, std::as_bytes(std::span(expected)));
    writer->commit();
    return error_of_reading(folder / name);
  };
  EXPECT_EQ(made("good", "\x0f\x01\xff", "\x0f\x01\x02"), "accepted");  // int4 may be sign-extended
  EXPECT_TRUE(
      contains(made("wide", "\x0f\x01\xff", "\x0f\x10\x02"), "word 1 has bits that its format has not"));
  EXPECT_TRUE(contains(made("positive", "\x0f\x01\xf1", "\x0f\x01\x02"),
                       "word 2 has bits that its format has not"));
}

TEST(PackRefusals, DamagedArchivesAreRefused) {
  const TemporaryFolder folder;
  for (const char* name : {"a.npz", "a.safetensors"}) {
    const std::string path = write_cast(folder / name);
    const std::string good = read_bytes(path);
    std::size_t refused = 0;
    constexpr std::size_t kStep = 7;
    for (std::size_t i = 0; i < good.size(); i += kStep) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 4);
      write_bytes(path, bad);
      refused += error_of_reading(path) != "accepted";
    }
    // Some bits mean nothing: letters of notes and details, dates of members, names that no reader asks
    // for.
    EXPECT_GT(refused, good.size() / kStep / 2) << name;
    std::string bad = good;
    const std::size_t data = bad.find(kInput);
    ASSERT_NE(data, std::string::npos);
    bad[data] = 'x';
    write_bytes(path, bad);
    EXPECT_TRUE(contains(error_of_reading(path), "SHA-256")) << error_of_reading(path);
    for (std::size_t length = 0; length < good.size(); length += 131) {
      write_bytes(path, good.substr(0, length));
      EXPECT_NE(error_of_reading(path), "accepted") << name << " cut to " << length;
    }
  }
  EXPECT_TRUE(contains(error_of_reading(folder / "none.npz"), "cannot be read"));
  EXPECT_TRUE(contains(error_of_reading(folder / "none"), "no folder, .npz or .safetensors"));
}

}  // namespace
}  // namespace halfulp::vectors
