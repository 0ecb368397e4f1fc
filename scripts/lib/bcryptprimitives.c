// Rust programs need ProcessPrng, which Windows has since version 10 and wine since 9. For tests with an older wine only.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
  return SystemFunction036(data, (ULONG)length);
}
