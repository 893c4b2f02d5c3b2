import { displayUnsupported } from './x-errors.js';
import { padded, u16, u8 } from './x-packing.js';

const COOKIE_NAME = 'MIT-MAGIC-COOKIE-1';
/** Red in the third, green in the second and blue in the first byte of a pixel. */
const TRUE_COLOUR = [0xff0000, 0xff00, 0xff];

/** What the server tells at the start of a connection. */
export interface XSetup {
  readonly resourceBase: number;
  readonly root: number;
  readonly rootVisual: number;
  readonly rootDepth: number;
  readonly width: number;
  readonly height: number;
  readonly firstKeycode: number;
  readonly lastKeycode: number;
}

/** The first bytes of a connection, which prove that its client knows the cookie of the display. */
export const packHello = (cookie: Buffer): Buffer =>
  Buffer.concat([
    u8('l'.charCodeAt(0), 0),
    u16(11, 0, COOKIE_NAME.length, cookie.length, 0),
    padded(COOKIE_NAME),
    padded(cookie),
  ]);

/** Reads the answer to `packHello`. Errors: unsupported `display_unsupported`. */
export const readSetup = (answer: Buffer): XSetup => {
  if (answer[0] !== 1) {
    const reason = answer.toString('latin1', 8, 8 + (answer[1] ?? 0)).trim();
    throw displayUnsupported(`The X server refuses the connection: ${reason}`);
  }
  const screen = 40 + Math.ceil(answer.readUInt16LE(24) / 4) * 4 + (answer[29] ?? 0) * 8;
  const setup = {
    resourceBase: answer.readUInt32LE(12),
    root: answer.readUInt32LE(screen),
    width: answer.readUInt16LE(screen + 20),
    height: answer.readUInt16LE(screen + 22),
    rootVisual: answer.readUInt32LE(screen + 32),
    rootDepth: answer[screen + 38] ?? 0,
    firstKeycode: answer[34] ?? 8,
    lastKeycode: answer[35] ?? 255,
  };
  if (String(masksOf(answer, screen, setup.rootVisual)) !== String(TRUE_COLOUR)) {
    throw displayUnsupported('The X server has no true colours of 24 bits.');
  }
  return setup;
};

const masksOf = (answer: Buffer, screen: number, visual: number): readonly number[] => {
  let at = screen + 40;
  for (let depths = answer[screen + 39] ?? 0; depths > 0; depths--) {
    const visuals = answer.readUInt16LE(at + 2);
    for (let one = at + 8; one < at + 8 + visuals * 24; one += 24) {
      if (answer.readUInt32LE(one) === visual)
        return [8, 12, 16].map((mask) => answer.readUInt32LE(one + mask));
    }
    at += 8 + visuals * 24;
  }
  return [];
};
