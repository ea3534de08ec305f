// What the command writes as JSON follows the committed schemas, by a validator that is not ours.
#include <gtest/gtest.h>

#include "command_runner.hpp"
#include "tensor_files.hpp"

namespace halfulp::tensors {
namespace {

/// Arguments: manifests of folders, then forms. Every file is valid, and no longer so after any of some changes.
constexpr char kScript[] = R"(
import copy, glob, json
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
f = sys.argv[1]
def schema(name): return json.load(open(SCHEMAS + name))
head, pack = schema('manifest.schema.json'), schema('pack.schema.json')
Draft202012Validator.check_schema(head)
Draft202012Validator.check_schema(pack)
registry = Registry().with_resource(head['$id'], Resource.from_contents(head))
def drop(key): return lambda m: m.pop(key)
def put(key, value): return lambda m: m.__setitem__(key, value)
manifest_lies = [drop('spec'), drop('columns'), put('rows', -1), put('rows', 1.5), put('kind', 'mma8'), put('more', 1), put('pack', 2),
                 lambda m: m['columns'][0].__setitem__('file', '../x.bin'), lambda m: m['columns'][0].__setitem__('sha256', 'A' * 64)]
vector_lies = [drop('level'), put('level', 'all'), put('completeness', 'proved'), put('seed', -1), drop('flags')]
def check(validator, good, lies):
    validator.validate(good)
    for i, lie in enumerate(lies):
        bad = copy.deepcopy(good)
        lie(bad)
        assert not validator.is_valid(bad), i
manifests = glob.glob(f + '*/manifest.json')
assert len(manifests) == 6, manifests
for name in manifests:
    good = json.load(open(name))
    lies = manifest_lies + ([put('level', 'specials'), put('refused', 0)] if good['kind'] == 'tensor' else vector_lies)
    check(Draft202012Validator(head), good, lies)
forms = glob.glob(f + '*/vectors.json')
assert len(forms) == 4, forms
for name in forms:
    good = json.load(open(name))
    first = good['manifest']['columns'][0]['name']
    lies = [drop('rows'), put('other', 1), lambda p: p['manifest'].__setitem__('rows', -1), lambda p: p['rows'][0].__setitem__(first, 'x'),
            lambda p: p['rows'][0].__setitem__(first, 3), lambda p: p['rows'].append([])]
    check(Draft202012Validator(pack, registry=registry), good, lies)
)";

TEST(Schema, everything_written_is_valid_and_lies_are_not) {
  const TemporaryFolder folder;
  const auto made = [&](std::vector<std::string> arguments, const std::string& input = {}) {
    const command::Result result = command::run(arguments, input);
    ASSERT_EQ(result.status, 0) << arguments[1] << result.error;
  };
  made({"gen", "cast:f32:e5m2,rounding=to_odd,overflow=overflow", "--level", "specials", "-o", folder / "cast", "--also", "json"});
  made({"gen", "decode:e3m2", "-o", folder / "decode", "--also", "json"});
  made({"gen", "recipe:nvfp4/vllm,rows=2", "-o", folder / "recipe", "--also", "json"});
  made({"gen", "recipe:kvquant/k,to=uint2,rows=2,task=dequantize", "-o", folder / "dequantize", "--also", "json"});
  made({"quantize", "-r", "nvfp4/torchao", "-o", folder / "tensor"}, "0.5 -1 2 0.25\n1 3 -4 0.5\n");
  made({"quantize", "-r", "fp8_static/vllm", "--scale", "0.5", "-o", folder / "static"}, "0.5 -1 2 0.25\n");
  const std::string schemas = "\nSCHEMAS = '" + std::string(HALFULP_SOURCE_DIR) + "/vectors/schema/'\n";
  HALFULP_PYTHON_OR_SKIP(folder, "jsonschema, referencing", schemas + kScript);
}

}  // namespace
}  // namespace halfulp::tensors
