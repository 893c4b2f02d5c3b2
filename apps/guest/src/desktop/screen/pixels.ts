import type { Point, Region } from '@berth/contracts/computers/plan';

/** Pixels of four bytes: blue, green, red and one that means nothing. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly pixels: Buffer;
}

/** Pixels of three bytes: red, green, blue. Each row begins with `lead` bytes of zero. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly lead: number;
  readonly bytes: Buffer;
}

/** The picture of a pointer, with alpha; its colours are multiplied by it. */
export interface Cursor extends Region {
  /** Changes with the picture. */
  readonly serial: number;
  /** Pixels of four bytes: blue, green, red, alpha. */
  readonly pixels: Buffer;
}

/** Copies a part of a frame. */
export const cut = ({ width, pixels }: Frame, region: Region, lead: number): Picture => {
  const stride = lead + region.width * 3;
  const bytes = Buffer.allocUnsafe(stride * region.height);
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, pixels.length / 4);
  for (let row = 0, to = 0; row < region.height; row++) {
    for (let index = 0; index < lead; index++) bytes[to++] = 0;
    const from = (region.y + row) * width + region.x;
    for (let at = from; at < from + region.width; at++) {
      const pixel = words[at] as number;
      bytes[to] = pixel >> 16;
      bytes[to + 1] = pixel >> 8;
      bytes[to + 2] = pixel;
      to += 3;
    }
  }
  return { width: region.width, height: region.height, lead, bytes };
};

/** Draws a pointer on the picture that was cut at `origin`. */
export const drawCursor = (picture: Picture, origin: Point, cursor: Cursor): void => {
  const { width, height, lead, bytes } = picture;
  const stride = lead + width * 3;
  for (let row = 0; row < cursor.height; row++) {
    const y = cursor.y + row - origin.y;
    if (y < 0 || y >= height) continue;
    for (let column = 0; column < cursor.width; column++) {
      const x = cursor.x + column - origin.x;
      if (x < 0 || x >= width) continue;
      const from = (row * cursor.width + column) * 4;
      const through = 255 - (cursor.pixels[from + 3] ?? 0);
      const to = y * stride + lead + x * 3;
      for (let channel = 0; channel < 3; channel++) {
        const below = bytes[to + channel] ?? 0;
        const own = cursor.pixels[from + 2 - channel] ?? 0;
        bytes[to + channel] = Math.min(255, own + Math.round((below * through) / 255));
      }
    }
  }
};
