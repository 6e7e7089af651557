"""The words of a command, as the Murmur hooks document splits them: nothing is expanded."""


def split(command: str) -> tuple[str, ...]:
    """Split at white space; quotes group and go, a backslash takes the next character as it is, quoted or not.

    Empty words are dropped, and a quote that is never closed runs to the end.
    """
    words: list[str] = []
    word: list[str] = []
    quote = ""
    characters = iter(command)
    for char in characters:
        if char == "\\":
            word.append(next(characters, ""))
        elif quote:
            if char == quote:
                quote = ""
            else:
                word.append(char)
        elif char in "'\"":
            quote = char
        elif char.isspace():
            words.append("".join(word))
            word.clear()
        else:
            word.append(char)
    words.append("".join(word))
    return tuple(each for each in words if each)
