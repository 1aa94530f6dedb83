//===- Page.h - the page around the data -------------------------------------------------===//
#ifndef KILN_LIB_VIEW_PAGE_H
#define KILN_LIB_VIEW_PAGE_H

#include "RunFolder.h"

namespace kiln::view {

/// The policy that a page is served with, and that it states itself: nothing is loaded or run but
/// what is in it. A served page may ask the server it came from.
std::string contentPolicy(bool isServed);

/// Data as they stand in a page: no text of them ends the element that they are in.
std::string embeddedJson(const Json &data);

/// The whole page. Whatever `data` holds is text in it, never code.
std::string renderPage(const Json &data, bool isServed);

} // namespace kiln::view

#endif // KILN_LIB_VIEW_PAGE_H
