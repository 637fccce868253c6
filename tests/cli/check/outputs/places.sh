# Annotations and places: of the limit, where the culprit's source is not in the project; as seen from the project's
# folder.
with_leaky_profile p.json
printf 'version = 1\n[defaults]\nleaked = "0 B"\n' >names.toml
for name in "a b" "a_b"; do printf '[[budget]]\nname = "%s"\ncommand = ["./leaky"]\n' "$name" >>names.toml; done
mkdir -p project/.git project/ci
cp p.json names.toml project/ci
(cd project/ci && expect_status 1 check --budget names.toml --name a_b --annotations github --sarif s.sarif --codequality q.json p.json && cp out.txt s.sarif q.json ../..)
expect_in out.txt "::error file=ci/names.toml,line=3,title=heapprof a_b::host live at exit"
expect_eq "SARIF" "$(jq -r '.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri' s.sarif)" ci/names.toml
expect_eq "Code Quality" "$(jq -r '.[0].location.path' q.json)" ci/names.toml
