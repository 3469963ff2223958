; The setup program. It unpacks files, swaps folders and passes exit codes on; every decision is
; made by the new version itself: python -m qms.platforms.setup.
;
; setup.exe /S [/DATA="folder"] [/PORT=number] [/KEYFILE="file"] [/D=folder]
;   NSIS requires /D= to be last and without quotes.
; uninstall.exe /S [/PURGE]

Unicode true
Target amd64-unicode
!if ${COMPRESSION} == lzma
  SetCompressor /SOLID /FINAL lzma
  SetCompressorDictSize 64
!else
  SetCompress off
!endif
SetDateSave off
SetOverwrite on
AllowSkipFiles off
CRCCheck on
RequestExecutionLevel admin
ManifestSupportedOS Win10
ManifestLongPathAware true

!include LogicLib.nsh
!include FileFunc.nsh
!include MUI2.nsh

!define NAME "Quick Memory Server"
!define SERVICE "QuickMemoryServer"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\${SERVICE}"
!define ADMINISTRATORS "*S-1-5-32-544"
!define SYSTEM "*S-1-5-18"
!define USERS "*S-1-5-32-545"
!define STEP '-m qms.platforms.setup'
; The name of the steps in every version before 1.0, this one included.
!define FORMER_STEP '-m qms.host.installing'
!define NOT_STARTED 9009
!define ERROR_ELSEWHERE 4
!define ERROR_UNWRITABLE 6
!define ERROR_ROLLED_BACK 8

Name "${NAME} ${VERSION}"
OutFile "${TARGET}"
InstallDir "$PROGRAMFILES64\${SERVICE}"
InstallDirRegKey HKLM "${UNINSTALL_KEY}" "InstallLocation"
BrandingText "${NAME} ${VERSION}"
VIProductVersion "${VERSION_NUMBERS}"
VIAddVersionKey ProductName "${NAME}"
VIAddVersionKey FileDescription "${NAME} Setup"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey ProductVersion "${VERSION}"
VIAddVersionKey LegalCopyright "Apache-2.0"

Var Arguments
Var Data
Var Listed
Var Port
Var KeyFile
Var ExitCode
Var HasFormer

!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN
!define MUI_FINISHPAGE_RUN_TEXT "Open the admin page"
!define MUI_FINISHPAGE_RUN_FUNCTION OpenAdminPage
!define MUI_FINISHPAGE_SHOWREADME
!define MUI_FINISHPAGE_SHOWREADME_TEXT "Show the admin key (new installations only)"
!define MUI_FINISHPAGE_SHOWREADME_FUNCTION ShowKey
!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE English

; The parts of a version; each is moved as a whole.
!macro ForEachPart MACRO
  !insertmacro ${MACRO} "python"
  !insertmacro ${MACRO} "models"
  !insertmacro ${MACRO} "docs"
  !insertmacro ${MACRO} "tools"
  !insertmacro ${MACRO} "QuickMemoryServer.exe"
  !insertmacro ${MACRO} "layout.json"
!macroend

!macro MoveIn PART
  ${If} ${FileExists} "$INSTDIR\${PART}"
    Rename "$INSTDIR\${PART}" "$INSTDIR\.old\${PART}"
  ${EndIf}
  Rename "$INSTDIR\.new\${PART}" "$INSTDIR\${PART}"
!macroend

!macro MoveBack PART
  ${If} ${FileExists} "$INSTDIR\.old\${PART}"
    RMDir /r "$INSTDIR\${PART}"
    Delete "$INSTDIR\${PART}"
    Rename "$INSTDIR\.old\${PART}" "$INSTDIR\${PART}"
  ${EndIf}
!macroend

!macro RemovePart PART
  RMDir /r "$INSTDIR\${PART}"
  Delete "$INSTDIR\${PART}"
!macroend

; Runs a step of the installation with the Python below FOLDER; sets $ExitCode.
; Each value has a space before its quote: a backslash at its end would escape the quote.
!macro Run FOLDER STEPNAME OPTIONS
  DetailPrint "${STEPNAME}"
  StrCpy $ExitCode ${NOT_STARTED}
  ExecWait '"${FOLDER}\python\pythonw.exe" ${STEP} ${STEPNAME} "--install-dir=$INSTDIR " ${OPTIONS}' $ExitCode
!macroend

