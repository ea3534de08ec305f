// `halfulp doctor`: what was built, what this machine has, and which other implementations were found.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "halfulp/batch.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "streams.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp doctor\n"
    "  halfulp doctor --json";

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#elif defined(__GNUC__)
constexpr const char* kCompiler = "gcc " __VERSION__;
#else
constexpr const char* kCompiler = "unknown";
#endif

/// The CUDA driver, asked through its library so that nothing need be linked.
Json cuda_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {{"found", false}, {"why", "no libcuda.so.1"}};
  const auto call = [library](const char* name, auto... arguments) {
    const auto function = reinterpret_cast<int (*)(decltype(arguments)...)>(dlsym(library, name));
    return function == nullptr ? -1 : function(arguments...);
  };
  if (const int error = call("cuInit", 0u); error != 0) {
    return {{"found", false}, {"why", "cuInit gives error " + std::to_string(error)}};
  }
  int version = 0;
  int count = 0;
  call("cuDriverGetVersion", &version);
  call("cuDeviceGetCount", &count);
  Json devices = Json::array();
  for (int device = 0; device < count; ++device) {
    constexpr int kMajor = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    constexpr int kMinor = 76;
    char name[256] = {};
    int major = 0;
    int minor = 0;
    call("cuDeviceGetName", name, 255, device);
    call("cuDeviceGetAttribute", &major, kMajor, device);
    call("cuDeviceGetAttribute", &minor, kMinor, device);
    devices.push_back(std::string(name) + ", compute capability " + std::to_string(major) + "." +
                      std::to_string(minor));
  }
  return {{"found", true},
          {"version", std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10)},
          {"devices", devices}};
}

/// nvcc, as the builds of gpu_check look for it: CUDACXX, then the path, then the toolkit's usual place.
Json cuda_compiler() {
  std::vector<std::string> places;
  if (const char* named = std::getenv("CUDACXX"); named != nullptr && *named != '\0') {
    places.emplace_back(named);
  } else {
    std::istringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
    for (std::string folder; std::getline(folders, folder, ':');) places.push_back(folder + "/nvcc");
    places.emplace_back("/usr/local/cuda/bin/nvcc");
  }
  for (const std::string& place : places) {
    if (access(place.c_str(), X_OK) == 0) return {{"found", true}, {"path", place}};
  }
  return {{"found", false}, {"why", "gpu_check is left with its host tier"}};
}

/// The implementations that `verify --impl` can judge.
Json implementations() {
  Json all = Json::array();
  for (const vectors::Implementation* implementation : vectors::implementations()) {
    all.push_back({{"name", implementation->name},
                   {"about", implementation->about},
                   {"version", implementation->version},
                   {"found", implementation->missing.empty()},
                   {"why", implementation->missing}});
  }
  return all;
}

Json examine() {
  Json json = {{"version", HALFULP_VERSION},
               {"compiler", kCompiler},
               {"build_type", HALFULP_BUILD_TYPE},
               {"simd_levels", Json::array()},
               {"simd_level", simd_level()},
               {"threads", std::max(1u, std::thread::hardware_concurrency())},
               {"cuda_toolkit", *HALFULP_CUDA_VERSION == '\0' ? Json(nullptr) : Json(HALFULP_CUDA_VERSION)},
               {"cuda_compiler", cuda_compiler()},
               {"cuda_driver", cuda_driver()},
               {"implementations", implementations()}};
  for (const std::string_view level : simd_targets()) json["simd_levels"].push_back(level);
  return json;
}

void append_line(std::string& text, const std::string& name, const std::string& value) {
  constexpr std::size_t kColumn = 20;
  text.append(name)
      .append(name.size() < kColumn ? kColumn - name.size() : 1, ' ')
      .append(value)
      .append("\n");
}

void print_text(std::string& text, const Json& json) {
  append_line(text, "halfulp", json["version"]);
  append_line(text, "compiler", json["compiler"]);
  append_line(text, "build type", json["build_type"]);
  std::string levels;
  for (const Json& level : json["simd_levels"]) {
    if (level != json["simd_level"]) levels += " " + level.get<std::string>();
  }
  append_line(text, "SIMD",
              json["simd_level"].get<std::string>() + (levels.empty() ? "" : ", also" + levels));
  append_line(text, "threads", std::to_string(json["threads"].get<unsigned>()));
  append_line(text, "CUDA toolkit",
              json["cuda_toolkit"].is_null() ? "not found when this was built"
                                             : json["cuda_toolkit"].get<std::string>());
  const Json& compiler = json["cuda_compiler"];
  append_line(text, "CUDA compiler",
              compiler["found"] ? compiler["path"].get<std::string>()
                                : "not found: " + compiler["why"].get<std::string>());
  const Json& driver = json["cuda_driver"];
  append_line(text, "CUDA driver",
              driver["found"] ? driver["version"].get<std::string>()
                              : "not found: " + driver["why"].get<std::string>());
  if (driver["found"]) {
    for (const Json& device : driver["devices"]) append_line(text, "CUDA device", device);
  }
  text += "implementations\n";
  for (const Json& one : json["implementations"]) {
    const std::string state = one["found"] ? "found " + one["version"].get<std::string>()
                                           : "not found: " + one["why"].get<std::string>();
    append_line(text, "  " + one["name"].get<std::string>(), state);
  }
}

int run_doctor(const Globals& globals) {
  const Json json = examine();
  Output output;
  if (globals.json)
    output.text() += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  else
    print_text(output.text(), json);
  output.flush();
  return kPassed;
}

}  // namespace

void add_doctor(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("doctor", "Show what was built and what this machine has");
  command->footer(kExamples);
  command->callback([&globals, &runner] { runner = [&globals] { return run_doctor(globals); }; });
}

}  // namespace halfulp::tool
