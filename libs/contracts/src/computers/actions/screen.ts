import type { Point, Region, Size } from './step.js';

/** A display as a caller sees it: every pixel of a request and of its answer is one of `size`. */
export interface Screen {
  readonly display: Size;
  /** 0.1 to 1. */
  readonly scale: number;
  /** The display, scaled. */
  readonly size: Size;
}

export const screenOf = (display: Size, scale: number): Screen => ({
  display,
  scale,
  size: { width: scaledSide(display.width, scale), height: scaledSide(display.height, scale) },
});

const scaledSide = (side: number, scale: number): number => Math.max(1, Math.round(side * scale));

/** The pixel of the display for a pixel that the caller sees. */
export const toDisplay = ({ display, scale }: Screen, { x, y }: Point): Point => ({
  x: Math.min(Math.round(x / scale), display.width - 1),
  y: Math.min(Math.round(y / scale), display.height - 1),
});

/** The pixel that the caller sees for a pixel of the display. */
export const toCaller = ({ size, scale }: Screen, { x, y }: Point): Point => ({
  x: Math.min(Math.round(x * scale), size.width - 1),
  y: Math.min(Math.round(y * scale), size.height - 1),
});

/** The edges of a region that the caller sees; right and bottom are exclusive, and may be those of the screen. */
export interface Edges {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export const regionOf = ({ display, scale, size }: Screen, edges: Edges): Region => {
  const across = span(edges.left, edges.right, size.width, display.width, scale);
  const down = span(edges.top, edges.bottom, size.height, display.height, scale);
  return { x: across.start, y: down.start, width: across.length, height: down.length };
};

/** The far edge of the scaled side is that of the side itself, however the scaled side was rounded. */
const span = (from: number, to: number, scaledLength: number, side: number, scale: number) => {
  const start = Math.min(Math.round(from / scale), side - 1);
  const end = to === scaledLength ? side : Math.min(Math.round(to / scale), side);
  return { start, length: Math.max(1, end - start) };
};

/**
 * The size that fills the screen's width or height with a region and keeps its shape. The whole display has the size of a
 * screenshot: its sides are rounded one by one.
 */
export const zoomedSize = ({ display, size }: Screen, region: Size): Size => {
  if (region.width === display.width && region.height === display.height) return size;
  const factor = Math.min(size.width / region.width, size.height / region.height);
  return {
    width: Math.max(1, Math.round(region.width * factor)),
    height: Math.max(1, Math.round(region.height * factor)),
  };
};

const PIXELS_A_NOTCH = 100;
/** Finer than any pixel: hides that 29 / 0.29 is not 100 in binary fractions. */
const PRECISION = 1e6;

/** Notches of the wheel for a distance that the caller sees, rounded away from zero. */
export const notchesOf = ({ scale }: Screen, distance: number): number => {
  const exact = Math.round((Math.abs(distance) / scale / PIXELS_A_NOTCH) * PRECISION) / PRECISION;
  return Math.sign(distance) * Math.ceil(exact) + 0;
};
