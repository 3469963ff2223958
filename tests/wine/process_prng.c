/* What wine 8 lacks and every Windows 10 has: ProcessPrng of bcryptprimitives.dll.
 *
 * It belongs to the tests. tantivy and pydantic-core ask it for random bytes.
 */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID data, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
    return SystemFunction036(data, (ULONG)size);
}