; Runs the former version's own Python to start its service again, after it was moved back.
Function Resume
  DetailPrint "resume"
  StrCpy $ExitCode ${NOT_STARTED}
  ExecWait '"$INSTDIR\python\pythonw.exe" ${FORMER_STEP} resume "--install-dir=$INSTDIR "' $ExitCode
FunctionEnd

; Asks Windows to stop the service until it has stopped: 0 and 1061 mean that it is stopping.
!macro StopService UN
Function ${UN}StopService
  ${For} $R0 1 120
    nsExec::Exec '"$SYSDIR\sc.exe" stop ${SERVICE}'
    Pop $R1
    ${If} $R1 != 0
    ${AndIf} $R1 != 1061
      ${ExitFor}
    ${EndIf}
    Sleep 1000
  ${Next}
FunctionEnd
!macroend
!insertmacro StopService ""
!insertmacro StopService "un."

Function .onInit
  InitPluginsDir
  SetRegView 64
  ${GetParameters} $Arguments
  ClearErrors
  ${GetOptions} $Arguments "/DATA=" $Data
  ${GetOptions} $Arguments "/PORT=" $Port
  ${GetOptions} $Arguments "/KEYFILE=" $KeyFile
  ReadRegStr $Listed HKLM "${UNINSTALL_KEY}" "InstallLocation"
  ClearErrors
FunctionEnd

Section
  SetRegView 64
  Call Protect
  Call PutBackWhatWasInterrupted
  Call Unpack
  !insertmacro Run "$INSTDIR\.new" "prepare" '"--listed=$Listed " "--data=$Data " "--port=$Port " "--key-file=$KeyFile "'
  ${If} $ExitCode <> 0
    RMDir /r "$INSTDIR\.new"
    Call Fail
  ${EndIf}
  Call MoveNewVersionIn
  !insertmacro Run "$INSTDIR" "activate" '"--port=$Port " "--key-file=$KeyFile " "--result=$PLUGINSDIR\result.ini"'
  ${If} $ExitCode <> 0
  ${AndIf} $HasFormer == yes
    Call GoBack
  ${EndIf}
  RMDir /r "$INSTDIR\.old"
  RMDir /r "$INSTDIR\.new"
  Call WriteEntry
  ${If} $ExitCode <> 0
    Call Fail
  ${EndIf}
SectionEnd

; Outside of Program Files every user may change new files in a folder, and administrators and the
; service run the files in this one. A folder with other files is refused later.
Function Protect
  ${DirState} "$INSTDIR" $0
  ${If} $0 <> 1
  ${OrIf} ${FileExists} "$INSTDIR\layout.json"
    CreateDirectory "$INSTDIR"
    nsExec::Exec '"$SYSDIR\icacls.exe" "$INSTDIR" /setowner ${ADMINISTRATORS} /Q'
    Pop $0
    nsExec::Exec '"$SYSDIR\icacls.exe" "$INSTDIR" /inheritance:r /grant:r ${ADMINISTRATORS}:(OI)(CI)F ${SYSTEM}:(OI)(CI)F ${USERS}:(OI)(CI)RX /Q'
    Pop $0
  ${EndIf}
FunctionEnd

; Restores the former version after a setup that was interrupted: .old holds its only copy.
Function PutBackWhatWasInterrupted
  ${If} ${FileExists} "$INSTDIR\.old"
    Call StopService
    Call PutBack
    ${If} ${FileExists} "$INSTDIR\.old"
      StrCpy $ExitCode ${ERROR_UNWRITABLE}
      Call Fail
    ${EndIf}
  ${EndIf}
  RMDir /r "$INSTDIR\.new"
FunctionEnd

; Keeps .old if something in it could not be moved: the next setup tries again.
Function PutBack
  !insertmacro ForEachPart MoveBack
  RMDir "$INSTDIR\.old"
FunctionEnd

Function Unpack
  StrCpy $HasFormer no
  ${If} ${FileExists} "$INSTDIR\layout.json"
    StrCpy $HasFormer yes
  ${EndIf}
  ClearErrors
  !include "${FILES}"
  SetOutPath "$INSTDIR"
  ${If} ${Errors}
    RMDir /r "$INSTDIR\.new"
    StrCpy $ExitCode ${ERROR_UNWRITABLE}
    Call Fail
  ${EndIf}
FunctionEnd

