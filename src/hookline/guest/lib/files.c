#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static text reason(void) {
    return text_of(strerror(errno));
}

static int opened(text path, int flags) {
    if (text_find(path, '\0') < path.length) {
        errno = EINVAL;
        return -1;
    }
    return open(text_terminated(&call_memory, path), flags, 0666);
}

static bool write_all(int file, text content) {
    while (content.length > 0) {
        ssize_t written = write(file, content.data, content.length);
        if (written <= 0) {
            return false;
        }
        content = text_part(content, (size_t)written, content.length);
    }
    return true;
}

static bool write_file(text path, int flags, text content, text *why) {
    int file = opened(path, O_WRONLY | O_CREAT | flags);
    if (file < 0) {
        *why = reason();
        return false;
    }
    bool fine = write_all(file, content);
    if (!fine) {
        *why = reason();
    }
    if (close(file) != 0 && fine) {
        *why = reason();
        fine = false;
    }
    return fine;
}

bool file_append(text path, text content, text *why) {
    return write_file(path, O_APPEND, content, why);
}

bool file_write(text path, text content, text *why) {
    return write_file(path, O_TRUNC, content, why);
}

bool folder_make(text path, text *why) {
    if (mkdir(text_terminated(&call_memory, path), 0777) == 0 || errno == EEXIST) {
        return true;
    }
    *why = reason();
    return false;
}

// No more than one byte past the limit is read, however long the file is by now.
static file_reading read_all(int file, arena *memory, size_t limit, text *content, text *why) {
    buffer read_so_far = buffer_in(memory);
    char piece[4096];
    while (read_so_far.length <= limit) {
        size_t rest = limit - read_so_far.length;
        ssize_t count = read(file, piece, rest < sizeof piece ? rest + 1 : sizeof piece);
        if (count < 0) {
            *why = reason();
            return FILE_FAILED;
        }
        if (count == 0) {
            *content = buffer_text(&read_so_far);
            return FILE_READ;
        }
        put(&read_so_far, (text){piece, (size_t)count});
    }
    return FILE_TOO_LARGE;
}

file_reading file_read(arena *memory, text path, size_t limit, text *content, text *why) {
    int file = opened(path, O_RDONLY);
    if (file < 0) {
        *why = reason();
        return errno == ENOENT || errno == ENOTDIR ? FILE_MISSING : FILE_FAILED;
    }
    file_reading ended = read_all(file, memory, limit, content, why);
    close(file);
    return ended;
}
