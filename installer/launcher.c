/* Runs Python code with the private Python in this process: no python.exe, no PATH, no registry.
 *
 * Built twice: QuickMemoryServer.exe and tools\memoryctl.exe. PYTHON_FOLDER of values.h is the
 * folder of python311.dll, relative to this program; PROGRAM is the Python code.
 */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include "values.h"

#define NOT_STARTED 9009            /* the shell's code for a program that cannot be started */
#define LONGEST 32768               /* the longest path of Windows */

typedef int (*python_main)(int, wchar_t **);

static int fail(const wchar_t *what, const wchar_t *path)
{
    fwprintf(stderr, L"error: %ls: %ls (Windows error %lu): repair the installation\n", what, path,
             GetLastError());
    return NOT_STARTED;
}

/* Writes the full path of PYTHON_FOLDER into `folder`; returns 0 if this program's path is unknown. */
static int find_python(wchar_t *folder)
{
    static wchar_t own[LONGEST], wanted[LONGEST + 64];
    DWORD length = GetModuleFileNameW(NULL, own, LONGEST);
    wchar_t *slash = wcsrchr(own, L'\\');
    if (length == 0 || length >= LONGEST || slash == NULL)
        return 0;
    *slash = 0;
    swprintf(wanted, LONGEST + 64, L"%ls\\%ls", own, PYTHON_FOLDER);
    length = GetFullPathNameW(wanted, LONGEST, folder, NULL);
    return length > 0 && length < LONGEST;
}

int wmain(int count, wchar_t **arguments)
{
    static wchar_t folder[LONGEST], library[LONGEST + 64];
    wchar_t **passed = calloc(count + 3, sizeof *passed);
    if (passed == NULL || !find_python(folder))
        return fail(L"the installation cannot be found", PYTHON_FOLDER);

    /* Load libraries from Windows and from our own folder, never from the current one. */
    SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    AddDllDirectory(folder);
    swprintf(library, LONGEST + 64, L"%ls\\python311.dll", folder);
    HMODULE python = LoadLibraryExW(
        library, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    if (python == NULL)
        return fail(L"cannot be loaded", library);
    python_main run = (python_main)(void *)GetProcAddress(python, "Py_Main");
    if (run == NULL)
        return fail(L"is not Python", library);

    passed[0] = arguments[0];
    passed[1] = L"-c";
    passed[2] = L"import sys; sys.argv[0] = sys.executable; " PROGRAM;
    for (int i = 1; i < count; i++)
        passed[i + 2] = arguments[i];
    return run(count + 2, passed);
}
