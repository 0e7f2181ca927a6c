#define _GNU_SOURCE
#include "clineeditor.h"

#include <histedit.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

struct line_editor {
    line_editor_calls calls;
    EditLine *edit;
    History *history;
    const char *prompt;
};

static line_editor *editor_of(EditLine *edit) {
    void *editor = NULL;
    el_get(edit, EL_CLIENTDATA, &editor);
    return editor;
}

static int read_character(EditLine *edit, wchar_t *character) {
    line_editor *editor = editor_of(edit);
    return editor->calls.read(editor->calls.context, character);
}

static char *prompt(EditLine *edit) {
    return (char *)editor_of(edit)->prompt;
}

static unsigned char complete(EditLine *edit, int key) {
    (void)key;
    line_editor *editor = editor_of(edit);
    const LineInfo *line = el_line(edit);
    bool has_printed = editor->calls.complete(editor->calls.context, line->buffer, (int)(line->cursor - line->buffer));
    return has_printed ? CC_REDISPLAY : CC_REFRESH;
}

static bool begin(line_editor *editor, int history_count) {
    HistEvent event;
    editor->edit = el_init("cambium", stdin, stdout, stderr);
    editor->history = history_init();
    if (editor->edit == NULL || editor->history == NULL) return false;
    history(editor->history, &event, H_SETSIZE, history_count);
    history(editor->history, &event, H_SETUNIQUE, 1);
    EditLine *edit = editor->edit;
    el_set(edit, EL_CLIENTDATA, editor);
    el_set(edit, EL_EDITOR, "emacs");
    el_set(edit, EL_HIST, history, editor->history);
    el_set(edit, EL_PROMPT, prompt);
    el_set(edit, EL_GETCFN, read_character);
    el_set(edit, EL_ADDFN, "complete-name", "Complete the name before the cursor.", complete);
    // The caller handles the control characters of signals, so that they work on terminals without jobs, too.
    el_set(edit, EL_SETTY, "-d", "-isig", "-ixon", NULL);
    static const char *const bindings[][2] = {
        {"^I", "complete-name"},        {"^R", "em-inc-search-prev"},   {"^W", "ed-delete-prev-word"}, {"^D", "em-delete-or-list"},
        {"\\e[3~", "ed-delete-next-char"}, {"\\e[1~", "ed-move-to-beg"}, {"\\e[7~", "ed-move-to-beg"},  {"\\e[4~", "ed-move-to-end"},
        {"\\e[8~", "ed-move-to-end"},   {"\\e[1;5C", "em-next-word"},   {"\\e[1;5D", "ed-prev-word"},
    };
    for (size_t index = 0; index < sizeof bindings / sizeof bindings[0]; index++)
        el_set(edit, EL_BIND, bindings[index][0], bindings[index][1], NULL);
    return true;
}

line_editor *line_editor_create(line_editor_calls calls, int history_count) {
    // libedit converts characters by the locale. The program writes UTF-8 in every locale.
    setlocale(LC_CTYPE, "C.UTF-8");
    line_editor *editor = calloc(1, sizeof *editor);
    if (editor == NULL) return NULL;
    editor->calls = calls;
    if (begin(editor, history_count)) return editor;
    line_editor_destroy(editor);
    return NULL;
}

void line_editor_destroy(line_editor *editor) {
    if (editor->history) history_end(editor->history);
    if (editor->edit) el_end(editor->edit);
    free(editor);
}

const char *line_editor_read(line_editor *editor, const char *prompt) {
    int count = 0;
    editor->prompt = prompt;
    el_resize(editor->edit);
    return el_gets(editor->edit, &count);
}

void line_editor_remember(line_editor *editor, const char *line) {
    HistEvent event;
    history(editor->history, &event, H_ENTER, line);
}

void line_editor_replace(line_editor *editor, int deleted_count, const char *text) {
    el_deletestr(editor->edit, deleted_count);
    el_insertstr(editor->edit, text);
}

void line_editor_suspend(line_editor *editor) { el_set(editor->edit, EL_PREP_TERM, 0); }

void line_editor_resume(line_editor *editor) {
    el_resize(editor->edit);
    // The shell may have set the terminal while the program was stopped. libedit sets it only if its own mode changes.
    el_set(editor->edit, EL_PREP_TERM, 0);
    el_set(editor->edit, EL_PREP_TERM, 1);
}

void line_editor_refresh(line_editor *editor) { el_set(editor->edit, EL_REFRESH); }
