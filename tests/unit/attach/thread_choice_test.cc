// tests/unit/attach/thread_choice_test.cc: which system calls a stop of attach leaves as they are, and which it cuts.
#include "cli/attach/thread_choice.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>

using namespace heapprof::cli;

TEST_CASE("a call that waits and has done nothing yet begins anew") {
  for (const long number : {SYS_poll, SYS_epoll_wait, SYS_nanosleep, SYS_wait4, SYS_accept4, SYS_rt_sigsuspend})
    CHECK(begins_anew({number, {}}, FileKind::kOther));
  CHECK(begins_anew({SYS_futex, {0, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG}}, FileKind::kOther));
  CHECK_FALSE(begins_anew({SYS_futex, {0, FUTEX_WAIT_REQUEUE_PI | FUTEX_PRIVATE_FLAG}}, FileKind::kOther));
  CHECK(begins_anew({SYS_fcntl, {3, F_SETLKW}}, FileKind::kOther));
}

TEST_CASE("a read begins anew where it returns what there is") {
  CHECK(begins_anew({SYS_read, {3, 0, 1 << 20}}, FileKind::kPipe));
  CHECK(begins_anew({SYS_read, {3, 0, 1 << 20}}, FileKind::kStream));
  CHECK_FALSE(begins_anew({SYS_read, {3, 0, 8}}, FileKind::kOther));
  CHECK(begins_anew({SYS_recvfrom, {3, 0, 9, 0}}, FileKind::kStream));
  CHECK_FALSE(begins_anew({SYS_recvfrom, {3, 0, 9, MSG_WAITALL}}, FileKind::kStream));
  CHECK_FALSE(begins_anew({SYS_recvmsg, {3, 0, MSG_WAITALL}}, FileKind::kStream));
  CHECK(begins_anew({SYS_recvmmsg, {3, 0, 1, 0}}, FileKind::kStream));
  CHECK_FALSE(begins_anew({SYS_recvmmsg, {3, 0, 2, 0}}, FileKind::kStream));
}

TEST_CASE("a call that may have done a part, and one that is not known, does not begin anew") {
  for (const long number : std::initializer_list<long>{
           SYS_writev, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_sendfile, SYS_splice, SYS_vmsplice, SYS_tee,
           SYS_copy_file_range, SYS_getrandom, SYS_connect, SYS_ioctl, SYS_vfork, SYS_clone, SYS_execve, 1000})
    CHECK_FALSE(begins_anew({number, {}}, FileKind::kStream));
  CHECK(begins_anew({SYS_write, {1, 0, 4096}}, FileKind::kPipe));
  CHECK_FALSE(begins_anew({SYS_write, {1, 0, 4097}}, FileKind::kPipe));
  CHECK_FALSE(begins_anew({SYS_write, {1, 0, 1}}, FileKind::kStream));
  CHECK_FALSE(begins_anew({SYS_io_uring_enter, {3, 1, 1}}, FileKind::kStream));
  CHECK(begins_anew({SYS_io_uring_enter, {3, 0, 1}}, FileKind::kStream));
}

TEST_CASE("a result that is less than was asked for is seen") {
  CHECK(is_cut_short({SYS_write, {1, 0, 1 << 20}}, 65536));
  CHECK_FALSE(is_cut_short({SYS_write, {1, 0, 1 << 20}}, 1 << 20));
  CHECK_FALSE(is_cut_short({SYS_write, {1, 0, 1 << 20}}, -512));
  CHECK(is_cut_short({SYS_getrandom, {0, 1 << 20}}, 4096));
  CHECK_FALSE(is_cut_short({SYS_recvfrom, {3, 0, 9, 0}}, 3));
  CHECK(is_cut_short({SYS_recvfrom, {3, 0, 9, MSG_WAITALL}}, 3));
  CHECK_FALSE(is_cut_short({-1, {}}, 3));
}

TEST_CASE("a call has a name for messages") {
  CHECK(call_name(SYS_write) == "write()");
  CHECK(call_name(1000) == "system call 1000");
}
