/* The part of PKCS #11 2.40 (OASIS) that signing with a token needs, written from the specification: its types with their layout, and the function
 * list with the functions that are never called left untyped. Names are the specification's. */
#pragma once

#ifdef _WIN32
#error "PKCS #11 packs its structures on Windows; this header does not"
#endif

typedef unsigned char CK_BYTE;
typedef unsigned char CK_BBOOL;
typedef unsigned long CK_ULONG;
typedef CK_ULONG CK_RV, CK_FLAGS, CK_SLOT_ID, CK_SESSION_HANDLE, CK_OBJECT_HANDLE, CK_OBJECT_CLASS, CK_ATTRIBUTE_TYPE, CK_MECHANISM_TYPE, CK_USER_TYPE;

typedef struct { CK_BYTE major, minor; } CK_VERSION;

typedef struct {
  CK_BYTE label[32], manufacturerID[32], model[16], serialNumber[16];
  CK_FLAGS flags;
  CK_ULONG maxSessionCount, sessionCount, maxRwSessionCount, rwSessionCount, maxPinLen, minPinLen;
  CK_ULONG totalPublicMemory, freePublicMemory, totalPrivateMemory, freePrivateMemory;
  CK_VERSION hardwareVersion, firmwareVersion;
  CK_BYTE utcTime[16];
} CK_TOKEN_INFO;

typedef struct { CK_ATTRIBUTE_TYPE type; void *pValue; CK_ULONG ulValueLen; } CK_ATTRIBUTE;
typedef struct { CK_MECHANISM_TYPE mechanism; void *pParameter; CK_ULONG ulParameterLen; } CK_MECHANISM;
typedef struct { void *CreateMutex, *DestroyMutex, *LockMutex, *UnlockMutex; CK_FLAGS flags; void *pReserved; } CK_C_INITIALIZE_ARGS;

typedef void *CK_UNUSED;

typedef struct CK_FUNCTION_LIST {
  CK_VERSION version;
  CK_RV (*C_Initialize)(CK_C_INITIALIZE_ARGS *);
  CK_RV (*C_Finalize)(void *);
  CK_UNUSED C_GetInfo, C_GetFunctionList;
  CK_RV (*C_GetSlotList)(CK_BBOOL tokenPresent, CK_SLOT_ID *, CK_ULONG *count);
  CK_UNUSED C_GetSlotInfo;
  CK_RV (*C_GetTokenInfo)(CK_SLOT_ID, CK_TOKEN_INFO *);
  CK_UNUSED C_GetMechanismList, C_GetMechanismInfo, C_InitToken, C_InitPIN, C_SetPIN;
  CK_RV (*C_OpenSession)(CK_SLOT_ID, CK_FLAGS, void *application, void *notify, CK_SESSION_HANDLE *);
  CK_RV (*C_CloseSession)(CK_SESSION_HANDLE);
  CK_UNUSED C_CloseAllSessions, C_GetSessionInfo, C_GetOperationState, C_SetOperationState;
  CK_RV (*C_Login)(CK_SESSION_HANDLE, CK_USER_TYPE, const CK_BYTE *pin, CK_ULONG);
  CK_RV (*C_Logout)(CK_SESSION_HANDLE);
  CK_UNUSED C_CreateObject, C_CopyObject, C_DestroyObject, C_GetObjectSize;
  CK_RV (*C_GetAttributeValue)(CK_SESSION_HANDLE, CK_OBJECT_HANDLE, CK_ATTRIBUTE *, CK_ULONG count);
  CK_UNUSED C_SetAttributeValue;
  CK_RV (*C_FindObjectsInit)(CK_SESSION_HANDLE, CK_ATTRIBUTE *, CK_ULONG count);
  CK_RV (*C_FindObjects)(CK_SESSION_HANDLE, CK_OBJECT_HANDLE *, CK_ULONG room, CK_ULONG *count);
  CK_RV (*C_FindObjectsFinal)(CK_SESSION_HANDLE);
  CK_UNUSED C_EncryptInit, C_Encrypt, C_EncryptUpdate, C_EncryptFinal, C_DecryptInit, C_Decrypt, C_DecryptUpdate, C_DecryptFinal;
  CK_UNUSED C_DigestInit, C_Digest, C_DigestUpdate, C_DigestKey, C_DigestFinal;
  CK_RV (*C_SignInit)(CK_SESSION_HANDLE, CK_MECHANISM *, CK_OBJECT_HANDLE);
  CK_RV (*C_Sign)(CK_SESSION_HANDLE, const CK_BYTE *, CK_ULONG, CK_BYTE *signature, CK_ULONG *);
  /* 23 more, from C_SignUpdate to C_WaitForSlotEvent, are never reached. */
} CK_FUNCTION_LIST;

typedef CK_RV (*CK_C_GetFunctionList)(CK_FUNCTION_LIST **);

enum {
  CKF_LOGIN_REQUIRED = 0x4, CKF_PROTECTED_AUTHENTICATION_PATH = 0x100, CKF_SERIAL_SESSION = 0x4, CKF_OS_LOCKING_OK = 0x2,
  CKU_USER = 1, CKO_PRIVATE_KEY = 3, CKA_CLASS = 0, CKA_LABEL = 3, CKA_ID = 0x102, CKA_KEY_TYPE = 0x100, CKK_EC_EDWARDS = 0x40, CKM_EDDSA = 0x1057,
  CKR_OK = 0, CKR_PIN_INCORRECT = 0xA0, CKR_PIN_LOCKED = 0xA4, CKR_USER_ALREADY_LOGGED_IN = 0x100, CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191,
};
