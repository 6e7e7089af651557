# A reviewer: the agent may stop once the tests have left their mark.
cat >/dev/null
[ -e tested ] && exit 0
echo 'run the tests (sh test.sh) before you stop' >&2
exit 2
