# The portable tarball works in the root file system of an older release (Debian 11, glibc 2.31): it profiles that
# release's perl. The root file system comes from debootstrap and is kept in the user's cache folder, so that the next
# run is quick.
[ "$(id -u)" = 0 ] || skip "debootstrap and chroot need root"
[ -n "$(command -v debootstrap)" ] || skip "debootstrap is not installed"
release=bullseye
cache=$HEAPPROF_TEST_CACHE
old=$cache/$release
if [ ! -e "$old/.complete" ]; then
  rm -rf "$old" "$old.part"
  mkdir -p "$cache"
  debootstrap --variant=minbase "$release" "$old.part" >debootstrap.txt 2>&1 || { tail -n 5 debootstrap.txt; rm -rf "$old.part"; skip "debootstrap could not make $release"; }
  touch "$old.part/.complete"
  mv "$old.part" "$old"
fi

# It is linked from the objects of the tests' own build. With HEAPPROF_PACK_FROM_SOURCES it is compiled for packing
# (scripts/nightly).
from=(--built "$BUILD")
[ -z "${HEAPPROF_PACK_FROM_SOURCES:-}" ] || from=(--build "$BUILD/package")

# The same sources give the same bytes: linked and packed twice.
"$SOURCE/scripts/package" -o "$PWD/dist" "${from[@]}" >package.txt 2>&1 || { cat package.txt; fail "scripts/package"; }
tarball=$(echo dist/heapprof-*-x86_64-linux.tar.gz)
[ -s "$tarball" ] || fail "no tarball: $tarball"
sum=$(sha256sum <"$tarball")
rm "${from[1]}/portable/heapprof" "$tarball"
"$SOURCE/scripts/package" -o "$PWD/dist" "${from[@]}" >package.txt 2>&1 || { cat package.txt; fail "scripts/package a second time"; }
expect_eq "checksum of a second packing" "$(sha256sum <"$tarball")" "$sum"

# What is compiled for packing differs from that in two things: its names of folders are replaced, and there are no
# precompiled headers. All of its commands say so, and one small program is compiled by them.
"$SOURCE/scripts/package" --configure "$PWD/real" >package.txt 2>&1 || { cat package.txt; fail "scripts/package --configure"; }
ninja -C real -t commands heapprof_portable heapprof_agent heapprof_nvml | grep -- ' -c ' >commands.txt
[ "$(wc -l <commands.txt)" -gt 400 ] || fail "the tool and the agent are compiled by $(wc -l <commands.txt) commands"
expect_eq "commands that name folders as they are" "$(grep -vc -- "-ffile-prefix-map=$SOURCE=/usr/src/heapprof -ffile-prefix-map=$PWD/real=" commands.txt)" 0
expect_eq "commands with precompiled headers" "$(grep -c cmake_pch commands.txt)" 0
ninja -C real heapprof_nvml >package.txt 2>&1 || { cat package.txt; fail "the helper for GPUs, compiled for packing"; }
strings -a real/lib/heapprof/heapprof-nvml >names.txt
expect_not_in names.txt "$SOURCE/"
expect_in names.txt /usr/src/heapprof

folder=/opt/heapprof-test
rm -rf "${old:?}$folder"  # of a run that failed
mkdir -p "$old$folder"
tar -xzf "$tarball" -C "$old$folder" --strip-components=1
for header in "$SOURCE"/shared/include/heapprof/*; do
  cmp "$header" "$old$folder/include/heapprof/$(basename "$header")" || fail "the tarball lacks a public header, or has another one"
done
cat >"$old$folder/program.pl" <<'PERL'
my %seen;
$seen{$_ % 5000} .= "x" x 100 for 1 .. 20000;
printf "%d keys\n", scalar keys %seen;
PERL
# A mount namespace of our own: /proc and /sys are there for the tool, and go with the command.
inside() { unshare --mount --propagation private sh -c 'mount --bind /proc "$0/proc" && mount --bind /sys "$0/sys" && exec chroot "$@"' "$old" "$old" "$@"; }
inside true 2>err.txt || { rm -rf "${old:?}$folder"; skip "cannot mount /proc in a chroot here: $(head -n 1 err.txt)"; }

status=0
inside ldd --version >libc.txt 2>&1 || true
expect_in libc.txt "2.31"
inside "$folder/lib/heapprof/heapprof-nvml" </dev/null >nvml.txt || fail "the helper for GPUs does not start on glibc 2.31"
expect_in nvml.txt "missing libnvidia-ml.so.1"
inside "$folder/bin/heapprof" --version >version.txt || fail "the tool does not start on glibc 2.31"
inside "$folder/bin/heapprof" run -o "$folder/profile.json" -- perl "$folder/program.pl" >out.txt 2>err.txt || status=$?
[ $status = 0 ] || { cat err.txt; fail "heapprof run ended with $status"; }
expect_eq "the program's output" "$(cat out.txt)" "5000 keys"
inside "$folder/bin/heapprof" report "$folder/profile.json" >report.txt || fail "heapprof report"
expect_in report.txt "perl"
cp "$old$folder/profile.json" .
rm -rf "${old:?}$folder"

# 5,000 strings grow to 400 bytes and more, and stay: the peak is over 2 MB, the blocks are over 5,000, and names come
# from perl's own symbols.
peak=$(json profile.json '[.pps[].gb] | add')
[ "$peak" -gt 2000000 ] || fail "the peak is $peak bytes"
[ "$(json profile.json '[.pps[].tbk] | add')" -gt 20000 ] || fail "fewer blocks than strings"
json profile.json '.ftbl[]' | grep -q 'Perl_sv_grow\|Perl_safesys\|Perl_' || fail "no frame of perl has a name"
