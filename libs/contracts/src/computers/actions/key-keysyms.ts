/**
 * The X keysyms of keys and of Latin 1. A row has the first value in hexadecimal and the names of it and of its
 * successors, with `-` where one has no name. Of names that differ only in case it has the one with fewer capitals: a
 * letter that is named is unshifted.
 */
export const KEY_KEYSYMS = `
20 space exclam quotedbl numbersign dollar percent ampersand apostrophe parenleft parenright asterisk plus comma minus
2e period slash
3a colon semicolon less equal greater question at
5b bracketleft backslash bracketright asciicircum underscore grave
7b braceleft bar braceright asciitilde
a0 nobreakspace exclamdown cent sterling currency yen brokenbar section diaeresis copyright ordfeminine guillemotleft
ac notsign hyphen registered macron degree plusminus twosuperior threesuperior acute mu paragraph periodcentered
b8 cedilla onesuperior masculine guillemotright onequarter onehalf threequarters questiondown
d7 multiply
df ssharp agrave aacute acircumflex atilde adiaeresis aring ae ccedilla egrave eacute ecircumflex ediaeresis igrave
ed iacute icircumflex idiaeresis eth ntilde ograve oacute ocircumflex otilde odiaeresis division oslash ugrave uacute
fb ucircumflex udiaeresis yacute thorn ydiaeresis
fd01 3270_Duplicate 3270_FieldMark 3270_Right2 3270_Left2 3270_BackTab 3270_EraseEOF 3270_EraseInput 3270_Reset
fd09 3270_Quit 3270_PA1 3270_PA2 3270_PA3 3270_Test 3270_Attn 3270_CursorBlink 3270_AltCursor 3270_KeyClick 3270_Jump
fd13 3270_Ident 3270_Rule 3270_Copy 3270_Play 3270_Setup 3270_Record 3270_ChangeScreen 3270_DeleteWord 3270_ExSelect
fd1c 3270_CursorSelect 3270_PrintScreen 3270_Enter
fe01 ISO_Lock ISO_Level2_Latch ISO_Level3_Shift ISO_Level3_Latch ISO_Level3_Lock ISO_Group_Latch ISO_Group_Lock
fe08 ISO_Next_Group ISO_Next_Group_Lock ISO_Prev_Group ISO_Prev_Group_Lock ISO_First_Group ISO_First_Group_Lock
fe0e ISO_Last_Group ISO_Last_Group_Lock - ISO_Level5_Shift ISO_Level5_Latch ISO_Level5_Lock
fe20 ISO_Left_Tab ISO_Move_Line_Up ISO_Move_Line_Down ISO_Partial_Line_Up ISO_Partial_Line_Down ISO_Partial_Space_Left
fe26 ISO_Partial_Space_Right ISO_Set_Margin_Left ISO_Set_Margin_Right ISO_Release_Margin_Left ISO_Release_Margin_Right
fe2b ISO_Release_Both_Margins ISO_Fast_Cursor_Left ISO_Fast_Cursor_Right ISO_Fast_Cursor_Up ISO_Fast_Cursor_Down
fe30 ISO_Continuous_Underline ISO_Discontinuous_Underline ISO_Emphasize ISO_Center_Object ISO_Enter
fe50 dead_grave dead_acute dead_circumflex dead_tilde dead_macron dead_breve dead_abovedot dead_diaeresis
fe58 dead_abovering dead_doubleacute dead_caron dead_cedilla dead_ogonek dead_iota dead_voiced_sound
fe5f dead_semivoiced_sound dead_belowdot dead_hook dead_horn dead_stroke dead_abovecomma dead_abovereversedcomma
fe66 dead_doublegrave dead_belowring dead_belowmacron dead_belowcircumflex dead_belowtilde dead_belowbreve
fe6c dead_belowdiaeresis dead_invertedbreve dead_belowcomma dead_currency AccessX_Enable AccessX_Feedback_Enable
fe72 RepeatKeys_Enable SlowKeys_Enable BounceKeys_Enable StickyKeys_Enable MouseKeys_Enable MouseKeys_Accel_Enable
fe78 Overlay1_Enable Overlay2_Enable AudibleBell_Enable - - - - - dead_a - dead_e - dead_i - dead_o - dead_u
fe8a dead_small_schwa dead_capital_schwa dead_greek - - - dead_lowline dead_aboveverticalline dead_belowverticalline
fe93 dead_longsolidusoverlay
fea0 ch - - c_h
fed0 First_Virtual_Screen Prev_Virtual_Screen Next_Virtual_Screen - Last_Virtual_Screen Terminate_Server
fee0 Pointer_Left Pointer_Right Pointer_Up Pointer_Down Pointer_UpLeft Pointer_UpRight Pointer_DownLeft
fee7 Pointer_DownRight Pointer_Button_Dflt Pointer_Button1 Pointer_Button2 Pointer_Button3 Pointer_Button4
feed Pointer_Button5 Pointer_DblClick_Dflt Pointer_DblClick1 Pointer_DblClick2 Pointer_DblClick3 Pointer_DblClick4
fef3 Pointer_DblClick5 Pointer_Drag_Dflt Pointer_Drag1 Pointer_Drag2 Pointer_Drag3 Pointer_Drag4 Pointer_EnableKeys
fefa Pointer_Accelerate Pointer_DfltBtnNext Pointer_DfltBtnPrev Pointer_Drag5
ff08 BackSpace Tab Linefeed Clear - Return - - - - - Pause Scroll_Lock Sys_Req - - - - - Escape - - - - Multi_key
ff21 Kanji Muhenkan Henkan_Mode Romaji Hiragana Katakana Hiragana_Katakana Zenkaku Hankaku Zenkaku_Hankaku Touroku
ff2c Massyo Kana_Lock Kana_Shift Eisu_Shift Eisu_toggle Hangul Hangul_Start Hangul_End Hangul_Hanja Hangul_Jamo
ff36 Hangul_Romaja Codeinput Hangul_Jeonja Hangul_Banja Hangul_PreHanja Hangul_PostHanja SingleCandidate
ff3d MultipleCandidate PreviousCandidate Hangul_Special
ff50 Home Left Up Right Down Prior Next End Begin
ff60 Select Print Execute Insert - Undo Redo Menu Find Cancel Help Break
ff7e Mode_switch Num_Lock KP_Space
ff89 KP_Tab - - - KP_Enter - - - KP_F1 KP_F2 KP_F3 KP_F4 KP_Home KP_Left KP_Up KP_Right KP_Down KP_Prior KP_Next
ff9c KP_End KP_Begin KP_Insert KP_Delete
ffaa KP_Multiply KP_Add KP_Separator KP_Subtract KP_Decimal KP_Divide KP_0 KP_1 KP_2 KP_3 KP_4 KP_5 KP_6 KP_7 KP_8
ffb9 KP_9 - - - KP_Equal F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12 F13 F14 F15 F16 F17 F18 F19 F20 F21 F22 F23 F24 F25
ffd7 F26 F27 F28 F29 F30 F31 F32 F33 F34 F35 Shift_L Shift_R Control_L Control_R Caps_Lock Shift_Lock Meta_L Meta_R
ffe9 Alt_L Alt_R Super_L Super_R Hyper_L Hyper_R - - braille_dot_1 braille_dot_2 braille_dot_3 braille_dot_4
fff5 braille_dot_5 braille_dot_6 braille_dot_7 braille_dot_8 braille_dot_9 braille_dot_10 - - - - Delete
100810f4 XF86BrightnessAuto XF86DisplayOff
10081166 XF86Info
10081177 XF86AspectRatio
10081185 XF86DVD - - XF86Audio
10081192 XF86ChannelUp XF86ChannelDown
1008119b XF86Break - - - - XF86VideoPhone - - - XF86ZoomReset - XF86Editor - XF86GraphicsEditor XF86Presentation
100811aa XF86Database - XF86Voicemail XF86Addressbook - XF86DisplayToggle XF86SpellCheck - - - - - XF86ContextMenu
100811b7 XF86MediaRepeat XF8610ChannelsUp XF8610ChannelsDown XF86Images - XF86NotificationCenter XF86PickupPhone
100811be XF86HangupPhone
100811d0 XF86Fn XF86Fn_Esc
100811e5 XF86FnRightShift
10081200 XF86Numeric0 XF86Numeric1 XF86Numeric2 XF86Numeric3 XF86Numeric4 XF86Numeric5 XF86Numeric6 XF86Numeric7
10081208 XF86Numeric8 XF86Numeric9 XF86NumericStar XF86NumericPound XF86NumericA XF86NumericB XF86NumericC
1008120f XF86NumericD XF86CameraFocus XF86WPSButton - - - XF86CameraZoomIn XF86CameraZoomOut XF86CameraUp
10081218 XF86CameraDown XF86CameraLeft XF86CameraRight XF86AttendantOn XF86AttendantOff XF86AttendantToggle
1008121e XF86LightsToggle
10081230 XF86ALSToggle
10081240 XF86Buttonconfig XF86Taskmanager XF86Journal XF86ControlPanel XF86AppSelect XF86Screensaver XF86VoiceCommand
10081247 XF86Assistant - XF86EmojiPicker XF86Dictate - - - - - XF86BrightnessMin XF86BrightnessMax
10081260 XF86KbdInputAssistPrev XF86KbdInputAssistNext XF86KbdInputAssistPrevgroup XF86KbdInputAssistNextgroup
10081264 XF86KbdInputAssistAccept XF86KbdInputAssistCancel XF86RightUp XF86RightDown XF86LeftUp XF86LeftDown
1008126a XF86RootMenu XF86MediaTopMenu XF86Numeric11 XF86Numeric12 XF86AudioDesc XF863DMode XF86NextFavorite
10081271 XF86StopRecord XF86PauseRecord XF86VOD XF86Unmute XF86FastReverse XF86SlowReverse XF86Data
10081278 XF86OnScreenKeyboard XF86PrivacyScreenToggle XF86SelectiveScreenshot
10081290 XF86Macro1 XF86Macro2 XF86Macro3 XF86Macro4 XF86Macro5 XF86Macro6 XF86Macro7 XF86Macro8 XF86Macro9
10081299 XF86Macro10 XF86Macro11 XF86Macro12 XF86Macro13 XF86Macro14 XF86Macro15 XF86Macro16 XF86Macro17 XF86Macro18
100812a2 XF86Macro19 XF86Macro20 XF86Macro21 XF86Macro22 XF86Macro23 XF86Macro24 XF86Macro25 XF86Macro26 XF86Macro27
100812ab XF86Macro28 XF86Macro29 XF86Macro30 - - XF86MacroRecordStart XF86MacroRecordStop XF86MacroPresetCycle
100812b3 XF86MacroPreset1 XF86MacroPreset2 XF86MacroPreset3 - - XF86KbdLcdMenu1 XF86KbdLcdMenu2 XF86KbdLcdMenu3
100812bb XF86KbdLcdMenu4 XF86KbdLcdMenu5
1008fe01 XF86Switch_VT_1 XF86Switch_VT_2 XF86Switch_VT_3 XF86Switch_VT_4 XF86Switch_VT_5 XF86Switch_VT_6
1008fe07 XF86Switch_VT_7 XF86Switch_VT_8 XF86Switch_VT_9 XF86Switch_VT_10 XF86Switch_VT_11 XF86Switch_VT_12
1008fe20 XF86Ungrab XF86ClearGrab XF86Next_VMode XF86Prev_VMode XF86LogWindowTree XF86LogGrabInfo
1008ff01 XF86ModeLock XF86MonBrightnessUp XF86MonBrightnessDown XF86KbdLightOnOff XF86KbdBrightnessUp
1008ff06 XF86KbdBrightnessDown XF86MonBrightnessCycle
1008ff10 XF86Standby XF86AudioLowerVolume XF86AudioMute XF86AudioRaiseVolume XF86AudioPlay XF86AudioStop XF86AudioPrev
1008ff17 XF86AudioNext XF86HomePage XF86Mail XF86Start XF86Search XF86AudioRecord XF86Calculator XF86Memo XF86ToDoList
1008ff20 XF86Calendar XF86PowerDown XF86ContrastAdjust XF86RockerUp XF86RockerDown XF86RockerEnter XF86Back
1008ff27 XF86Forward XF86Stop XF86Refresh XF86PowerOff XF86WakeUp XF86Eject - XF86WWW XF86Sleep XF86Favorites
1008ff31 XF86AudioPause XF86AudioMedia XF86MyComputer XF86VendorHome XF86LightBulb XF86Shop XF86History XF86OpenURL
1008ff39 XF86AddFavorite XF86HotLinks XF86BrightnessAdjust XF86Finance XF86Community XF86AudioRewind XF86BackForward
1008ff40 XF86Launch0 XF86Launch1 XF86Launch2 XF86Launch3 XF86Launch4 XF86Launch5 XF86Launch6 XF86Launch7 XF86Launch8
1008ff49 XF86Launch9 XF86LaunchA XF86LaunchB XF86LaunchC XF86LaunchD XF86LaunchE XF86LaunchF XF86ApplicationLeft
1008ff51 XF86ApplicationRight XF86Book XF86CD XF86Calculater XF86Clear XF86Close XF86Copy XF86Cut XF86Display XF86DOS
1008ff5b XF86Documents XF86Excel XF86Explorer XF86Game XF86Go XF86iTouch XF86LogOff XF86Market XF86Meeting
1008ff65 XF86MenuKB XF86MenuPB XF86MySites XF86New XF86News XF86OfficeHome XF86Open XF86Option XF86Paste XF86Phone
1008ff70 XF86Q - XF86Reply XF86Reload XF86RotateWindows XF86RotationPB XF86RotationKB XF86Save XF86ScrollUp
1008ff79 XF86ScrollDown XF86ScrollClick XF86Send XF86Spell XF86SplitScreen XF86Support XF86TaskPane XF86Terminal
1008ff81 XF86Tools XF86Travel - XF86UserPB XF86User1KB XF86User2KB XF86Video XF86WheelButton XF86Word XF86Xfer
1008ff8b XF86ZoomIn XF86ZoomOut XF86Away XF86Messenger XF86WebCam XF86MailForward XF86Pictures XF86Music XF86Battery
1008ff94 XF86Bluetooth XF86WLAN XF86UWB XF86AudioForward XF86AudioRepeat XF86AudioRandomPlay XF86Subtitle
1008ff9b XF86AudioCycleTrack XF86CycleAngle XF86FrameBack XF86FrameForward XF86Time XF86Select XF86View XF86TopMenu
1008ffa3 XF86Red XF86Green XF86Yellow XF86Blue XF86Suspend XF86Hibernate XF86TouchpadToggle - - - - - - XF86TouchpadOn
1008ffb1 XF86TouchpadOff XF86AudioMicMute XF86Keyboard XF86WWAN XF86RFKill XF86AudioPreset XF86RotationLockToggle
1008ffb8 XF86FullScreen
27 quoteright
60 quoteleft
f8 ooblique
fe53 dead_perispomeni
fe64 dead_psili dead_dasia
ff23 Henkan
ff37 Kanji_Bangou - - - - Hangul_SingleCandidate Zen_Koho Mae_Koho
ff55 Page_Up Page_Down
ff7e script_switch
ff9a KP_Page_Up KP_Page_Down
ffc8 L1 L2 L3 L4 L5 L6 L7 L8 L9 L10 R1 R2 R3 R4 R5 R6 R7 R8 R9 R10 R11 R12 R13 R14 R15
ff37 Hangul_Codeinput - - - - - Hangul_MultipleCandidate Hangul_PreviousCandidate
ff7e ISO_Group_Shift
ff7e kana_switch
ff7e Arabic_switch
ff7e Greek_switch
ff7e Hebrew_switch
ff7e Hangul_switch
`;