Function MoveNewVersionIn
  CreateDirectory "$INSTDIR\.old"
  ClearErrors
  !insertmacro ForEachPart MoveIn
  ${If} ${Errors}
    ; A file of the former version is in use.
    Call PutBack
    StrCpy $ExitCode ${ERROR_UNWRITABLE}
    ${If} $HasFormer == yes
      Call Resume
      StrCpy $ExitCode ${ERROR_ROLLED_BACK}
    ${EndIf}
    RMDir /r "$INSTDIR\.new"
    Call Fail
  ${EndIf}
FunctionEnd

Function GoBack
  Call PutBack
  Call Resume
  RMDir /r "$INSTDIR\.new"
  StrCpy $ExitCode ${ERROR_ROLLED_BACK}
  Call Fail
FunctionEnd

Function WriteEntry
  WriteUninstaller "$INSTDIR\uninstall.exe"
  WriteRegStr HKLM "${UNINSTALL_KEY}" "DisplayName" "${NAME}"
  WriteRegStr HKLM "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKLM "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\QuickMemoryServer.exe"
  WriteRegStr HKLM "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKLM "${UNINSTALL_KEY}" "Publisher" "${NAME}"
  WriteRegStr HKLM "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKLM "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKLM "${UNINSTALL_KEY}" "EstimatedSize" ${SIZE_KB}
  WriteRegDWORD HKLM "${UNINSTALL_KEY}" "NoModify" 1
FunctionEnd

Function Fail
  SetErrorLevel $ExitCode
  MessageBox MB_OK|MB_ICONSTOP "Setup failed with code $ExitCode. See logs\setup.log in the data folder." /SD IDOK
  Quit
FunctionEnd

Function OpenAdminPage
  ReadINIStr $0 "$PLUGINSDIR\result.ini" "result" "url"
  ${If} $0 != ""
    ; Explorer opens it with the user's own rights; a browser started here would have those of setup.
    Exec '"$WINDIR\explorer.exe" "$0"'
  ${EndIf}
FunctionEnd

Function ShowKey
  ReadINIStr $0 "$PLUGINSDIR\result.ini" "result" "keyFile"
  ${If} $0 != ""
    Exec '"$SYSDIR\notepad.exe" "$0"'
  ${EndIf}
FunctionEnd

Section Uninstall
  SetRegView 64
  ${IfNot} ${FileExists} "$INSTDIR\layout.json"
  ${AndIfNot} ${FileExists} "$INSTDIR\QuickMemoryServer.exe"
    ; This uninstaller is a copy elsewhere: the files in this folder are not ours.
    StrCpy $ExitCode ${ERROR_ELSEWHERE}
    StrCpy $0 "${NAME} is not installed in $INSTDIR."
    Call un.Fail
  ${EndIf}
  ${GetParameters} $Arguments
  ClearErrors
  ${GetOptions} $Arguments "/PURGE" $0
  ${If} ${Errors}
    StrCpy $0 ""
  ${Else}
    StrCpy $0 "--purge"
    MessageBox MB_YESNO|MB_ICONEXCLAMATION|MB_DEFBUTTON2 "Delete all memories, backups and the configuration permanently?" /SD IDYES IDYES +2
    Abort
  ${EndIf}
  !insertmacro Run "$INSTDIR" "remove" "$0"
  ${If} $ExitCode = 1
  ${OrIf} $ExitCode < 0
  ${OrIf} $ExitCode > ${ERROR_ROLLED_BACK}
    ; The private Python is damaged: Windows can remove the service without it.
    Call un.StopService
    nsExec::Exec '"$SYSDIR\sc.exe" delete ${SERVICE}'
    Pop $R1
    StrCpy $ExitCode 0
    ${If} $0 != ""
      StrCpy $ExitCode ${ERROR_UNWRITABLE}
    ${EndIf}
  ${ElseIf} $ExitCode <> 0
    StrCpy $0 "The service or its data could not be removed (code $ExitCode): see logs\setup.log in the data folder."
    Call un.Fail
  ${EndIf}
  !insertmacro ForEachPart RemovePart
  RMDir /r "$INSTDIR\.old"
  RMDir /r "$INSTDIR\.new"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  DeleteRegKey HKLM "${UNINSTALL_KEY}"
  ${If} $ExitCode <> 0
    StrCpy $0 "The program is removed. It was damaged and could not delete the data: delete the data folder yourself."
    Call un.Fail
  ${EndIf}
SectionEnd

Function un.Fail
  SetErrorLevel $ExitCode
  MessageBox MB_OK|MB_ICONSTOP $0 /SD IDOK
  Quit
FunctionEnd
