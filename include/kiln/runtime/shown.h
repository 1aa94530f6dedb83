// What: text of files and programs, as it may be printed. Any thread.

#ifndef KILN_RUNTIME_SHOWN_H
#define KILN_RUNTIME_SHOWN_H

#include <string>
#include <string_view>

namespace kiln {

/// The text, with bytes that would steer a terminal written as \x1b. Ends of lines and tabs stay.
std::string shown(std::string_view text);

} // namespace kiln

#endif // KILN_RUNTIME_SHOWN_H
