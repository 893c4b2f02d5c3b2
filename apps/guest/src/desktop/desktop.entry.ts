export { CLIPBOARD_CHARACTERS } from './clipboard/clipboard.js';
export { openDesktop, type Desktop } from './desktop.js';
export { type Button } from './input/pointer.js';
export { type Region } from './screen/pixels.js';
export { type ImageRequest, type ScreenImage } from './screen/screen.js';
export { DesktopSession, type DesktopPlace } from './session/desktop-session.js';
export { type XDisplay } from './x11/x-connection.js';
