// nlohmann's SAX parser, which does not recurse, feeding a tree of limited depth.
#include "halfulp/vectors/pack/json_value.hpp"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>

#include "halfulp/error.hpp"
#include "halfulp/tensors/bytes.hpp"
#include "halfulp/tensors/json_cursor.hpp"

namespace halfulp::vectors {
namespace {

using nlohmann::json;

constexpr const char* kAgain = "write it again with `halfulp gen`";

class Handler : public nlohmann::json_sax<json> {
 public:
  Handler(std::string_view origin, const char* start, const char** seen)
      : origin_(origin), start_(start), seen_(seen) {}

  JsonValue root;

  bool null() override { return put({}); }
  bool boolean(bool value) override { return put({.kind = JsonValue::Kind::boolean, .truth = value}); }
  bool number_unsigned(number_unsigned_t value) override {
    return put({.kind = JsonValue::Kind::number, .number = value});
  }
  bool number_integer(number_integer_t) override { return put({.kind = JsonValue::Kind::other_number}); }
  bool number_float(number_float_t, const string_t&) override {
    return put({.kind = JsonValue::Kind::other_number});
  }
  bool string(std::string& value) override {
    return put({.kind = JsonValue::Kind::string, .text = std::move(value)});
  }
  bool binary(binary_t&) override { fail("a binary value"); }
  bool start_object(std::size_t) override { return open(JsonValue::Kind::object); }
  bool start_array(std::size_t) override { return open(JsonValue::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    if (!keys_.back().insert(name).second) fail("key '" + printable(name) + "' is there twice");
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string& token, const json::exception&) override {
    fail("it is no JSON at '" + printable(token) + "'");
  }

 private:
  std::uint64_t position() const { return static_cast<std::uint64_t>(*seen_ - start_); }
  [[noreturn]] void fail(const std::string& why) const {
    throw tensors::malformed(std::string(origin_), position(), why, kAgain);
  }

  /// Where the next value goes: into the innermost open container, which does not move while it is open.
  JsonValue& place(JsonValue value) {
    if (++count_ > kMostJsonValues) fail("it has more than " + std::to_string(kMostJsonValues) + " values");
    if (open_.empty()) return root = std::move(value);
    JsonValue& into = *open_.back();
    if (into.kind == JsonValue::Kind::array) return into.items.emplace_back(std::move(value));
    return into.members.emplace_back(std::move(key_), std::move(value)).second;
  }
  bool put(JsonValue value) {
    value.begin = value.end = position();
    place(std::move(value));
    return true;
  }
  bool open(JsonValue::Kind kind) {
    if (open_.size() == static_cast<std::size_t>(kDeepestJson))
      fail("it is more than " + std::to_string(kDeepestJson) + " levels deep");
    JsonValue& value = place({.kind = kind});
    value.begin = position() - 1;
    open_.push_back(&value);
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.back()->end = position();
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::string_view origin_;
  const char* start_;
  const char** seen_;
  std::string key_;
  std::uint64_t count_ = 0;
  std::vector<JsonValue*> open_;
  std::vector<std::set<std::string, std::less<>>> keys_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == key; });
  return found == members.end() ? nullptr : &found->second;
}

JsonValue parse_json(std::string_view text, std::string_view origin) {
  const char* const start = text.data();
  const char* seen = start;
  Handler handler(origin, start, &seen);
  json::sax_parse(tensors::JsonCursor(start, &seen), tensors::JsonCursor(start + text.size(), &seen), &handler);
  return std::move(handler.root);
}

JsonObject::JsonObject(const JsonValue& value, std::string_view origin, std::string what)
    : value_(&value), origin_(origin), what_(std::move(what)) {
  if (value.kind != JsonValue::Kind::object) fail("it is not an object");
}

void JsonObject::fail(const std::string& why, std::string_view key) const {
  const JsonValue* at = key.empty() ? nullptr : value_->find(key);
  std::string what = what_ + ": ";
  if (!key.empty()) what += "'" + printable(key) + "' ";
  throw tensors::malformed(origin_, at != nullptr ? at->end : value_->begin, what + why, kAgain);
}

const JsonValue& JsonObject::value(std::string_view key) const {
  if (const JsonValue* found = value_->find(key)) return *found;
  fail("is missing", key);
}

const JsonValue& JsonObject::typed(std::string_view key, JsonValue::Kind kind, const char* type) const {
  const JsonValue& found = value(key);
  if (found.kind != kind) fail(std::string("is not ") + type, key);
  return found;
}

const std::string& JsonObject::text(std::string_view key) const {
  return typed(key, JsonValue::Kind::string, "a string").text;
}

std::uint64_t JsonObject::number(std::string_view key) const {
  return typed(key, JsonValue::Kind::number, "a whole number from 0 to 2^64 - 1").number;
}

const std::vector<JsonValue>& JsonObject::list(std::string_view key) const {
  return typed(key, JsonValue::Kind::array, "a list").items;
}

void JsonObject::allow(std::initializer_list<std::string_view> keys) const {
  for (const auto& member : value_->members) {
    if (std::find(keys.begin(), keys.end(), member.first) == keys.end()) fail("is unknown", member.first);
  }
}

}  // namespace halfulp::vectors
