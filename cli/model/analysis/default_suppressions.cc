// cli/model/analysis/default_suppressions.cc: rules that suppress what libc and libstdc++ keep until exit on purpose.
// They are written and parsed like a user's file.
//
// Each rule was seen to match (tests/targets/malloc/libc_caches.cc). The rules name exported functions, because few
// machines have the debug information of libc; if a rule needs it, the rule's test says so. A program may have
// functions with the same names (getgrid, getspace), so a named function counts only if it is libc's own. No rule may
// match a block that the program itself should free: what newlocale, iconv_open, fopen, getaddrinfo or dlopen return
// stays a leak, as far as names allow. A thread that ended without being joined keeps its table of thread-local
// storage, so these tables are shown if there are more than kMostThreadTables.
#include "cli/model/analysis/python/keeps.h"
#include "cli/model/analysis/suppressions.h"

namespace heapprof::cli {
namespace {

constexpr std::string_view kRules = R"(
# libstdc++
allocation <- module:libstdc++.so* <- module:ld-linux*  # libstdc++'s reserve for exceptions thrown when memory has run out
allocation <- module:libstdc++.so* <- module:ld-2.*     # libstdc++'s reserve for exceptions thrown when memory has run out
function:_GLOBAL__sub_I_eh_alloc.cc                     # libstdc++'s reserve for exceptions, linked statically or with debug information
function:std::locale::locale                            # facets of locales, shared by all streams of their locale

# stdio
function:_IO_*doallocbuf  # stdio's buffer of a stream; if it is a leak, the stream itself (fopen) shows as one

# locales, character sets, messages, time zones
function:setlocale                          # libc's loaded locales
module:libc.so* <- function:newlocale       # libc's loaded locales; the locale_t itself stays a leak
module:libc-2.* <- function:newlocale       # libc's loaded locales; the locale_t itself stays a leak
function:_nl_*                              # libc's loaded locales
module:libc.so* <- function:__gconv_open    # libc's loaded character sets; what iconv_open returns stays a leak
module:libc-2.* <- function:__gconv_open    # libc's loaded character sets; what iconv_open returns stays a leak
function:__gconv_lookup_cache               # libc's loaded character sets
function:mbrtowc                            # libc's conversions of the current locale
function:__wcsmbs_load_conv                 # libc's conversions of the current locale
function:bindtextdomain                     # gettext's domains
function:textdomain                         # gettext's domains
function:tzset                              # libc's loaded time zone
function:__tz_convert                       # libc's loaded time zone

# names of users, hosts, services
function:__nss_*                            # libc's name service: configuration and loaded modules
function:__resolv_*                         # libc's resolver: /etc/resolv.conf
function:__check_pf                         # getaddrinfo's list of this machine's addresses
module:libnss_*                             # a name service module's own cache
allocation <- function:getpw*               # the result that libc hands out, one for all calls
allocation <- function:getgr*               # the result that libc hands out, one for all calls
allocation <- function:getsp*               # the result that libc hands out, one for all calls
allocation <- function:gethost*             # the result that libc hands out, one for all calls
allocation <- function:getserv*             # the result that libc hands out, one for all calls
allocation <- function:getproto*            # the result that libc hands out, one for all calls
allocation <- function:getnetby*            # the result that libc hands out, one for all calls
allocation <- function:getrpcby*            # the result that libc hands out, one for all calls
function:getmntent                          # the result that libc hands out, one for all calls
function:strsignal                          # the text that libc hands out, one for each thread
function:strerror*                          # the text that libc hands out, one for each thread

# threads and libraries
function:_dl_allocate_tls*                  # thread-local storage's table, kept with a thread's stack for the next thread
function:__tls_get_addr                     # thread-local storage of loaded libraries
allocation <- function:pthread_setspecific  # the main thread's values of more than 32 keys
function:__new_exitfn                       # libc's list of more than 32 functions to call at exit
function:dlsym                              # the text for dlerror
allocation <- function:_dlerror_run         # the text for dlerror
allocation <- module:ld-linux*              # the loader's own tables of loaded libraries
allocation <- module:ld-2.*                 # the loader's own tables of loaded libraries
)";

// Enough for the threads that are alive at exit, and for the 40 MiB of stacks that glibc keeps of ended threads: 5 of
// the usual size.
constexpr uint64_t kMostThreadTables = 256;

// Whether the name is reserved, so that no program may give it to its own functions. Then the module does not matter,
// because libstdc++ may be linked statically.
bool is_reserved_name(const std::string& function) {
  return function.starts_with("std::") || function.starts_with("_GLOBAL__");
}

}  // namespace

void add_default_suppressions(Suppressions* rules) {
  // A test parses the rules, so this cannot fail.
  Suppressions defaults;
  std::vector<FramePattern> no_folds;
  if (!parse_suppressions(kRules, "", &defaults, &no_folds)) defaults.clear();
  for (SuppressionRule& rule : defaults) {
    for (FramePattern& frame : rule.frames)
      frame.is_of_libc = !frame.function.empty() && !is_reserved_name(frame.function);
    if (rule.frames[0].function == "_dl_allocate_tls*") rule.most_blocks = kMostThreadTables;
    rules->push_back(std::move(rule));
  }
  for (const PythonKeepWords& words : kPythonKeeps) {
    SuppressionRule& rule = rules->emplace_back();
    rule.text = words.text;
    rule.reason = words.reason;
    rule.python = words.keep;
  }
}

}  // namespace heapprof::cli
