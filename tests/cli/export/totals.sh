# Totals on every export and in every form of a report agree with the profile, for each device: to the byte.
cp "$small" r.json
H() { "$HEAPPROF_BIN" "$@" 2>err.txt; }
of_profile() { jq ".heapprof.devices[] | select(.name == \"$1\") | .totals.$2" r.json; }
"$HEAPPROF_BIN" export -q --format perfetto -o r.pftrace r.json
"$PYTHON" "$SOURCE/tests/support/perfetto.py" r.json r.pftrace >perfetto.txt || fail "perfetto: other totals"
H export -q --format sites r.json >r.ndjson
H export -q --format speedscope r.json >r.speedscope
H report --format json r.json >report.json
H report --format csv r.json >report.csv
H report --table devices --format json r.json >devices.json
csv_sum() { "$PYTHON" - "$1" "$2" <<'PY'
import csv, sys
print(sum(int(row[sys.argv[2]]) for row in csv.DictReader(open("report.csv", newline="", encoding="utf-8")) if row["device"] == sys.argv[1]))
PY
}
# word of --metric : total of the profile : in reports : in DHAT's points
for it in peak:peak_bytes:peak_bytes:gb total:total_bytes:total_bytes:tb leaked:leaked_bytes:leaked_bytes:eb \
  allocations:total_count:allocations_count:tbk temporary:temporary_count:temporary_count:; do
  IFS=: read -r metric total field point <<<"$it"
  for device in host cuda:0; do
    want=$(of_profile "$device" "$total")
    expect_eq "folded: $metric of $device" "$(H export -q --format folded --metric "$metric" --device $device r.json | awk '{ sum += $NF } END { print sum + 0 }')" "$want"
    expect_eq "speedscope: $metric of $device" "$(jq ".profiles[] | select(.name == \"$device $metric\") | .endValue" r.speedscope)" "$want"
    expect_eq "sites: $metric of $device" "$(jq -s "map(select(.device == \"$device\" and .metric == \"$metric\").value) | add // 0" r.ndjson)" "$want"
    expect_eq "dot: $metric of $device" "$(H export -q --format dot --metric "$metric" --device $device r.json | sed -nE 's/^  total="([0-9]+)";/\1/p')" "$want"
    expect_eq "json, device: $metric of $device" "$(jq ".devices[] | select(.name == \"$device\").$field" report.json)" "$want"
    expect_eq "json, places: $metric of $device" "$(jq "[.devices[] | select(.name == \"$device\").places[].$field] | add" report.json)" "$want"
    expect_eq "csv, places: $metric of $device" "$(csv_sum $device "$field")" "$want"
    expect_eq "table of devices: $metric of $device" "$(jq ".rows[] | select(.device == \"$device\").$total" devices.json)" "$want"
    if [ -n "$point" ]; then
      expect_eq "dhat: $metric of $device" "$(H export -q --format dhat --device $device r.json | jq "[.pps[].$point] | add")" "$want"
    fi
    # The text says it for people, exact where that is asked for.
    H report --bytes --sort "$metric" --device $device r.json >report.txt
    [ "$want" = 0 ] || grep -qE "(^| )$(printf %d "$want" | sed ':a; s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/; ta')( |$)" report.txt ||
      [ "$metric" = temporary ] || { cat report.txt >&2; fail "text: $want is not there as $metric of $device"; }
  done
done
# pprof, by a decoder of protobuf: the sums of each type of sample.
for device in host cuda:0; do
  H export -q --format pprof --device $device r.json | gzip -dc >r.pb
  "$PYTHON" - <<'PY' >pprof.txt
data = open("r.pb", "rb").read()
def fields(data):
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]; at += 1
            value |= (byte & 127) << shift; shift += 7
            if byte < 128: return value
    while at < len(data):
        tag = varint()
        if tag & 7 == 0: yield tag >> 3, varint()
        else:
            size = varint(); yield tag >> 3, data[at:at + size]; at += size
def packed(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift; shift += 7
        if byte < 128:
            yield value; value = shift = 0
top = list(fields(data))
strings = [value.decode() for field, value in top if field == 6]
types = [strings[dict(fields(value))[1]] for field, value in top if field == 1]
sums = [0] * len(types)
for field, value in top:
    if field == 2:
        for i, number in enumerate(packed(dict(fields(value))[2])): sums[i] += number
for pair in zip(types, sums): print(*pair)
PY
  for pair in peak_space:peak_bytes alloc_space:total_bytes inuse_space:leaked_bytes alloc_objects:total_count temporary_objects:temporary_count; do
    expect_eq "pprof: ${pair%%:*} of $device" "$(awk -v type="${pair%%:*}" '$1 == type { print $2 }' pprof.txt)" "$(of_profile $device "${pair##*:}")"
  done
done
