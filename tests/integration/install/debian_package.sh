# The Debian package, in fresh roots of two releases: installed by dpkg alone, it profiles ls, its pages and completions
# are where they are looked for, and it goes without a trace. lintian finds no error. The container recipe's steps, done
# in a root, give a heapprof that runs. Roots come from debootstrap and are kept in the user's cache folder.
[ "$(id -u)" = 0 ] || skip "debootstrap and chroot need root"
have debootstrap || skip "debootstrap is not installed"
cache=$HEAPPROF_TEST_CACHE
mkdir -p "$cache"
for release in bookworm trixie; do
  [ ! -e "$cache/$release/.complete" ] || continue
  rm -rf "${cache:?}/$release" "${cache:?}/$release.part"
  debootstrap --variant=minbase "$release" "$cache/$release.part" >debootstrap.txt 2>&1 ||
    { tail -n 5 debootstrap.txt; rm -rf "${cache:?}/$release.part"; skip "debootstrap could not make $release"; }
  touch "$cache/$release.part/.complete"
  mv "$cache/$release.part" "$cache/$release"
done

from=(--built "$BUILD") # as in package.sh
[ -z "${HEAPPROF_PACK_FROM_SOURCES:-}" ] || from=(--build "$BUILD/package")
"$SOURCE/scripts/package" -o "$PWD/dist" "${from[@]}" >package.txt 2>&1 || { cat package.txt; fail "scripts/package"; }
deb=$(echo dist/heapprof_*_amd64.deb)
[ -s "$deb" ] || fail "no package: $deb"
if have lintian; then
  lintian --allow-root --fail-on error,warning "$deb" >lintian.txt 2>&1 || { cat lintian.txt; fail "lintian"; }
else
  not_tried "lintian"
fi
cp "$deb" first.deb
"$SOURCE/scripts/package" -o "$PWD/dist" "${from[@]}" >package.txt 2>&1
cmp first.deb "$deb" || fail "a second packing gives another package"

# A copy of the root, whose files cost nothing until they are changed (overlayfs), with /proc and /sys; it goes with the
# command.
inside() { # RELEASE COMMAND…
  local root=$cache/$1
  shift
  mkdir -p over/up over/work over/root
  unshare --mount --propagation private sh -c 'root=$1 over=$2; shift 2
    mount -t tmpfs none "$over" && mkdir "$over/up" "$over/work" "$over/root" &&
    mount -t overlay overlay -o "lowerdir=$root,upperdir=$over/up,workdir=$over/work" "$over/root" &&
    cp -r "$PWD/given" "$over/root/given" && mount --bind /proc "$over/root/proc" && mount --bind /sys "$over/root/sys" &&
    exec chroot "$over/root" "$@"' sh "$root" "$PWD/over" "$@"
}
mkdir -p given
cp "$deb" given/heapprof.deb
inside bookworm true 2>err.txt || skip "no root of its own here (unshare, overlayfs): $(head -n 1 err.txt)"

cat >given/try.sh <<'SH'
set -e
export XDG_CACHE_HOME=/given/cache # names that were found are the user's, and stay
find / -xdev -path /given -prune -o -path /var/lib/dpkg -prune -o -path /var/log -prune -o -path /var/cache -prune -o -print | sort >/tmp/before
dpkg -i /given/heapprof.deb >/tmp/dpkg.txt 2>&1 || { cat /tmp/dpkg.txt; exit 1; }
cd /tmp
heapprof run -o ls.json -- ls / >ls.txt 2>err.txt || { cat err.txt; exit 1; }
heapprof report ls.json >report.txt
grep -q "^ls /" report.txt
for page in man1/heapprof.1 man1/heapprof-merge.1 man3/heapprof.3 man5/heapprof-format.5 man7/heapprof.7; do
  gzip -t /usr/share/man/$page.gz
done
test -s /usr/share/bash-completion/completions/heapprof
test -s /usr/share/zsh/vendor-completions/_heapprof
test -s /usr/share/fish/vendor_completions.d/heapprof.fish
test -s /usr/share/doc/heapprof/copyright
dpkg --verify heapprof >verify.txt
if grep -v ' /usr/share/\(doc\|man\)/' verify.txt; then exit 1; fi # minbase roots may leave these out
heapprof doctor >doctor.txt 2>&1 || { cat doctor.txt; exit 1; }
echo "libc $(ldd --version | sed -n '1s/.* //p'): $(grep -c . report.txt) lines"
rm ls.json ls.txt err.txt report.txt verify.txt doctor.txt
dpkg --purge heapprof >dpkg.txt 2>&1
rm dpkg.txt
find / -xdev -path /given -prune -o -path /var/lib/dpkg -prune -o -path /var/log -prune -o -path /var/cache -prune -o -print | sort | grep -v '^/tmp/after$' >/tmp/after
diff /tmp/before /tmp/after | grep '^[<>]' | grep -v '/tmp/\(before\|after\)\|/root/\|/usr/lib/python3$\|^. /usr/lib/python3/dist-packages$' && exit 1
true
SH
for release in bookworm trixie; do
  inside "$release" sh /given/try.sh >"$release.txt" 2>&1 || { cat "$release.txt"; fail "the package in $release"; }

done
expect_in bookworm.txt "libc 2.36"
expect_in trixie.txt "libc 2.41"

# The recipe's steps, by their own words: what ADD unpacks and the PATH that ENV sets.
recipe=$SOURCE/examples/container/Containerfile
version=$(sed -n 's/^ARG VERSION=//p' "$recipe")
expect_eq "steps of the recipe" "$(grep -cE '^[A-Z]+ ' "$recipe")" 5
added=$(sed -n 's/^ADD \([^ ]*\) \/opt\/$/\1/p' "$recipe" | sed "s/\${VERSION}/$version/")
path=$(sed -n 's/^ENV PATH=//p' "$recipe" | sed "s/\${VERSION}/$version/; s|\$PATH|/usr/bin:/bin|")
tar -C given -xzf "dist/$added" || fail "the recipe adds $added, which scripts/package does not write"
# shellcheck disable=SC2016
inside trixie sh -c 'mv /given/heapprof-* /opt/ && PATH=$1 && export PATH && heapprof run -o /tmp/ls.json -- ls / >/dev/null && heapprof report /tmp/ls.json' sh "$path" >out.txt 2>err.txt ||
  { cat err.txt; fail "the recipe's steps"; }
expect_in out.txt "ls /"
