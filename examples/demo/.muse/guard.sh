# A guard: refuses a recursive forced delete. The event is one JSON object on standard input.
if grep -q 'rm -rf'; then
    echo 'deleting folders is off in this project' >&2
    exit 2
fi
