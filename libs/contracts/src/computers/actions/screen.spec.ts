import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { notchesOf, regionOf, screenOf, toCaller, toDisplay, zoomedSize } from './screen.js';
import { screens } from './valid-actions.fixture.js';

const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const pixelOf = (side: number, part: number): number => Math.floor(side * part);

describe('a scaled screen', () => {
  it('has sides rounded to the nearest pixel', () => {
    expect(screenOf({ width: 1_280, height: 800 }, 0.5).size).toEqual({ width: 640, height: 400 });
    expect(screenOf({ width: 1_285, height: 804 }, 0.1).size).toEqual({ width: 129, height: 80 });
  });

  it('shows each of its pixels where the caller saw it', () => {
    fc.assert(
      fc.property(screens, share, share, (screen, across, down) => {
        const seen = { x: pixelOf(screen.size.width, across), y: pixelOf(screen.size.height, down) };
        expect(toCaller(screen, toDisplay(screen, seen))).toEqual(seen);
      }),
    );
  });

  it('moves a pixel of the display by half a scaled one at most, the last ones by one and a half, and none off a screen', () => {
    fc.assert(
      fc.property(screens, share, share, (screen, across, down) => {
        const { display, size, scale } = screen;
        const point = { x: pixelOf(display.width, across), y: pixelOf(display.height, down) };
        const seen = toCaller(screen, point);
        const again = toDisplay(screen, seen);
        expect(seen.x < size.width && seen.y < size.height).toBe(true);
        expect(again.x < display.width && again.y < display.height).toBe(true);
        for (const [axis, side] of [
          ['x', size.width],
          ['y', size.height],
        ] as const) {
          const scaledPixels = seen[axis] === side - 1 ? 1.5 : 0.5;
          expect(Math.abs(again[axis] - point[axis])).toBeLessThanOrEqual(scaledPixels / scale + 0.5);
        }
      }),
    );
  });

  it('is the display itself without a scale', () => {
    const screen = screenOf({ width: 1_280, height: 800 }, 1);
    expect(toDisplay(screen, { x: 1_279, y: 799 })).toEqual({ x: 1_279, y: 799 });
    expect(toCaller(screen, { x: 1_279, y: 799 })).toEqual({ x: 1_279, y: 799 });
  });
});

describe('a zoomed region', () => {
  it('lies on the display, is never empty, and reaches its edges where it reaches those of the screen', () => {
    fc.assert(
      fc.property(screens, share, share, share, share, (screen, left, top, wide, high) => {
        const { size, display } = screen;
        const x0 = pixelOf(size.width, left);
        const y0 = pixelOf(size.height, top);
        const x1 = x0 + 1 + pixelOf(size.width - x0, wide);
        const y1 = y0 + 1 + pixelOf(size.height - y0, high);
        const region = regionOf(screen, { left: x0, top: y0, right: x1, bottom: y1 });
        expect(region.width).toBeGreaterThanOrEqual(1);
        expect(region.height).toBeGreaterThanOrEqual(1);
        expect(region.x + region.width).toBeLessThanOrEqual(display.width);
        expect(region.y + region.height).toBeLessThanOrEqual(display.height);
        if (x1 === size.width) expect(region.x + region.width).toBe(display.width);
      }),
    );
  });

  it('fills the width or the height of a screenshot and keeps its shape', () => {
    const screen = screenOf({ width: 1_280, height: 800 }, 1);
    expect(zoomedSize(screen, { width: 640, height: 400 })).toEqual({ width: 1_280, height: 800 });
    expect(zoomedSize(screen, { width: 100, height: 100 })).toEqual({ width: 800, height: 800 });
    expect(zoomedSize(screen, { width: 1_280, height: 10 })).toEqual({ width: 1_280, height: 10 });
    const odd = screenOf({ width: 1_285, height: 804 }, 0.1);
    expect(zoomedSize(odd, odd.display)).toEqual(odd.size);
    fc.assert(
      fc.property(screens, share, share, (one, across, down) => {
        const region = {
          width: 1 + pixelOf(one.display.width, across),
          height: 1 + pixelOf(one.display.height, down),
        };
        const { width, height } = zoomedSize(one, region);
        expect(width === one.size.width || height === one.size.height).toBe(true);
        expect(width <= one.size.width && height <= one.size.height).toBe(true);
      }),
    );
  });
});

describe('a distance to scroll', () => {
  it.each([
    [0, 1, 0],
    [1, 1, 1],
    [-1, 1, -1],
    [100, 1, 1],
    [101, 1, 2],
    [-250, 1, -3],
    [10_000, 1, 100],
    [50, 0.5, 1],
    [29, 0.29, 1],
    [57, 0.57, 1],
  ])('of %d pixels at scale %d is %d notches', (distance, scale, notches) => {
    expect(notchesOf(screenOf({ width: 1_280, height: 800 }, scale), distance)).toBe(notches);
  });
});
