// cli/base/sanitizers.h: which sanitizer this was compiled with; g++ and clang state it differently.
#pragma once

namespace heapprof::cli {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kHasAddressSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kHasAddressSanitizer = true;
#else
inline constexpr bool kHasAddressSanitizer = false;
#endif
#else
inline constexpr bool kHasAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kHasThreadSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kHasThreadSanitizer = true;
#else
inline constexpr bool kHasThreadSanitizer = false;
#endif
#else
inline constexpr bool kHasThreadSanitizer = false;
#endif

// Tests then run fewer rounds: sanitizers need minutes for what takes seconds without them.
inline constexpr bool kIsSanitized = kHasAddressSanitizer || kHasThreadSanitizer;

}  // namespace heapprof::cli
