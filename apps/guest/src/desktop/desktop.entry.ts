export { openDesktop, type Desktop } from './desktop.js';
export { type ImageRequest, type ScreenImage } from './screen/screen.js';
export { DesktopSession, type DesktopPlace } from './session/desktop-session.js';
export { type XDisplay } from './x11/x-connection.js';
