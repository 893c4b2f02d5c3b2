import type { Env } from '@berth/config';

/** How a terminal takes images: kitty's protocol, or that of iTerm2. */
export type ImageProtocol = 'kitty' | 'iterm2';

const KITTY_TERMS = /^xterm-(kitty|ghostty)$/;
const ITERM2_PROGRAMS: ReadonlySet<string> = new Set(['iTerm.app', 'WezTerm', 'mintty']);

/** Undefined for a terminal that is not known to show images. Multiplexers keep images from the terminal. */
export const imageProtocolOf = (env: Env): ImageProtocol | undefined => {
  if (present(env['TMUX']) || present(env['STY'])) return undefined;
  if (present(env['KITTY_WINDOW_ID']) || KITTY_TERMS.test(env['TERM'] ?? '')) return 'kitty';
  const isIterm2 = ITERM2_PROGRAMS.has(env['TERM_PROGRAM'] ?? '') || env['LC_TERMINAL'] === 'iTerm2';
  return isIterm2 ? 'iterm2' : undefined;
};

const present = (value: string | undefined): boolean => value !== undefined && value !== '';

/** What shows a PNG in a terminal. */
export const inlineImage = (protocol: ImageProtocol, png: Buffer): string =>
  protocol === 'kitty' ? kittyImage(png.toString('base64')) : iterm2Image(png);

/** The longest payload of one of kitty's escape codes. */
const KITTY_CHUNK = 4_096;

const kittyImage = (data: string): string => {
  const chunks = data.match(new RegExp(`.{1,${KITTY_CHUNK}}`, 'g')) ?? [];
  const codes = chunks.map((chunk, index) => {
    const control = index === 0 ? 'a=T,f=100,' : '';
    return `\u001B_G${control}m=${index === chunks.length - 1 ? 0 : 1};${chunk}\u001B\\`;
  });
  return `${codes.join('')}\n`;
};

const iterm2Image = (png: Buffer): string =>
  `\u001B]1337;File=inline=1;size=${png.length};preserveAspectRatio=1:${png.toString('base64')}\u0007\n`;
