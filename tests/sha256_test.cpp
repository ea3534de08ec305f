// SHA-256 against the examples of its standard.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "halfulp/vectors/sha256.hpp"

namespace {

TEST(Sha256, known_vectors) {  // FIPS 180-4, NIST examples
  const auto hash = [](std::string_view text) {
    halfulp::vectors::Sha256 sha;
    sha.add(std::as_bytes(std::span(text)));
    return sha.hex();
  };
  EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, the_processors_instructions_and_pieces_change_nothing) {
  std::string text(5000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i >> 3);
  const auto bytes = std::as_bytes(std::span(text));
  for (const std::size_t blocks : {0u, 1u, 2u, 3u, 78u}) {
    halfulp::vectors::Sha256State fast = {1, 2, 3, 4, 5, 6, 7, 8}, portable = fast;
    halfulp::vectors::sha256_blocks(fast, bytes.data(), blocks);
    halfulp::vectors::sha256_blocks_portable(portable, bytes.data(), blocks);
    EXPECT_EQ(fast, portable) << blocks;
  }
  halfulp::vectors::Sha256 whole;
  whole.add(bytes);
  const std::string want = whole.hex();
  for (const std::size_t piece : {1u, 7u, 63u, 64u, 65u, 200u}) {
    halfulp::vectors::Sha256 sha;
    for (std::size_t i = 0; i < bytes.size(); i += piece)
      sha.add(bytes.subspan(i, std::min(piece, bytes.size() - i)));
    EXPECT_EQ(sha.hex(), want) << piece;
  }
}

}  // namespace
