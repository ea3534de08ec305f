// `halfulp verify` on packs of casts, decodes and recipes, honest and lying.
#include <gtest/gtest.h>

#include "halfulp/vectors/sha256.hpp"
#include "verify_runner.hpp"
#include "xml_check.hpp"

namespace {

using command::exec;
using command::expect_finding;
using command::got;
using command::Result;
using command::Verify;
using nlohmann::json;

TEST_F(Verify, a_pack_is_judged_by_its_rows) {
  const std::string pack = path("pack");
  ASSERT_EQ(
      command::run({"gen", "cast:f32:e4m3", "-o", pack, "--quiet", "--also", "npz,safetensors"}).status, 0);
  for (const std::string form : {"", "/vectors.npz", "/vectors.safetensors"}) {
    EXPECT_EQ(got(pack, pack + form, 0)["verdict"], "bit-exact") << form;
    EXPECT_EQ(got(pack + form, pack + "/expected.bin", 0)["verdict"], "bit-exact") << form;
  }
  EXPECT_EQ(command::run({"verify", pack, "--impl", "halfulp"}).status, 0);
  const Result mutant = command::run({"verify", pack, "--impl", "mutant:truncate", "--json"});
  EXPECT_EQ(mutant.status, 1);
  const json verdict = json::parse(mutant.out);
  EXPECT_EQ(verdict["spec"], "cast:f32:e4m3");
  EXPECT_EQ(verdict["subject"], pack);
  EXPECT_EQ(verdict["diagnosis"]["fits"][0]["behaviour"], "rounding=toward_zero");
  // The same answers as from the SPEC itself.
  const json direct =
      json::parse(command::run({"verify", "cast:f32:e4m3", "--impl", "mutant:truncate", "--json"}).out);
  for (const char* key : {"checked", "mismatches", "groups", "first"})
    EXPECT_EQ(verdict[key], direct[key]) << key;
  expect_finding(exec(pack, "head -c 40 >/dev/null", 3), "missing output", "0 of 9,");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--level", "specials"}, {"--seed", "0"}}) {
    std::vector<std::string> arguments = {"verify", pack, "--impl", "halfulp"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(command::run(arguments).status, 2);
  }
}

/// A pack's manifest with one text replaced; columns stay as they were.
std::string replaced(std::string manifest, const std::string& what, const std::string& with) {
  const std::size_t at = manifest.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? manifest : manifest.replace(at, what.size(), with);
}

TEST_F(Verify, a_pack_that_contradicts_its_SPEC_is_refused) {
  // The header of an .npz has no room for a trick: rewrite the SPEC of a folder, whose columns stay as they
  // were.
  const std::string pack = path("pack");
  ASSERT_EQ(command::run({"gen", "cast:f32:e4m3", "-o", pack, "--quiet"}).status, 0);
  const std::string manifest = read("pack/manifest.json");
  for (const std::string rounding : {"toward_zero", "ties_to_away"}) {
    write("pack/manifest.json",
          replaced(manifest, "\"cast:f32:e4m3\"", "\"cast:f32:e4m3,rounding=" + rounding + "\""));
    for (const std::vector<std::string>& line :
         {std::vector<std::string>{"verify", pack, "--impl", "halfulp"},
          {"verify", pack, "--got", pack + "/expected.bin"},
          {"diagnose", pack, "--got", pack + "/expected.bin"},
          {"coverage", pack}}) {
      const Result result = command::run(line);
      EXPECT_EQ(result.status, 2) << line[0] << result.out;
      EXPECT_NE(result.error.find("it contradicts its SPEC in row "), std::string::npos) << result.error;
      command::expect_one_error_line(result.error);
    }
  }
}

/// The manifest for other bytes of a column, with their true hash and numbers of rows.
std::string forged(const std::string& manifest, const std::string& column, const std::string& bytes,
                   std::size_t rows) {
  json changed = json::parse(manifest);
  changed["rows"] = rows;
  for (json& each : changed["columns"]) {
    each["shape"][0] = rows;
    if (each["name"] != column) continue;
    halfulp::vectors::Sha256 hash;
    hash.add(std::as_bytes(std::span(bytes)));
    each["sha256"] = hash.hex();
  }
  return changed.dump();
}

TEST_F(Verify, an_expected_code_that_is_wrong_under_a_true_hash_is_refused) {
  const std::string pack = path("pack");
  ASSERT_EQ(command::run({"gen", "cast:bf16:e4m3", "-o", pack, "--quiet"}).status, 0);
  const std::string manifest = read("pack/manifest.json");
  std::string codes = read("pack/expected.bin");
  const std::size_t rows = codes.size();
  codes[rows / 3] = static_cast<char>(codes[rows / 3] ^ 1);
  write("pack/expected.bin", codes);
  write("pack/manifest.json", forged(manifest, "expected", codes, rows));
  for (const std::string command : {"verify", "diagnose"}) {
    const Result result = command::run({command, pack, "--got", pack + "/expected.bin"});
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_NE(result.error.find("it contradicts its SPEC in row " + std::to_string(rows / 3) + ": "),
              std::string::npos)
        << result.error;
  }
}

TEST_F(Verify, flags_and_status_are_those_of_the_rows) {
  for (const std::string spec : {"cast:bf16:e4m3", "decode:e4m3:f16"}) {
    for (const bool of_level : {true, false}) {
      for (const std::string column : {"flags", "status"}) {
        const std::string name = "pack_" + spec.substr(0, 4) + column + (of_level ? "_level" : "_own"), pack = path(name);
        ASSERT_EQ(command::run({"gen", spec, "-o", pack, "--quiet"}).status, 0);
        std::string manifest = read(name + "/manifest.json");
        if (manifest.find("\"" + column + "\"") == std::string::npos) continue;  // decodes have no status
        json claims = json::parse(manifest);
        if (!of_level) claims["seed"] = 1;
        if (!of_level) claims["level"] = "specials";
        if (!of_level) claims["completeness"] = "sampled";
        manifest = claims.dump();
        write(name + "/manifest.json", manifest);
        const json true_one = got(pack, pack + "/expected.bin", 0);
        EXPECT_EQ(true_one.value("own_rows", false), !of_level && spec[0] == 'c') << spec << " " << column;
        std::string words = read(name + "/" + column + ".bin");
        const std::size_t rows = read(name + "/expected.bin").size() / (spec[0] == 'c' ? 1 : 2), width = words.size() / rows;
        words[rows / 3 * width] = static_cast<char>(words[rows / 3 * width] ^ 1);
        write(name + "/" + column + ".bin", words);
        write(name + "/manifest.json", forged(manifest, column, words, rows));
        const Result result = command::run({"verify", pack, "--got", pack + "/expected.bin"});
        EXPECT_EQ(result.status, 2) << spec << " " << column << result.out;
        EXPECT_NE(result.error.find("row " + std::to_string(rows / 3) + ": its column " + column), std::string::npos) << result.error;
      }
    }
  }
}

TEST_F(Verify, a_pack_without_rows_passes_nothing) {
  const std::string pack = path("pack");
  ASSERT_EQ(command::run({"gen", "cast:bf16:e4m3", "-o", pack, "--quiet"}).status, 0);
  std::string manifest = read("pack/manifest.json");
  for (const std::string column : {"input", "expected", "flags", "status"}) {
    manifest = forged(manifest, column, "", 0);
    write("pack/" + column + ".bin", "");
  }
  json claims = json::parse(manifest);
  claims["completeness"] = "sampled";
  claims["refused"] = 0;
  write("pack/manifest.json", claims.dump());
  EXPECT_EQ(command::run({"verify", pack, "--got", pack + "/expected.bin"}).status, 3);
  EXPECT_EQ(command::run({"coverage", pack}).status, 3);
}

TEST_F(Verify, the_claims_of_a_pack_are_those_of_its_rows) {
  const std::string pack = path("pack");
  ASSERT_EQ(command::run({"gen", "cast:f16:e2m1", "-o", pack, "--quiet", "--level", "exhaustive"}).status,
            0);
  const std::string manifest = read("pack/manifest.json");
  EXPECT_EQ(got(pack, pack + "/expected.bin", 0)["completeness"], "exhaustive");
  const auto refused = [&](const std::string& text, const std::string& why) {
    write("pack/manifest.json", text);
    const Result result = command::run({"verify", pack, "--got", pack + "/expected.bin"});
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_NE(result.error.find(why), std::string::npos) << result.error;
    command::expect_one_error_line(result.error);
  };
  refused(replaced(manifest, "\"refused\": 2046", "\"refused\": 7"),
          "the policy refuses 7 words of its level");
  // Of another level than it says, every word is still there.
  write("pack/manifest.json", replaced(manifest, "\"level\": \"exhaustive\"", "\"level\": \"thresholds\""));
  const json own = got(pack, pack + "/expected.bin", 0);
  EXPECT_EQ(own["own_rows"], true) << own;
  EXPECT_EQ(own["refused"], 0);
  EXPECT_EQ(own["completeness"], "exhaustive");
}

TEST_F(Verify, a_pack_that_is_broken_is_refused) {
  const std::string pack = path("pack");
  ASSERT_EQ(command::run({"gen", "cast:bf16:e4m3", "-o", pack, "--quiet"}).status, 0);
  write("pack/expected.bin", read("pack/expected.bin").substr(1));
  for (const std::string& subject : {pack, path("none.npz"), std::string("/tmp")}) {
    const Result result = command::run({"verify", subject, "--exec", "cat"});
    EXPECT_EQ(result.status, 2) << subject;
    command::expect_one_error_line(result.error);
  }
}

TEST_F(Verify, recipes_are_judged_by_blocks) {
  const std::string spec = "recipe:mxfp8/ocp_floor,rows=12";
  const Result right = command::run({"verify", spec, "--impl", "halfulp"});
  EXPECT_EQ(right.status, 0) << right.out << right.error;
  const Result other = command::run(
      {"verify", spec, "--impl", "recipe:mxfp8/rceil", "--json", "--report", path("recipe.xml")});
  EXPECT_EQ(other.status, 1) << other.out << other.error;
  EXPECT_GT(json::parse(other.out)["mismatches"], 0);
  EXPECT_NE(other.out.find("recipe:mxfp8/rceil"), std::string::npos);
  EXPECT_TRUE(well_formed(read("recipe.xml")));

  const std::string pack = path("pack");
  const Result made = command::run({"gen", spec, "-o", pack, "--quiet"});
  ASSERT_EQ(made.status, 0) << made.error;
  EXPECT_EQ(got(pack, pack, 0)["verdict"], "bit-exact");
  // A filter answers row after row, the expected columns of each back to back.
  const json manifest = json::parse(read("pack/manifest.json"));
  std::string rows;
  const auto count = manifest["rows"].get<std::size_t>();
  for (std::size_t row = 0; row < count; ++row) {
    for (const json& column : manifest["columns"]) {
      if (column["role"] != "expected") continue;
      const std::string bytes = read("pack/" + column["file"].get<std::string>());
      rows += bytes.substr(row * (bytes.size() / count), bytes.size() / count);
    }
  }
  write("rows.bin", rows);
  EXPECT_EQ(exec(pack, "cat >/dev/null; cat " + path("rows.bin"), 0)["verdict"], "bit-exact");
  EXPECT_EQ(exec(spec, "cat >/dev/null; cat " + path("rows.bin"), 0)["verdict"], "bit-exact");
  const json half = exec(pack, "head -c " + std::to_string(rows.size() / 2) + " " + path("rows.bin"), 3);
  expect_finding(half, "missing output", "6 of 12 rows answered, 6 missing");
  EXPECT_EQ(half["rows"], 6);
  expect_finding(exec(pack, "cat " + path("rows.bin") + "; echo", 1), "extra output",
                 "more than the 12 rows");
  expect_finding(exec(pack, "exit 4", 3), "crash", "exit status 4");
}

TEST_F(Verify, decodes_are_judged_too) {
  const json verdict = exec("decode:e4m3:f32", "cat >/dev/null", 3);
  EXPECT_EQ(verdict["spec"], "decode:e4m3:f32");
  const Result right =
      command::run_shell("halfulp verify decode:e2m1 --text --exec 'halfulp cast --from e2m1 --to f32'");
  EXPECT_EQ(right.status, 0) << right.out << right.error;
}

}  // namespace
