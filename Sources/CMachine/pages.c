#ifdef CAMBIUM_CHECKS
#include "cmachine.h"
#include <stdlib.h>

static int has_small_pages;

__attribute__((constructor)) static void choose_pages(void) { has_small_pages = getenv("CAMBIUM_SMALL_PAGES") != NULL; }

int cmachine_has_small_pages(void) { return has_small_pages; }
#endif
