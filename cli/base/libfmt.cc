// cli/base/libfmt.cc: the body of libfmt, compiled once.
//
// Debian has no static libfmt, and the shared one needs the shared libstdc++, whose symbol lookup was a third of a
// short run. With FMT_HEADER_ONLY each of eighty files would compile this body again. Here are the definitions that
// format.h declares as compiled elsewhere.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl<char>(locale_ref) -> char;

}  // namespace detail
FMT_END_NAMESPACE
