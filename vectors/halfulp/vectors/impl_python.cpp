// ml_dtypes, gfloat and numpy through python/adapter.py in a child process.
//
// The interpreter is $HALFULP_PYTHON, else .venv/bin/python of the source tree, else python3. The adapter
// is found in the source tree or where it was installed; $HALFULP_ADAPTER names another one.
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

#include "halfulp/names.hpp"
#include "halfulp/vectors/child.hpp"
#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

std::string environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

std::string adapter() {
  const std::string in_tree = HALFULP_VECTORS_SOURCE_DIR "/halfulp/vectors/python/adapter.py";
  const std::string installed = HALFULP_ADAPTER_INSTALLED;
  return environment("HALFULP_ADAPTER", access(in_tree.c_str(), R_OK) == 0 ? in_tree : installed);
}

std::string interpreter() {
  const std::string in_tree = HALFULP_VECTORS_SOURCE_DIR "/../.venv/bin/python";
  return environment("HALFULP_PYTHON", access(in_tree.c_str(), X_OK) == 0 ? in_tree : "python3");
}

/// Library name to version, as the interpreter reports it; asked once.
const std::map<std::string, std::string>& found_libraries() {
  static const std::map<std::string, std::string> found = [] {
    std::map<std::string, std::string> versions;
    try {
      Child child({interpreter(), adapter(), "probe"});
      std::istringstream lines(child.read_all());
      for (std::string name, version; lines >> name >> version;) versions[name] = version;
    } catch (const KernelFailure&) {
    }
    return versions;
  }();
  return found;
}

/// One child for all casts of all libraries; started when needed, and again after a failure. Callers take
/// turns.
class Adapter {
 public:
  void cast(const std::string& what, std::size_t from_bytes, std::span<const std::byte> in,
            std::span<std::byte> out) {
    const std::lock_guard lock(mutex_);
    if (!child_) child_ = std::make_unique<Child>(std::vector<std::string>{interpreter(), adapter()});
    const std::string header = what + " " + std::to_string(in.size() / from_bytes) + "\n";
    try {
      child_->exchange(std::as_bytes(std::span(header)), {});
      child_->exchange(in, out);
    } catch (const KernelFailure&) {
      child_.reset();
      throw;
    }
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<Child> child_;
};

void claim(Implementation& library, const std::string& spec) {
  library.claims.push_back({spec, [name = library.name, spec]() -> Kernel {
                              static Adapter python;
                              const CastPlan plan = make_plan(parse_cast_spec(spec));
                              const std::string what = name + " " + plan.from_name + " " + plan.to_name +
                                                       " " + std::string(name_of(plan.policy.rounding)) +
                                                       " " + std::string(name_of(plan.policy.overflow));
                              const auto from_bytes = static_cast<std::size_t>(plan.from->storage_bytes());
                              return [what, from_bytes](auto in, auto out) {
                                python.cast(what, from_bytes, in, out);
                              };
                            }});
}

Implementation library_named(const std::string& name, const std::string& about) {
  Implementation library;
  library.name = name;
  library.about = about;
  const auto found = found_libraries().find(name);
  if (found != found_libraries().end())
    library.version = found->second;
  else
    library.missing = interpreter() + " cannot import " + name +
                      "; set HALFULP_PYTHON to a Python that has it, or run scripts/test.sh";
  return library;
}

}  // namespace

Implementation ml_dtypes() {
  Implementation library = library_named("ml_dtypes", "ml_dtypes through NumPy's astype");
  for (const char* to : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e4m3b11fnuz", "e4m3_ieee", "e3m4_ieee",
                         "e3m2", "e2m3", "e2m1", "e8m0", "bf16"}) {
    for (const char* from : {"f32", "f64", "f16", "bf16"}) {
      if (std::string_view(from) != to)
        claim(library, std::string("cast:") + from + ":" + to + "@ml_dtypes");
    }
  }
  for (const char* from : {"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e4m3b11fnuz", "e4m3_ieee", "e3m4_ieee",
                           "e3m2", "e2m3", "e2m1", "e8m0", "bf16"}) {
    claim(library, std::string("cast:") + from + ":f32@ml_dtypes");
  }
  return library;
}

Implementation gfloat() {
  Implementation library = library_named("gfloat", "gfloat round_ndarray and encode_ndarray on float64");
  const char* const kRoundings[] = {"", ",rounding=ties_to_away", ",rounding=toward_zero",
                                    ",rounding=toward_positive", ",rounding=toward_negative"};
  for (const char* from : {"f32", "f64", "f16", "bf16"}) {
    for (const char* rounding : kRoundings) {
      for (const char* to : {"e4m3", "e5m2", "f16", "bf16", "binary8p1se", "binary8p3se", "binary8p4se",
                             "binary8p3sf", "binary8p4uf", "binary6p3se"}) {
        if (std::string_view(from) == to) continue;
        claim(library, std::string("cast:") + from + ":" + to + "@gfloat" + rounding);
        claim(library,
              std::string("cast:") + from + ":" + to + "@gfloat" + rounding + ",overflow=saturate");
      }
      // Without saturation these formats raise an exception on overflow.
      for (const char* to : {"e3m2", "e2m3", "e2m1"}) {
        claim(library, std::string("cast:") + from + ":" + to + "@gfloat" + rounding +
                           ",overflow=saturate,inf-none=max");
      }
    }
  }
  return library;
}

Implementation numpy() {
  Implementation library = library_named("numpy", "NumPy's astype between binary formats");
  for (const char* pair : {"f32:f16", "f64:f16"}) claim(library, std::string("cast:") + pair + "@numpy");
  for (const char* pair : {"f64:f32", "f16:f32", "f16:f64", "f32:f64"}) {
    claim(library, std::string("cast:") + pair + "@numpy");
  }
  return library;
}

}  // namespace halfulp::vectors
