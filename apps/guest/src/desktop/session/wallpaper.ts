import { packRequest, u16, u32, u8 } from '../x11/x-packing.js';
import { internAtom, type XConnection } from '../x11/x-connection.js';

const PIXEL_FORMAT = 2;
const PIXMAP = 20;
const FREE_PIXMAP = 54;
const FREE_CONTEXT = 60;
/** Rows of one request, which is far below the longest. */
const ROWS = 50;
/** From the top left to the bottom right, and the colour of the two lights. */
const FROM = [18, 32, 58] as const;
const TO = [38, 110, 132] as const;
const LIGHT = [120, 190, 210] as const;

/** The background of a display: a quiet gradient. It stays as long as the connection. */
export class Wallpaper {
  #pixmap: number | undefined;

  constructor(private readonly connection: XConnection) {}

  async paint(): Promise<void> {
    const pixmap = createGradient(this.connection);
    const former = this.#pixmap;
    this.#pixmap = pixmap;
    await showOnRoot(this.connection, pixmap);
    if (former !== undefined) this.connection.send(packRequest(FREE_PIXMAP, 0, u32(former)));
    await this.connection.sync();
  }
}

const createGradient = (connection: XConnection): number => {
  const { root, rootDepth, width, height } = connection.setup;
  const pixmap = connection.newId();
  const context = connection.newId();
  connection.send(
    packRequest(53, rootDepth, u32(pixmap, root), u16(width, height)),
    packRequest(55, 0, u32(context, root, 0)),
  );
  for (let y = 0; y < height; y += ROWS) {
    const rows = Math.min(ROWS, height - y);
    connection.send(
      packRequest(
        72,
        PIXEL_FORMAT,
        u32(pixmap, context),
        u16(width, rows, 0, y),
        u8(0, rootDepth, 0, 0),
        gradient({ y, rows, width, height }),
      ),
    );
  }
  connection.send(packRequest(FREE_CONTEXT, 0, u32(context)));
  return pixmap;
};

const showOnRoot = async (connection: XConnection, pixmap: number): Promise<void> => {
  const { root } = connection.setup;
  const backgroundPixmap = 1;
  connection.send(
    packRequest(2, 0, u32(root, backgroundPixmap, pixmap)),
    packRequest(61, 0, u32(root, 0, 0)),
  );
  // The panel reads these to draw itself translucent.
  for (const name of ['_XROOTPMAP_ID', 'ESETROOT_PMAP_ID']) {
    const property = await internAtom(connection, name);
    connection.send(packRequest(18, 0, u32(root, property, PIXMAP), u8(32, 0, 0, 0), u32(1, pixmap)));
  }
};

const gradient = (part: {
  readonly y: number;
  readonly rows: number;
  readonly width: number;
  readonly height: number;
}): Buffer => {
  const { y, rows, width, height } = part;
  const pixels = Buffer.alloc(width * rows * 4);
  for (let row = 0, at = 0; row < rows; row++) {
    const down = (y + row) / height;
    for (let column = 0; column < width; column++, at += 4) {
      const right = column / width;
      const along = (right + down) / 2;
      const light = glow(right - 0.78, down - 0.2) * 0.35 + glow(right - 0.15, down - 0.95) * 0.25;
      // Breaks up the bands that a gradient of 24 bits has; the same for each run.
      const noise = ((column * 7 + (y + row) * 13 + column * (y + row)) % 11) / 11;
      for (let channel = 0; channel < 3; channel++) {
        const base = mix(FROM[channel] ?? 0, TO[channel] ?? 0, along);
        pixels[at + 2 - channel] = Math.min(255, Math.floor(mix(base, LIGHT[channel] ?? 0, light) + noise));
      }
    }
  }
  return pixels;
};

const mix = (from: number, to: number, part: number): number => from + (to - from) * part;

const glow = (x: number, y: number): number => Math.exp(-(x * x + y * y) * 6);
