//===- Formula.cpp - what an example says its outputs are -----------------------------===//
#include "Driver.h"

#include "abi/Json.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Torch/TorchWorker.h"

using namespace mlir;

namespace kiln {

// Follows the lines that define `formula`, `config` (values by name), `names` (of the entry's
// parameters) and `outputs` (positions of the tensors it writes). What is raised here is the
// message for the user.
static constexpr const char *kEvaluate = R"py(
import math, textwrap, torch, traceback

formula = textwrap.dedent(formula).strip('\n')
misfit = 'the arguments do not fit together: it must hold that '


def execute(scope):
    torch.set_default_dtype(torch.float64)
    try:
        exec(compile(formula, '<formula>', 'exec'), scope)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        if isinstance(error, AssertionError) and error.args and frames[-1].filename == '<formula>':
            raise RuntimeError(misfit + str(error)) from error
        lines = [frame.lineno for frame in frames if frame.filename == '<formula>']
        # What compile raises knows its line, unless the formula is nested too deeply for it.
        line = lines[-1] if lines else getattr(error, 'lineno', None) or 1
        text = formula.split('\n')[line - 1].strip()
        text = text if len(text) <= 200 else text[:200] + '...'
        reason = traceback.format_exception_only(type(error), error)[-1].strip()
        raise RuntimeError(f'line {line} of the formula, `{text}`: {reason}') from error
    finally:
        torch.set_default_dtype(torch.float32)


# Fills `results`, which belong to `outputs`, and says in `given` of which the formula speaks.
def evaluate(accumulates, given, *tensors):
    arguments, results = tensors[:len(names)], tensors[len(names):]
    scope = {'torch': torch, 'math': math, 'accumulates': 1, 'ranks': ranks, **config}
    for name, value in zip(names, arguments):
        is_float = torch.is_tensor(value) and value.is_floating_point()
        scope[name] = value.double() if is_float else value
    before = [(scope[names[index]], scope[names[index]]._version) for index in outputs]
    execute(scope)
    for slot, index in enumerate(outputs):
        name, result, (old, version) = names[index], results[slot], before[slot]
        value = scope.get(name)
        if value is old and value._version == version:
            continue
        if not torch.is_tensor(value) or not torch.can_cast(value.dtype, result.dtype):
            kind = value.dtype if torch.is_tensor(value) else type(value).__name__
            raise RuntimeError(f'the formula makes {name} {kind}, and not a tensor of {result.dtype}')
        if value.shape != result.shape:
            raise RuntimeError(f'{misfit}{name} has the shape {list(value.shape)}, as in the formula')
        result.copy_(value)
        given[slot] = True
    if not given.any():
        wanted = ' or '.join(names[index] for index in outputs)
        raise RuntimeError(f'the formula says nothing of an output; it must assign to {wanted}')
    count = scope['accumulates']
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < 2 ** 53:
        raise RuntimeError(f'accumulates in the formula is {count!r}; it is an integer from 0 to 2**53 - 1')
    accumulates.fill_(count)
)py";

/// The type in which values of this one, and what the formula says of them, travel.
static DType wideType(DType type) {
  return isFloat(type) ? DType::F32 : type == DType::I1 ? DType::I1 : DType::I64;
}

static Json configValues(const kiln_config *config) {
  Json values = Json::object();
  if (!config)
    return values;
  for (const kiln_config::Declared &param : config->declared) {
    int64_t number = 0;
    if (StringRef(param.value).getAsInteger(10, number))
      values[param.name] = param.value;
    else
      values[param.name] = number;
  }
  return values;
}

Expected<FormulaResult> evaluateFormula(const std::string &formula, const kiln_config *config,
                                        ir::FuncOp entry, std::span<const Argument> args,
                                        TorchWorker &worker, int64_t ranks) {
  std::vector<std::string> names = parameterNames(entry);
  std::vector<TorchArgument> arguments, results;
  std::vector<size_t> outputs;
  for (auto [index, arg] : llvm::enumerate(args)) {
    auto *tensor = std::get_if<Tensor>(&arg);
    if (!tensor) {
      arguments.push_back(arg);
      continue;
    }
    Expected<Tensor> copy = tensor->castTo(wideType(tensor->dtype()));
    if (!copy)
      return copy.status();
    arguments.push_back(*copy);
    if (entry.getArgDirection(index) == ir::Direction::In)
      continue;
    Expected<Tensor> result = Tensor::empty(copy->dtype(), copy->extents());
    if (!result)
      return result.status();
    results.push_back(*result);
    outputs.push_back(index);
  }
  Expected<Tensor> accumulates = Tensor::empty(DType::I64, {1});
  Expected<Tensor> given = Tensor::empty(DType::I1, {int64_t(outputs.size())});
  if (!accumulates || !given)
    return Status(StatusCode::OutOfMemory, "no memory for what the formula says");
  if (Status failed = given->fillZero(); !failed.isOk())
    return failed;
  std::vector<TorchArgument> all{*accumulates, *given};
  llvm::append_range(all, arguments);
  llvm::append_range(all, results);

  // Strings, integers, lists and objects are written alike in JSON and in Python.
  auto text = [](const Json &json) { return jsonText(json, onOneLine); };
  std::string source = "formula = " + text(formula) + "\nconfig = " + text(configValues(config)) +
                       "\nranks = " + std::to_string(ranks) + "\nnames = " + text(names) +
                       "\noutputs = " + text(outputs) + "\n" + kEvaluate;
  if (Status failed = worker.run(source, "evaluate", all); !failed.isOk()) {
    StringRef message = failed.message();
    message.consume_front("RuntimeError: ");
    if (!worker.isAlive()) // it took too long, or took Python down with it
      return Status(StatusCode::InvalidArgument, "the formula: " + message.str());
    return Status(StatusCode::InvalidArgument, message.str());
  }
  FormulaResult result{{}, accumulates->dataAs<int64_t>()[0]};
  for (auto [slot, index] : llvm::enumerate(outputs))
    if (given->dataAs<bool>()[slot])
      result.outputs.emplace(index, std::get<Tensor>(results[slot]));
  return result;
}

bool isRefusal(const Status &ofFormula) {
  StringRef message = ofFormula.message();
  return message.starts_with("the arguments do not fit together") ||
         message.contains("AssertionError");
}

} // namespace kiln
