#ifndef CLINEEDITOR_H
#define CLINEEDITOR_H

#include <stdbool.h>
#include <wchar.h>

// The line editor of the system, libedit, behind functions that Swift can call: those of libedit have variable arguments. Texts are UTF-8.
// One thread at a time uses an editor.
typedef struct line_editor line_editor;

typedef struct {
    void *context;
    // Stores the next character. Returns 1; 0 at the end of the input; -1 if the line is given up.
    int (*read)(void *context, wchar_t *character);
    // Receives the part of the line before the cursor, with `count` bytes. Returns whether it has printed anything.
    bool (*complete)(void *context, const char *text, int count);
} line_editor_calls;

// Creates an editor of the terminal at standard input and output, with a history of `historyCount` lines. Returns NULL without memory.
line_editor *line_editor_create(line_editor_calls calls, int historyCount);
void line_editor_destroy(line_editor *editor);

// Reads a line after a prompt. Returns NULL at the end of the input, or if the line is given up. The text is valid until the next call.
const char *line_editor_read(line_editor *editor, const char *prompt);

// Adds a line to the history, unless it equals the last one.
void line_editor_remember(line_editor *editor, const char *line);

// Replaces `deletedCount` characters before the cursor. Only `complete` may call this.
void line_editor_replace(line_editor *editor, int deletedCount, const char *text);

// Gives the terminal the settings that it had before `line_editor_read`, or those of the editor again.
void line_editor_suspend(line_editor *editor);
void line_editor_resume(line_editor *editor);

// Shows the line again.
void line_editor_refresh(line_editor *editor);

#endif
