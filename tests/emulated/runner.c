/* The process that runs kernels for another processor, under an emulator.

   It shares one stretch of memory with the process that compiles, at the same address in both: all
   that a kernel is given and all that it allocates lies there. Requests come as three words on
   standard input, answers go as one word to standard output:

       (LOAD, length of a path, 0), the path    ->  where its hj_call is, or 0
       (CALL, hj_call, address of the words)    ->  what it returned
       (DROP, hj_call, 0)                       ->  0
*/

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LOAD, CALL, DROP, MOST = 4096 };

struct library {
    void *handle;
    int32_t (*entry)(void *);
};

/* What kernels ask Python for: nothing ever happened. */
int PyErr_CheckSignals(void) { return 0; }
int PyGILState_Ensure(void) { return 0; }
void PyGILState_Release(int state) { (void)state; }
void PyErr_Fetch(void **type, void **value, void **trace) { *type = *value = *trace = 0; }

/* The thread pool, alone: chunks in their order, until one fails. The first words of a ticket are
   those of an error. */
enum { ERROR_WORDS = 32, TICKET_WORDS = 64, CHUNKS = 7 };

int32_t hj_pool_run(int32_t (*body)(int64_t, int64_t, void *, int64_t *), int64_t count,
                    int64_t least, void *context, int64_t *error, int64_t stopped) {
    int64_t ticket[TICKET_WORDS] = {0};
    int64_t grain = (count + CHUNKS - 1) / CHUNKS;
    (void)stopped;
    if (grain < least) grain = least;
    for (int64_t begin = 0; begin < count; begin += grain) {
        int64_t end = count - begin < grain ? count : begin + grain;
        int32_t status = body(begin, end, context, ticket);
        if (status != 0) {
            memcpy(error, ticket, ERROR_WORDS * sizeof *error);
            return status;
        }
    }
    return 0;
}

int32_t hj_pool_poll(void *ticket) { return ticket == NULL; }

static void read_whole(void *to, size_t size) {
    for (char *at = to; size > 0;) {
        ssize_t count = read(0, at, size);
        if (count <= 0) exit(0); /* nobody is left to ask */
        at += count;
        size -= (size_t)count;
    }
}

static void answer(int64_t word) {
    if (write(1, &word, sizeof word) != sizeof word) exit(1);
}

static int64_t load(struct library *libraries, size_t length) {
    char path[MOST] = {0};
    read_whole(path, length);
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
    for (size_t i = 0; i < MOST; i++)
        if (libraries[i].handle == NULL) {
            libraries[i] = (struct library){handle, (int32_t(*)(void *))dlsym(handle, "hj_call")};
            return (int64_t)i + 1;
        }
    return 0;
}

int main(int count, char **args) {
    static struct library libraries[MOST];
    if (count != 4) return 1;
    void *address = (void *)strtoull(args[2], NULL, 0);
    size_t size = strtoull(args[3], NULL, 0);
    int flags = MAP_SHARED | MAP_FIXED_NOREPLACE;
    void *mapped = mmap(address, size, PROT_READ | PROT_WRITE, flags, atoi(args[1]), 0);
    if (mapped != address) return 2;
    answer(0);
    for (;;) {
        int64_t request[3];
        read_whole(request, sizeof request);
        struct library *library = &libraries[request[0] == LOAD ? 0 : request[1] - 1];
        if (request[0] == LOAD) {
            answer(load(libraries, (size_t)request[1]));
        } else if (request[0] == CALL) {
            answer(library->entry((void *)request[2]));
        } else {
            dlclose(library->handle);
            library->handle = NULL;
            answer(0);
        }
    }
}
