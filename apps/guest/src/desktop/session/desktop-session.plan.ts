import {
  launcher,
  MIME_APPS,
  OPENBOX_RC,
  OPENBOX_THEME,
  TINT2_RC,
  XTERM_RESOURCES,
} from './desktop-files.plan.js';

/** What a desktop is made of. */
export interface DesktopSettings {
  readonly width: number;
  readonly height: number;
  /** Number of the display, which the X server has chosen. */
  readonly display: number;
  /** The home folder of the desktop's user. */
  readonly home: string;
  /** A folder that only the desktop's user and the guest can enter. */
  readonly runtime: string;
  readonly path: string;
}

/** One program of a desktop. */
export interface DesktopProgram {
  readonly file: string;
  readonly args: readonly string[];
}

/** A file that the programs of a desktop read. */
export interface DesktopFile {
  /** Relative to the runtime folder. */
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** Relative to the runtime folder. */
export const AUTHORITY_FILE = 'authority';
export const VNC_SOCKET = 'vnc';
export const PASSWORDS_FILE = 'vnc-passwords';

/** The X server. It writes the number of its display to descriptor 3 when it is ready. */
export const xServer = ({
  width,
  height,
  runtime,
}: Pick<DesktopSettings, 'width' | 'height' | 'runtime'>): DesktopProgram => ({
  file: 'Xvnc',
  args: [
    ...['-displayfd', '3', '-geometry', `${width}x${height}`, '-depth', '24', '-noreset'],
    // The cookie keeps everybody else on the host out; the socket of VNC is in a folder that nobody else enters.
    ...['-auth', `${runtime}/${AUTHORITY_FILE}`, '-nolisten', 'tcp'],
    // Relative to the runtime folder, because the path of a socket is at most 107 bytes long.
    ...['-rfbport', '-1', '-rfbunixpath', VNC_SOCKET, '-rfbunixmode', '0600'],
    // One of the two passwords lets its clients only look. All come over one socket: none is to be kept out for another.
    ...['-SecurityTypes', 'VncAuth', '-PasswordFile', `${runtime}/${PASSWORDS_FILE}`, '-UseBlacklist=0'],
    ...['-AlwaysShared', '-AcceptSetDesktopSize=0', '-desktop', 'Computer'],
    // No screen saver: nobody is there to wake it.
    ...['-s', '0', '-dpms'],
  ],
});

/** The window manager and the panel, which run as long as the desktop does. */
export const desktopPrograms = ({ runtime }: Pick<DesktopSettings, 'runtime'>): readonly DesktopProgram[] => [
  { file: 'openbox', args: ['--config-file', `${runtime}/openbox.xml`] },
  { file: 'tint2', args: ['-c', `${runtime}/tint2rc`] },
];

/** Ends in a row after which a program is not started again. */
export const MOST_ENDS = 20;
/** A program that has run for so long works: its end is not in a row with those before. */
const WORKS_MS = 60_000;

/** How often a program has ended in a row, with an end after `ranMs`. */
export const endsInARow = (before: number, ranMs: number): number => (ranMs < WORKS_MS ? before + 1 : 1);

/** The environment of every program of a desktop, and of commands that run on it. */
export const desktopEnv = ({
  display,
  home,
  runtime,
  path,
}: Omit<DesktopSettings, 'width' | 'height'>): Readonly<Record<string, string>> => ({
  DISPLAY: `:${display}`,
  XAUTHORITY: `${runtime}/${AUTHORITY_FILE}`,
  HOME: home,
  LANG: 'C.UTF-8',
  PATH: `${runtime}/bin:${path}`,
  XDG_RUNTIME_DIR: runtime,
  XDG_CONFIG_DIRS: `${runtime}/config:/etc/xdg`,
  XDG_DATA_DIRS: `${runtime}/data:/usr/local/share:/usr/share`,
  XENVIRONMENT: `${runtime}/xterm.resources`,
  BROWSER: 'x-www-browser',
  // Its portals and buses are of sessions that a desktop does not have.
  GTK_USE_PORTAL: '0',
  NO_AT_BRIDGE: '1',
});

/** The files of the runtime folder. */
export const desktopFiles = ({ runtime }: Pick<DesktopSettings, 'runtime'>): readonly DesktopFile[] => [
  { path: 'openbox.xml', text: OPENBOX_RC, mode: 0o644 },
  { path: 'data/themes/Berth/openbox-3/themerc', text: OPENBOX_THEME, mode: 0o644 },
  { path: 'tint2rc', text: TINT2_RC.replaceAll('{runtime}', runtime), mode: 0o644 },
  { path: 'xterm.resources', text: XTERM_RESOURCES, mode: 0o644 },
  { path: 'config/mimeapps.list', text: MIME_APPS, mode: 0o644 },
  { path: 'bin/x-www-browser', text: BROWSER, mode: 0o755 },
  { path: 'bin/x-terminal-emulator', text: '#!/bin/sh\nexec xterm "$@"\n', mode: 0o755 },
  { path: 'bin/x-file-manager', text: FILE_MANAGER, mode: 0o755 },
  ...[
    launcher('browser', { name: 'Web browser', command: 'x-www-browser %U', icon: 'chromium' }),
    launcher('terminal', { name: 'Terminal', command: 'x-terminal-emulator', icon: 'utilities-terminal' }),
    launcher('files', { name: 'Files', command: 'x-file-manager %U', icon: 'system-file-manager' }),
  ].map(({ path, text }) => ({ path: `data/applications/${path}`, text, mode: 0o644 })),
];

/** Chromium needs for its sandbox a user namespace, or its helper that is set to root's user where that has an effect. */
const BROWSER = `#!/bin/sh
for browser in chromium chromium-browser google-chrome; do command -v "$browser" >/dev/null && break; done
set -- --no-first-run --no-default-browser-check --password-store=basic --disable-dev-shm-usage "$@"
helper() { [ -u /usr/lib/chromium/chrome-sandbox ] && grep -q '^NoNewPrivs:[^1]*$' /proc/self/status; }
if [ "$(id -u)" != 0 ] && { unshare --user true 2>/dev/null || helper; }; then
  exec "$browser" "$@"
fi
echo 'This host permits no sandbox for the browser; it runs without one.' >&2
exec "$browser" --no-sandbox --test-type "$@"
`;

const FILE_MANAGER = `#!/bin/sh
for manager in thunar pcmanfm; do command -v "$manager" >/dev/null && break; done
exec "$manager" "$@"
`;
