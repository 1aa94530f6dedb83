//===- Frames.cpp - the operations that begin and end something ------------------------===//
#include "Items.h"

namespace kiln::record {

static void addFunctions(std::vector<Operation> &list) {
  list.push_back(operation(
      "function.begin", "Begins an orchestration, a kernel (incore) or a group.",
      {"kind", "name", "parameters?", "split?", "lanes?", "slots?", "stages?"},
      [](Recorder &recorder, std::string kind, std::string name, std::vector<ParamSpec> params,
         std::optional<Split> split, int64_t lanes, int64_t slots, int64_t stages, Where where) {
        recorder.beginFunction(kind, name, params, {split, lanes, slots, int(stages)}, where);
      }));
  list.push_back(operation("function.end", "Ends it.", {},
                           [](Recorder &recorder) { recorder.endFunction(); }));
  list.push_back(
      operation("spmd.begin",
                "Begins a kernel that is launched in place: one block index for each dimension "
                "of the grid, then the task.",
                {"name", "grid", "split?", "lanes?", "slots?", "stages?", "deps?", "sync_start?",
                 "predicate?"},
                [](Recorder &recorder, std::string name, Indices grid, std::optional<Split> split,
                   int64_t lanes, int64_t slots, int64_t stages, std::vector<TaskRef> deps,
                   bool syncStart, std::optional<ElementTest> predicate, Where where) {
                  if (grid.empty() || grid.size() > 3)
                    throw BadArgument("has a grid of one to three dimensions, not " +
                                      std::to_string(grid.size()));
                  SpmdOptions options{split, lanes, slots, int(stages), deps, syncStart, predicate};
                  Frame frame{.kind = Frame::Spmd};
                  frame.spmd = detail::beginSpmd(name, grid, grid.size(), options, where);
                  for (Index block : frame.spmd.blocks)
                    give(recorder, block);
                  give(recorder, frame.spmd.task);
                  recorder.begin(frame);
                }));
  list.push_back(operation("spmd.end", "Ends it.", {}, [](Recorder &recorder) {
    detail::endSpmd(recorder.end(Frame::Spmd, "spmd").spmd);
  }));
  list.push_back(operation("role.begin", "Begins what one role of a group does.", {"name", "role"},
                           [](Recorder &recorder, std::string name, CoreRole role, Where where) {
                             Frame frame{.kind = Frame::Role, .name = name, .role = role};
                             frame.op = detail::beginRole(name, role, where);
                             recorder.begin(frame);
                           }));
  list.push_back(operation("role.end", "Ends it.", {}, [](Recorder &recorder) {
    Frame frame = recorder.end(Frame::Role, "role");
    detail::endRole(frame.op, frame.name, frame.role);
  }));
  list.push_back(operation("scope.begin", "Begins a block: what is allocated in it ends with it.",
                           {"manual?"}, [](Recorder &recorder, bool manual, Where where) {
                             recorder.begin(
                                 {.kind = Frame::Scope, .op = detail::beginScope(manual, where)});
                           }));
  list.push_back(operation("scope.end", "Ends it.", {}, [](Recorder &recorder) {
    detail::endScope(recorder.end(Frame::Scope, "scope").op);
  }));
}

static void addLoops(std::vector<Operation> &list) {
  list.push_back(
      operation("loop.begin", "Begins a loop: its index, then the carried values.",
                {"lower", "upper", "step", "carried?", "stages?", "parallel?", "unroll?"},
                [](Recorder &recorder, Index lower, Index upper, Index step, detail::Wires carried,
                   int64_t stages, bool parallel, bool unroll, Where where) {
                  Frame frame{.kind = Frame::Loop};
                  LoopOptions options{int(stages), parallel, unroll};
                  frame.loop = detail::beginLoop(lower, upper, step, carried, options, where);
                  give(recorder, frame.loop.iv);
                  give(recorder, frame.loop.carried);
                  recorder.begin(frame);
                }));
  list.push_back(
      operation("loop.end", "Ends it, with the next values of what it carries: their last ones.",
                {"next?"}, [](Recorder &recorder, detail::Wires next, Where where) {
                  Frame frame = recorder.end(Frame::Loop, "loop");
                  if (next.size() != frame.loop.carried.size())
                    throw BadArgument("carries " + std::to_string(frame.loop.carried.size()) +
                                      " values, not " + std::to_string(next.size()));
                  return detail::endLoop(frame.loop, next, where);
                }));
  list.push_back(operation(
      "while.begin", "Begins the condition of a loop: the carried values, of which it is made.",
      {"carried"}, [](Recorder &recorder, detail::Wires carried, Where where) {
        Frame frame{.kind = Frame::Condition};
        frame.loop = detail::beginWhile(carried, where);
        give(recorder, frame.loop.carried);
        recorder.begin(frame);
      }));
  list.push_back(
      operation("while.body", "Ends the condition and begins the body: the carried values.",
                {"condition"}, [](Recorder &recorder, Cond condition, Where where) {
                  Frame frame = recorder.end(Frame::Condition, "the condition of a loop");
                  frame.kind = Frame::While;
                  give(recorder, detail::beginWhileBody(frame.loop, condition, where));
                  recorder.begin(frame);
                }));
  list.push_back(operation("while.end", "Ends the loop: the last values of what it carries.",
                           {"next"}, [](Recorder &recorder, detail::Wires next, Where where) {
                             Frame frame = recorder.end(Frame::While, "while");
                             if (next.size() != frame.loop.carried.size())
                               throw BadArgument("carries " +
                                                 std::to_string(frame.loop.carried.size()) +
                                                 " values, not " + std::to_string(next.size()));
                             return detail::endWhile(frame.loop, next, where);
                           }));
}

static void addBranches(std::vector<Operation> &list) {
  list.push_back(operation("if.begin", "Begins what is done if a condition holds.", {"condition"},
                           [](Recorder &recorder, Cond condition, Where where) {
                             recorder.begin(
                                 {.kind = Frame::Then, .op = detail::beginIf(condition, where)});
                           }));
  list.push_back(
      operation("if.else", "Ends that, with what it results in; begins what is done otherwise.",
                {"results?"}, [](Recorder &recorder, detail::Wires results, Where where) {
                  Frame frame = recorder.end(Frame::Then, "if");
                  frame.kind = Frame::Else;
                  frame.thenValues = results;
                  detail::beginElse(frame.op, where);
                  recorder.begin(frame);
                }));
  list.push_back(operation(
      "if.end", "Ends the branch, with what this side results in: the results of the branch.",
      {"results?"}, [](Recorder &recorder, detail::Wires results, Where where) {
        bool hasElse = recorder.isIn(Frame::Else);
        Frame frame = recorder.end(hasElse ? Frame::Else : Frame::Then, "if");
        if (results.size() != frame.thenValues.size())
          throw BadArgument("has two sides, with " + std::to_string(frame.thenValues.size()) +
                            " and " + std::to_string(results.size()) + " results");
        return detail::endIf(frame.op, frame.thenValues, results, where);
      }));
}

static void addBodies(std::vector<Operation> &list) {
  auto begin = [](Recorder &recorder, const detail::Wires &tiles, int64_t axis,
                  const std::vector<TileOperand> &starts, const ScanOptions *options, Where where) {
    for (const detail::Wire &tile : tiles)
      if (tile.kind != detail::Wire::OfTile)
        throw BadArgument("combines tiles");
    if (tiles.empty() || tiles.size() != starts.size())
      throw BadArgument("has " + std::to_string(tiles.size()) + " tiles and " +
                        std::to_string(starts.size()) + " starts; each tile has one");
    Frame frame{.kind = Frame::Body};
    frame.body = detail::beginBody(tiles, int(axis), starts, options, where);
    give(recorder, frame.body.soFar);
    give(recorder, frame.body.next);
    recorder.begin(frame);
  };
  list.push_back(operation(
      "reduce.begin",
      "Begins the body of a reduction: the lines combined so far, then those that come next.",
      {"tiles", "axis", "starts"},
      [begin](Recorder &recorder, detail::Wires tiles, int64_t axis,
              std::vector<TileOperand> starts,
              Where where) { begin(recorder, tiles, axis, starts, nullptr, where); }));
  list.push_back(operation(
      "scan.begin",
      "Begins the body of a scan: the lines combined so far, then those that come next.",
      {"tiles", "axis", "starts", "exclusive?", "reverse?"},
      [begin](Recorder &recorder, detail::Wires tiles, int64_t axis,
              std::vector<TileOperand> starts, bool exclusive, bool reverse, Where where) {
        ScanOptions options{exclusive, reverse};
        begin(recorder, tiles, axis, starts, &options, where);
      }));
  list.push_back(
      operation("body.end", "Ends it, with the two combined: what the whole results in.",
                {"combined"}, [](Recorder &recorder, detail::Wires combined, Where where) {
                  Frame frame = recorder.end(Frame::Body, "a body");
                  if (combined.size() != frame.body.soFar.size())
                    throw BadArgument("combines " + std::to_string(frame.body.soFar.size()) +
                                      " tiles, not " + std::to_string(combined.size()));
                  return detail::endBody(frame.body, combined, where);
                }));
}

void addFrameOperations(std::vector<Operation> &list) {
  addFunctions(list);
  addLoops(list);
  addBranches(list);
  addBodies(list);
}

} // namespace kiln::record
