grep -q 'hello, world' greeting.txt && touch tested && echo 'all tests pass'
