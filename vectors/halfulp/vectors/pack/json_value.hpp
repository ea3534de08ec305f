// JsonValue: JSON of untrusted files, each value with its place in the text.
//
// Decides: what JSON is accepted. A key twice, more than 32 levels or a million values, anything after the
// value, and text that is not UTF-8 are refused; so no reader behind has to think of them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halfulp/vectors/printable.hpp"

namespace halfulp::vectors {

inline constexpr int kDeepestJson = 32;
inline constexpr std::uint64_t kMostJsonValues = 1 << 20;  ///< about 130 MiB of memory

struct JsonValue {
  enum class Kind : std::uint8_t { null, boolean, number, other_number, string, array, object };
  Kind kind = Kind::null;
  bool truth = false;                 ///< boolean
  std::uint64_t number = 0;           ///< whole, not negative, below 2^64; all others are other_number
  std::string text = {};              ///< string
  std::vector<JsonValue> items = {};  ///< array
  std::vector<std::pair<std::string, JsonValue>> members = {};  ///< object, in the order of the text
  std::uint64_t begin = 0,
                end = 0;  ///< bytes of the text; exact for objects and arrays, else `end` is about there

  const JsonValue* find(std::string_view key) const;  ///< nullptr when there is none
};

/// Parses `text`. Throws InputError naming `origin` and the byte.
JsonValue parse_json(std::string_view text, std::string_view origin);

/// The members of an object by name, with errors that name the file, the byte and the key.
class JsonObject {
 public:
  /// `what` is the object in words, e.g. `the manifest`. Throws InputError unless it is an object.
  JsonObject(const JsonValue& value, std::string_view origin, std::string what);

  const JsonValue& value(std::string_view key) const;
  const std::string& text(std::string_view key) const;
  std::uint64_t number(std::string_view key) const;
  const std::vector<JsonValue>& list(std::string_view key) const;
  bool has(std::string_view key) const { return value_->find(key) != nullptr; }
  /// Throws InputError for a member that is not among these.
  void allow(std::initializer_list<std::string_view> keys) const;
  /// Throws `file 'ORIGIN', byte N: WHAT: WHY; …` for the whole object, or for the member `key`.
  [[noreturn]] void fail(const std::string& why, std::string_view key = {}) const;

 private:
  const JsonValue& typed(std::string_view key, JsonValue::Kind kind, const char* type) const;
  const JsonValue* value_;
  std::string origin_, what_;
};

}  // namespace halfulp::vectors
