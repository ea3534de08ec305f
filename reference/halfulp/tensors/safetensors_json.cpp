// A SAX handler that knows the four places of a safetensors header: the top, __metadata__, a tensor, a list
// in a tensor.
#include "halfulp/tensors/safetensors_json.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "halfulp/tensors/json_cursor.hpp"

namespace halfulp::tensors {
namespace {

using nlohmann::json;

class Handler : public nlohmann::json_sax<json> {
 public:
  Handler(const std::string& file, std::uint64_t offset, const char* start, const char** seen)
      : file_(file), offset_(offset), start_(start), seen_(seen) {}

  SafetensorsJson result;

  bool start_object(std::size_t) override {
    if (place_ == Place::before) {
      place_ = Place::top;
    } else if (place_ == Place::top && key_ == "__metadata__") {
      place_ = Place::metadata;
    } else if (place_ == Place::top) {
      place_ = Place::tensor;
      entry_ = {};
      entry_.name = key_;
      seen_keys_ = 0;
    } else {
      fail("an object where none belongs");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      if (seen_keys_ != 7) fail("tensor '" + entry_.name + "' lacks dtype, shape or data_offsets");
      entry_.at = position();
      result.entries.push_back(std::move(entry_));
    }
    place_ = place_ == Place::top ? Place::after : Place::top;
    return true;
  }

  bool key(std::string& name) override {
    key_ = std::move(name);
    if (place_ == Place::top && !names_.insert(key_).second) fail("'" + key_ + "' is there twice");
    if (place_ == Place::metadata && result.metadata.contains(key_))
      fail("metadata '" + key_ + "' are there twice");
    if (place_ == Place::tensor) {
      const int bit = key_ == "dtype" ? 1 : key_ == "shape" ? 2 : key_ == "data_offsets" ? 4 : 0;
      if (bit == 0) fail("tensor '" + entry_.name + "' has an unknown key '" + key_ + "'");
      if ((seen_keys_ & bit) != 0) fail("tensor '" + entry_.name + "' has '" + key_ + "' twice");
      seen_keys_ |= bit;
    }
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata) {
      result.metadata[key_] = std::move(value);
    } else if (place_ == Place::tensor && key_ == "dtype") {
      entry_.dtype = std::move(value);
    } else {
      fail("a string where none belongs");
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || key_ == "dtype") fail("a list where none belongs");
    place_ = Place::list;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    if (key_ == "data_offsets" && offsets_ != 2)
      fail("data_offsets of tensor '" + entry_.name + "' are not two numbers");
    place_ = Place::tensor;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::list) fail("a number where none belongs");
    if (value >> 63 != 0) fail("a number of tensor '" + entry_.name + "' exceeds 2^63 - 1");
    if (key_ == "shape") {
      if (entry_.shape.size() == 64) fail("tensor '" + entry_.name + "' has more than 64 dimensions");
      entry_.shape.push_back(value);
    } else {
      if (offsets_ == 2) fail("data_offsets of tensor '" + entry_.name + "' are not two numbers");
      (offsets_++ == 0 ? entry_.begin : entry_.end) = value;
    }
    return true;
  }

  bool number_integer(number_integer_t) override { fail("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    fail("a number that is no integer below 2^63");
  }
  bool null() override { fail("null where none belongs"); }
  bool boolean(bool) override { fail("true or false where none belongs"); }
  bool binary(binary_t&) override { fail("binary data"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    const std::string text =
        error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 9: …"
    const std::size_t colon = text.find(": ");
    fail("the header is no valid JSON (" + (colon == std::string::npos ? text : text.substr(colon + 2)) +
         ")");
  }

 private:
  enum class Place { before, top, metadata, tensor, list, after };

  std::uint64_t position() const { return offset_ + static_cast<std::uint64_t>(*seen_ - start_); }
  [[noreturn]] void fail(const std::string& why) const {
    throw malformed(file_, position(), why, "save it again with safetensors");
  }

  const std::string& file_;
  std::uint64_t offset_;
  const char* start_;
  const char** seen_;
  Place place_ = Place::before;
  std::string key_;
  SafetensorsEntry entry_;
  int seen_keys_ = 0, offsets_ = 0;
  std::set<std::string> names_;
};

}  // namespace

SafetensorsJson parse_safetensors_json(std::string_view text, const std::string& file,
                                       std::uint64_t offset) {
  if (const std::size_t nul = text.find('\0');
      nul != std::string_view::npos) {  // the parser would take it for the end
    throw malformed(file, offset + nul, "the header has a NUL byte", "save it again with safetensors");
  }
  const char* seen = text.data();
  const char* end = text.data() + text.size();
  Handler handler(file, offset, text.data(), &seen);
  json::sax_parse(JsonCursor(text.data(), &seen), JsonCursor(end, &seen), &handler);
  return std::move(handler.result);
}

}  // namespace halfulp::tensors
