# scripts/run-tests: a test that failed once is named and refuses nobody; one that fails twice, crashes, hangs or has no
# program does, and so do nine at once.
mkdir folder
folder() { printf 'add_test(%s)\n' "$@" >folder/CTestTestfile.cmake; rm -f once-*; }
# fails_once N: the test that passes when it is run again
fails_once() { echo "once$1 sh -c \"test -e $PWD/once-$1 || { touch $PWD/once-$1; exit 1; }\""; }
judged() {  # WANT WORDS [OPTIONS…]: the exit status, and a line of what is said
  local want=$1 words=$2
  shift 2
  expect_status "$want" "$SOURCE/scripts/run-tests" "$PWD/folder" "$@"
  expect_in out.txt "$words"
}
folder "good true" "other true"
judged 0 "100% tests passed, 0 tests failed out of 2"
expect_not_in out.txt UNSTABLE
folder "good true" "$(fails_once 1)"
judged 0 "UNSTABLE once1: failed beside others, passed alone"
expect_eq "the last line" "$(tail -n 1 out.txt)" "100% tests passed, 0 tests failed out of 2"
folder "good true" "$(fails_once 1)"
judged 8 "FAILED once1" --strict
folder "good true" "bad false" "$(fails_once 1)"
judged 8 "66% tests passed, 1 tests failed out of 3"
expect_in out.txt "FAILED bad"
expect_in out.txt "UNSTABLE once1"
folder "good true" "skips sh -c \"test ! -e $PWD/once-1 || exit 77; touch $PWD/once-1; exit 1\""
echo 'set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)' >>folder/CTestTestfile.cmake
judged 8 "FAILED skips"
folder "good true" 'skips sh -c "exit 77"'
echo 'set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)' >>folder/CTestTestfile.cmake
judged 0 "100% tests passed, 0 tests failed out of 2"
expect_not_in out.txt FAILED
folder "says sh -c \"printf '10% tests passed, 9 tests failed out of 10\\n\\nThe following tests FAILED:\\n\\t  1 - else (Failed)\\n'; exit 1\""
judged 8 "0% tests passed, 1 tests failed out of 1"
expect_not_in out.txt "FAILED else"
folder "crashes sh -c \"kill -SEGV \$\$\""
judged 8 "FAILED crashes"
folder "hangs sleep 100"
echo 'set_tests_properties(hangs PROPERTIES TIMEOUT 1)' >>folder/CTestTestfile.cmake
judged 8 "FAILED hangs"
folder "good true" "missing $PWD/no-such-program"
judged 8 "FAILED missing"
nine=()
for number in 1 2 3 4 5 6 7 8; do nine+=("$(fails_once $number)"); done
folder "${nine[@]}"
judged 0 "UNSTABLE once8"
folder "${nine[@]}" "$(fails_once 9)"
judged 8 "0% tests passed, 9 tests failed out of 9"
folder
echo >folder/CTestTestfile.cmake
judged 1 "no test was run"
