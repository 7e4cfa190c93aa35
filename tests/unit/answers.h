/* SPDX-License-Identifier: Apache-2.0
 * answers.h: a server on 127.0.0.1 that gives each connection the next answer of a list, word by word, and keeps what
 * it was asked. */
#pragma once

#include <arpa/inet.h>
#include <check.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWERS_ASKED_SIZE = 16384 };

/* What is sent to one connection after the other; each is then closed. */
struct answers {
    const char *const *answers;
    size_t count;
    int listener;
    char url[64];
    char asked[ANSWERS_ASKED_SIZE]; /* the requests, one after the other */
    pthread_t thread;
};

/* Has a request come in whole, its body too? `from`: where it begins. */
static inline bool answers_is_whole(const char *from)
{
    const char *end = strstr(from, "\r\n\r\n"), *length = strstr(from, "Content-Length: ");
    size_t body = end && length && length < end ? strtoul(length + strlen("Content-Length: "), NULL, 10) : 0;
    return end && strlen(end + 4) >= body;
}

static inline void answers_read(struct answers *script, int connection)
{
    size_t length = strlen(script->asked), from = length;
    while (length + 1 < ANSWERS_ASKED_SIZE && !answers_is_whole(script->asked + from)) {
        ssize_t count = recv(connection, script->asked + length, ANSWERS_ASKED_SIZE - 1 - length, 0);
        if (count <= 0)
            return;
        length += (size_t)count;
        script->asked[length] = '\0';
    }
}

static inline void *answers_serve(void *context)
{
    struct answers *script = context;
    for (size_t at = 0; at < script->count; at++) {
        int connection = accept(script->listener, NULL, NULL);
        answers_read(script, connection);
        const char *answer = script->answers[at];
        bool is_endless = strcmp(answer, "endless") == 0;
        if (is_endless)
            answer = "HTTP/1.1 200 OK\r\n\r\n";
        send(connection, answer, strlen(answer), MSG_NOSIGNAL);
        while (is_endless && send(connection, script->asked, 1000, MSG_NOSIGNAL) > 0)
            continue;
        shutdown(connection, SHUT_RDWR);
        close(connection);
    }
    return NULL;
}

static inline void answers_begin(struct answers *script)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    script->listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(script->listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(script->listener, 8), 0);
    getsockname(script->listener, (struct sockaddr *)&address, &size);
    snprintf(script->url, sizeof(script->url), "http://127.0.0.1:%u/a/b?secret=1", ntohs(address.sin_port));
    ck_assert_int_eq(pthread_create(&script->thread, NULL, answers_serve, script), 0);
}

static inline void answers_end(struct answers *script)
{
    pthread_join(script->thread, NULL);
    close(script->listener);
}

#define ANSWERS(...)                                                                                                   \
    {.answers = (const char *const[]){__VA_ARGS__},                                                                    \
     .count = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)}
