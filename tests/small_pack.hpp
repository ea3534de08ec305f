// A small pack of a cast with every role, and ways to spoil it.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "halfulp/vectors/pack/pack.hpp"
#include "tensor_files.hpp"

namespace halfulp::vectors {

using tensors::contains;
using tensors::message_of;
using tensors::read_bytes;
using tensors::TemporaryFolder;
using tensors::write_bytes;

inline const std::string kInput = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c";  // three f32 words
inline const std::string kExpected = "\x10\x20\x30";
inline const std::string kFlags = tensors::raw("\x01\0\0\0\x02\0\0\0\x03\0\0\0");
inline const std::string kStatus = "\x01\x09\x1f";
inline const std::string* const kColumns[] = {&kInput, &kExpected, &kExpected, &kFlags, &kStatus};

/// A manifest of a small cast with every role.
inline Manifest cast_manifest() {
  Manifest m;
  m.generator = "halfulp test";
  m.kind = "cast";
  m.spec = "cast:f32:e4m3";
  m.details = R"({"rounding":"ties_to_even","some":[1,-2,0.5,null,true,{"x":"y"}]})";
  m.seed = ~0ull;
  m.level = Level::stratified;
  m.completeness = Completeness::complete_for_monotone;
  m.rows = 3;
  m.refused = 2;
  m.columns = {{"input", Role::input, "f32", {3}},
               {"expected", Role::expected, "e4m3", {3}},
               {"expected_alternative", Role::alternative, "e4m3", {3}},
               {"flags", Role::flags, "uint32", {3}},
               {"status", Role::status, "uint8", {3}}};
  m.flags = {{"tie", "ties", "halves", "rounds \"away\"\n"}, {"zero", "zeros", "signs", "loses -0"}};
  return m;
}

inline void write_columns(PackWriter& writer) {
  for (std::size_t i = 0; i < std::size(kColumns); ++i) {
    const auto bytes = std::as_bytes(std::span(*kColumns[i]));
    writer.write(i, bytes.first(1));
    writer.write(i, bytes.subspan(1));
  }
}

inline std::string write_cast(const std::string& path) {
  const auto writer = write_pack(path, cast_manifest());
  write_columns(*writer);
  writer->commit();
  return path;
}

inline std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string error_of_reading(const std::string& path, Hashes hashes = Hashes::checked) {
  const std::string message = message_of([&] { read_pack(path, hashes); });
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

/// Rewrites manifest.json of a folder.
template <class Change>
void change_manifest(const std::string& folder, Change change) {
  auto json = nlohmann::ordered_json::parse(read_bytes(folder + "/manifest.json"));
  change(json);
  write_bytes(folder + "/manifest.json", json.dump());
}

}  // namespace halfulp::vectors
