# Programs and libraries as four linkers lay them out, as patchelf and its like leave them, and with tables that are cut
# short: they end as without us, and each block is counted.
parts=$SOURCE/tests/targets/loader/changed
have gcc || skip "no gcc"
mkdir v
for kind in "" -DEXPORTS; do
  gcc -g -O1 -fPIC -fvisibility=hidden $kind -c "$parts/keeps.c" -o "keeps$kind.o"
done
gcc -g -O1 -fPIE -c "$parts/main.c" -o main.o

# program NAME FLAGS…; library NAME FLAGS…: a linker that does not know a flag is left out
program() { gcc main.o "keeps${exports:-}.o" -o "v/$1" "${@:2}" 2>link.txt || { rm -f "v/$1"; return 0; }; }
library() {
  gcc -shared "keeps${exports:-}.o" -o "v/lib$1.so" "${@:2}" 2>link.txt || { rm -f "v/lib$1.so"; return 0; }
  gcc main.o -o "v/with_$1" -Wl,--push-state,--no-as-needed "v/lib$1.so" -Wl,--pop-state -lm
}
linkers=0
for linker in bfd gold lld mold; do
  rm -f v/first
  program first -fuse-ld=$linker
  [ -e v/first ] || { not_tried "no $linker"; continue; }
  rm v/first
  linkers=$((linkers + 1))
  use=("-fuse-ld=$linker")
  for hash in gnu sysv both; do
    exports=-DEXPORTS program ${linker}_${hash}_exports "${use[@]}" -Wl,--hash-style=$hash -rdynamic
  done
  program ${linker}_gnu "${use[@]}" -Wl,--hash-style=gnu
  exports=-DEXPORTS
  program ${linker}_fixed "${use[@]}" -no-pie -rdynamic -Wl,-z,separate-code
  program ${linker}_close "${use[@]}" -rdynamic -Wl,-z,noseparate-code
  program ${linker}_now "${use[@]}" -Wl,-z,now -Wl,-z,norelro
  program ${linker}_packed "${use[@]}" -Wl,-z,pack-relative-relocs
  program ${linker}_bare "${use[@]}" -Wl,--no-eh-frame-hdr -Wl,--build-id=none -s
  program ${linker}_large "${use[@]}" -Wl,-z,max-page-size=0x10000 -rdynamic
  library ${linker} "${use[@]}"
  library ${linker}_sysv "${use[@]}" -Wl,--hash-style=sysv -Wl,-z,now
  library ${linker}_moved "${use[@]}" -Wl,-Ttext-segment=0x41000000  # as prelink leaves it
  exports=''
done
[ $linkers -ge 2 ] || skip "needs two linkers of bfd, gold, lld and mold"
program bfd_readable -fuse-ld=bfd -Wl,-N  # one segment, which is read, written and executed
program lld_dynamic -fuse-ld=lld -Wl,-z,rodynamic

# patch FILE FLAGS…: what patchelf refuses, or dies of, is left out
patch() {
  [ ! -e "$1" ] || (patchelf "${@:2}" "$1" || exit 1) >patch.txt 2>&1 || rm "$1"
}
long=/opt/$(printf 'a%.0s' {1..300})
if have patchelf; then
  ways=("--set-rpath $long" "--force-rpath --set-rpath $long" "--set-interpreter /lib64/../lib64/../lib64/ld-linux-x86-64.so.2"
    "--add-needed libm.so.6" "--replace-needed libc.so.6 /lib/x86_64-linux-gnu/libc.so.6" "--page-size 65536 --set-rpath $long" "--clear-symbol-version malloc" "--set-rpath $long --add-needed libdl.so.2")
  for file in bfd_gnu bfd_gnu_exports bfd_fixed gold_gnu_exports lld_gnu lld_gnu_exports mold_gnu_exports; do
    [ -e v/$file ] || continue
    for i in "${!ways[@]}"; do
      cp v/$file v/patched_${i}_$file
      patch v/patched_${i}_$file ${ways[$i]}
    done
    cp v/$file v/twice_$file
    patch v/twice_$file --set-rpath "$long"
    patch v/twice_$file --remove-rpath
    patch v/twice_$file --set-rpath "$long$long"
  done
  for file in v/libbfd.so v/libgold.so v/liblld_sysv.so v/libmold.so; do
    [ -e $file ] || continue
    name=$(basename $file .so)
    cp $file v/${name}_patched.so
    gcc main.o -o v/with_${name}_patched v/${name}_patched.so -lm
    patch v/${name}_patched.so --set-rpath "$long" --add-needed libm.so.6
  done
else
  not_tried "no patchelf"
fi
for change in no_sections no_hash no_count no_notes cut_tables far_strings; do
  for file in bfd_gnu_exports bfd_fixed lld_gnu_exports; do
    [ -e v/$file ] || continue
    "$PYTHON" "$SOURCE/tests/support/changed_elf.py" v/$file $change v/${change}_$file
    chmod +x v/${change}_$file
  done
done
if have strip; then cp v/bfd_gnu_exports v/stripped && strip v/stripped; fi

# A program that does not run without us says nothing of us.
cat >all.sh <<'S'
for file in v/*; do
  case $file in *.so) continue ;; esac
  echo "$file $($file one two) $?"
done
S
bash all.sh >plain.txt 2>/dev/null
bash all.sh >again.txt 2>/dev/null
cmp plain.txt again.txt
"$HEAPPROF_BIN" run -q -o 'p-%n.json' -- bash all.sh >out.txt 2>err.txt
diff plain.txt out.txt || fail "a program ends in another way"
"$PYTHON" - plain.txt <<'P' || fail "a block is missing"
import json, os, sys
seen = {}
for name in os.listdir("."):
    if name.startswith("p-") and name.endswith(".json"):
        profile = json.load(open(name))
        seen.setdefault(os.path.basename(profile["cmd"].split()[0]), []).append(
            [sum(pp[n] for pp in profile["pps"]) for n in ("tb", "tbk", "eb", "ebk")])
bad = tried = 0
for line in open(sys.argv[1]):
    path, *rest = line.split()
    if rest != ["kept", "3"]:
        print("does not run by itself:", line.strip())
        continue
    tried += 1
    got = seen.get(os.path.basename(path), [])
    if got != [[13 * 1235, 13, 13 * 1235, 13]]:
        bad += 1
        print(path, got)
print(tried, "files")
sys.exit(bad != 0 or tried < 60)
P
