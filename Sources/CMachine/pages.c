#ifdef CAMBIUM_CHECKS
#include "cmachine.h"
#include <stdlib.h>
#include <string.h>

static int has_small_pages;

__attribute__((constructor)) static void choose_pages(void) {
    const char *settings = getenv("CAMBIUM_TEST");
    has_small_pages = settings != NULL && strstr(settings, "small-pages") != NULL;
}

int cmachine_has_small_pages(void) { return has_small_pages; }
#endif
