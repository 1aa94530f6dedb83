// What an application has of Kiln where Kiln is a folder of its project.
#include <kiln/Jit/Jit.h>
#include <kiln/kiln.h>
#include <kiln/runtime/tensor.h>

kiln::Status scale(kiln::Jit &jit, kiln::Program &program, const kiln::Tensor &x,
                   const kiln::Tensor &y) {
  kiln::Expected<kiln::Compiled> compiled = jit.compile(program);
  return compiled ? (*compiled)(x, y) : compiled.status();
}
