/** What the programs of a desktop read; `{runtime}` stands for the runtime folder. */
export const OPENBOX_RC = `<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
  <placement><policy>Smart</policy><center>yes</center></placement>
  <theme>
    <name>Berth</name><titleLayout>NLIMC</titleLayout>
    <keepBorder>yes</keepBorder>
    <font place="ActiveWindow"><name>Noto Sans</name><size>10</size><weight>bold</weight></font>
    <font place="InactiveWindow"><name>Noto Sans</name><size>10</size></font>
  </theme>
  <desktops><number>1</number><popupTime>0</popupTime></desktops>
  <keyboard>
    <keybind key="A-F4"><action name="Close"/></keybind>
    <keybind key="A-Tab"><action name="NextWindow"/></keybind>
    <keybind key="A-S-Tab"><action name="PreviousWindow"/></keybind>
    <keybind key="W-d"><action name="ToggleShowDesktop"/></keybind>
    <keybind key="W-Up"><action name="ToggleMaximize"/></keybind>
    <keybind key="C-A-t"><action name="Execute"><command>x-terminal-emulator</command></action></keybind>
  </keyboard>
  <mouse>
    <doubleClickTime>400</doubleClickTime>
    <context name="Titlebar">
      <mousebind button="Left" action="Drag"><action name="Move"/></mousebind>
      <mousebind button="Left" action="DoubleClick"><action name="ToggleMaximize"/></mousebind>
    </context>
    <context name="Titlebar Top Right Bottom Left TLCorner TRCorner BRCorner BLCorner">
      <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
    </context>
    <context name="Top"><mousebind button="Left" action="Drag"><action name="Resize"><edge>top</edge></action></mousebind></context>
    <context name="Left"><mousebind button="Left" action="Drag"><action name="Resize"><edge>left</edge></action></mousebind></context>
    <context name="Right"><mousebind button="Left" action="Drag"><action name="Resize"><edge>right</edge></action></mousebind></context>
    <context name="Bottom"><mousebind button="Left" action="Drag"><action name="Resize"><edge>bottom</edge></action></mousebind></context>
    <context name="TRCorner BRCorner TLCorner BLCorner"><mousebind button="Left" action="Drag"><action name="Resize"/></mousebind></context>
    <context name="Client"><mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind></context>
    <context name="Close"><mousebind button="Left" action="Click"><action name="Close"/></mousebind></context>
    <context name="Maximize"><mousebind button="Left" action="Click"><action name="ToggleMaximize"/></mousebind></context>
    <context name="Iconify"><mousebind button="Left" action="Click"><action name="Iconify"/></mousebind></context>
  </mouse>
  <applications>
    <application class="Chromium*"><maximized>yes</maximized></application>
  </applications>
</openbox_config>
`;

/** A flat theme of the window manager, in the colours of the panel. */
export const OPENBOX_THEME = `
border.width: 1
padding.width: 8
padding.height: 6
window.handle.width: 0
window.client.padding.width: 0
window.active.border.color: #2b3a4f
window.inactive.border.color: #5a6675
window.active.title.bg: flat solid
window.active.title.bg.color: #22304a
window.inactive.title.bg: flat solid
window.inactive.title.bg.color: #4a5667
window.active.label.bg: parentrelative
window.inactive.label.bg: parentrelative
window.active.label.text.color: #ffffff
window.inactive.label.text.color: #c3ccd8
window.label.text.justify: left
window.*.button.*.bg: flat solid
window.active.button.*.bg: parentrelative
window.inactive.button.*.bg: parentrelative
window.active.button.unpressed.image.color: #dfe7f1
window.active.button.hover.image.color: #7cc4ff
window.active.button.pressed.image.color: #7cc4ff
window.inactive.button.unpressed.image.color: #c3ccd8
window.inactive.button.hover.image.color: #ffffff
menu.items.bg: flat solid
menu.items.bg.color: #22304a
menu.items.text.color: #ffffff
menu.items.active.bg: flat solid
menu.items.active.bg.color: #3d6fb4
menu.items.active.text.color: #ffffff
osd.bg: flat solid
osd.bg.color: #22304a
osd.label.text.color: #ffffff
`;

export const TINT2_RC = `
rounded = 0
border_width = 0
background_color = #16202e 92
border_color = #000000 0
rounded = 6
border_width = 0
background_color = #ffffff 10
border_color = #ffffff 0
rounded = 6
border_width = 0
background_color = #ffffff 26
border_color = #ffffff 0
panel_items = LTC
panel_size = 100% 44
panel_position = bottom center horizontal
panel_padding = 8 4 8
panel_background_id = 1
panel_dock = 0
panel_layer = bottom
strut_policy = follow_size
wm_menu = 0
launcher_padding = 2 0 6
launcher_icon_size = 30
launcher_icon_theme = Adwaita
launcher_icon_theme_override = 0
startup_notifications = 0
launcher_tooltip = 1
launcher_item_app = {runtime}/data/applications/files.desktop
launcher_item_app = {runtime}/data/applications/browser.desktop
launcher_item_app = {runtime}/data/applications/terminal.desktop
taskbar_mode = single_desktop
taskbar_padding = 6 0 6
task_text = 1
task_icon = 1
task_centered = 0
task_maximum_size = 220 36
task_padding = 10 4 8
task_font = Noto Sans 10
task_font_color = #ffffff 80
task_active_font_color = #ffffff 100
task_background_id = 2
task_active_background_id = 3
task_iconified_background_id = 2
mouse_left = toggle_iconify
mouse_middle = none
mouse_right = none
time1_format = %H:%M
time2_format = %a %d %b
time1_font = Noto Sans Bold 10
time2_font = Noto Sans 8
clock_font_color = #ffffff 90
clock_padding = 8 0
clock_background_id = 0
`;

export const XTERM_RESOURCES = `
XTerm*faceName: Noto Sans Mono, Noto Color Emoji
XTerm*faceSize: 11
XTerm*background: #16202e
XTerm*foreground: #e6edf5
XTerm*cursorColor: #7cc4ff
XTerm*internalBorder: 8
XTerm*geometry: 100x28
XTerm*saveLines: 5000
XTerm*selectToClipboard: true
XTerm*utf8: 1
XTerm*locale: true
XTerm*metaSendsEscape: true
`;

export const MIME_APPS = `[Default Applications]
inode/directory=files.desktop
text/html=browser.desktop
application/pdf=browser.desktop
image/png=browser.desktop
image/jpeg=browser.desktop
x-scheme-handler/http=browser.desktop
x-scheme-handler/https=browser.desktop
`;

/** A program that the panel starts. */
export const launcher = (
  name: string,
  entry: { readonly name: string; readonly command: string; readonly icon: string },
): { readonly path: string; readonly text: string } => ({
  path: `${name}.desktop`,
  text: `[Desktop Entry]\nType=Application\nName=${entry.name}\nExec=${entry.command}\nIcon=${entry.icon}\n`,
});
