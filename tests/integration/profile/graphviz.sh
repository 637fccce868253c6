# Graphviz draws the graph of calls, whatever functions are called; numbers are the profile's.
have dot || missing graphviz "Graphviz is not installed (apt-get install graphviz)"
for kind in small hostile empty no-stack 'random 3000'; do
  name=${kind%% *}
  # shellcheck disable=SC2086  # two words
  "$BUILD/tests/make_profile" $kind >"$name.json"
  for metric in peak total allocations; do
    "$HEAPPROF_BIN" export -q --format dot --metric "$metric" -o "$name.dot" "$name.json"
    dot -Tsvg "$name.dot" >"$name.svg" 2>err.txt || { cat err.txt >&2; fail "dot refuses $name.dot"; }
    expect_eq "complaints about $name" "$(grep -v 'Pango\|fontconfig' err.txt)" ""
    "$PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$name.svg" || fail "$name.svg is no XML"
    dot -Tdot_json "$name.dot" >"$name.graph" 2>err.txt
    field=$(jq -r --arg metric "$metric" -n '{peak: "gb", total: "tb", allocations: "tbk"}[$metric]')
    expect_eq "the $metric of $name" "$(jq -r .total "$name.graph")" "$(jq "[.pps[].$field] | add // 0" "$name.json")"
    # What functions have of their own is part of it, all of it where none is left out.
    expect_eq "$name: flat above the total" "$(jq '([.objects[]?.flat | tonumber] | add // 0) <= (.total | tonumber)' "$name.graph")" true
    [ "$(jq '.objects | length' "$name.graph")" -le 80 ] || fail "$name: more than 80 functions"
  done
done
expect_eq "flat of all of small" "$(dot -Tdot_json small.dot | jq '[.objects[].flat | tonumber] | add')" "$(jq '[.pps[].tbk] | add' small.json)"
grep -q '<text.*build_index' small.svg || fail "build_index is not drawn"

# What is left out is said, in the graph and beside it.
expect_status 0 "$HEAPPROF_BIN" export --format dot -o random.dot random.json
expect_in err.txt "pruned "
expect_in err.txt "left out: functions below 0.5 % and beyond 80, edges below 0.1 %"
expect_in random.dot "left out: functions below 0.5 % and beyond 80, edges below 0.1 %"
