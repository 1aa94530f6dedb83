//===- JsonOutput.h - what a tool prints where --json is given -----------------------------===//
//
// One document on standard output, whatever happens: what the command says, or, where it fails
// before it can say anything, the failure. For people the failure is on standard error either way.
// Processes that mpirun started share standard output, so there a document is one line, which can
// be told from those of others.
//
// Threads: one; only the failure may be asked for by another, which ends the process.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_JSONOUTPUT_H
#define KILN_RUNTIME_ABI_JSONOUTPUT_H

#include "abi/Json.h"
#include "kiln/runtime/status.h"

#include <span>
#include <string>

namespace kiln {

/// What follows is the output of a command with these words; nothing has been printed or has
/// failed yet.
void beginOutput(std::span<const std::string> words);
/// A document with its line break, as it is to be printed in one piece.
std::string documentText(const Json &document, int indent = 2);
/// Prints a document. Everything that --json prints goes through here, or through documentText().
void printJson(const Json &document, int indent = 2);
/// The document is printed piece by piece.
void noteJsonPrinted();
/// Something went wrong; the first that is told counts as the error.
void noteFailure(const Status &status);
/// The document of a command that failed with this exit code, with a line break; empty where it
/// has printed one, none is wanted, or it has not failed. A rank that a signal ended says nothing:
/// mpirun ends all once one has failed, whose document is the one that counts.
std::string failureJson(int code);

} // namespace kiln

#endif // KILN_RUNTIME_ABI_JSONOUTPUT_H
