import { setTimeout as delay } from 'node:timers/promises';
import { Semaphore } from '../../files/semaphore.js';
import type { FrameSource, View } from './frame-source.js';
import { encodeJpeg } from './jpeg.js';
import { cut, drawCursor, type Picture, type Region } from './pixels.js';
import { encodePng, PNG_LEAD } from './png.js';
import { resample } from './resample.js';

/** When the screen counts as still, and how long a call waits for it. */
const STILL = { forMs: 300, mostMs: 3_000, checkMs: 50 } as const;
/** Images that are made at a time; each holds its pixels twice. */
const IMAGES_AT_A_TIME = 2;
/** Images that are kept for callers that want the same again. */
const KEPT_IMAGES = 4;

export interface ImageRequest {
  readonly format: 'png' | 'jpeg';
  /** 1 to 100, of JPEG only. */
  readonly quality: number;
  /** 0.1 to 1: what a pixel of the image is of the display. */
  readonly scale: number;
  /** A part of the display, enlarged until it fills the width or the height of the image. */
  readonly region?: Region;
  /** Of the image, exactly; without it, `scale` decides. */
  readonly size?: { readonly width: number; readonly height: number };
}

export interface ScreenImage {
  readonly format: 'png' | 'jpeg';
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
  /** Milliseconds since 1970. */
  readonly capturedAt: number;
}

/** The screen of a display, as images with the pointer drawn. */
export class Screen {
  readonly #images = new Map<string, Promise<Omit<ScreenImage, 'capturedAt'>>>();
  readonly #encoding = new Semaphore(IMAGES_AT_A_TIME);
  #running: Promise<View> | undefined;
  #next: Promise<View> | undefined;

  constructor(private readonly source: FrameSource) {}

  /** The screen as it is after the call. Errors: unavailable `display_lost`, timeout `display_unresponsive`. */
  async capture(request: ImageRequest): Promise<ScreenImage> {
    const view = await this.#view();
    const capturedAt = Date.now();
    const { cursor, generation } = view;
    const key = JSON.stringify([generation, cursor.x, cursor.y, cursor.serial, request]);
    const made = this.#images.get(key) ?? this.#make(key, view, request);
    return { ...(await made), capturedAt };
  }

  /** Resolves when no pixel has changed for 300 ms, after 3 s at the latest. The pointer does not count. */
  async untilStill(): Promise<void> {
    const startedAt = performance.now();
    let { generation } = await this.#view();
    let changedAt = startedAt;
    for (let now = startedAt; now - changedAt < STILL.forMs && now - startedAt < STILL.mostMs;) {
      await delay(STILL.checkMs);
      const seen = (await this.#view()).generation;
      now = performance.now();
      if (seen === generation) continue;
      generation = seen;
      changedAt = now;
    }
  }

  /** Looks at the screen once for all that ask at the same time; nobody gets a look that began before the call. */
  #view(): Promise<View> {
    if (this.#running === undefined) return this.#look();
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#look();
      });
    return this.#next;
  }

  #look(): Promise<View> {
    const looking = this.source.refresh();
    this.#running = looking;
    const done = (): void => {
      if (this.#running === looking) this.#running = undefined;
    };
    looking.then(done, done);
    return looking;
  }

  #make(key: string, view: View, request: ImageRequest): Promise<Omit<ScreenImage, 'capturedAt'>> {
    const made = this.#encoding.run(() => encode(view, request));
    this.#images.set(key, made);
    made.catch(() => this.#images.delete(key));
    const [oldest] = this.#images.keys();
    if (this.#images.size > KEPT_IMAGES && oldest !== undefined) this.#images.delete(oldest);
    return made;
  }
}

const encode = async (view: View, request: ImageRequest): Promise<Omit<ScreenImage, 'capturedAt'>> => {
  const { format, quality } = request;
  const picture = pictureOf(view, request);
  const data = format === 'png' ? await encodePng(picture) : await encodeJpeg(picture, quality);
  return { format, width: picture.width, height: picture.height, data };
};

const pictureOf = ({ frame, cursor }: View, { format, scale, region, size }: ImageRequest): Picture => {
  const lead = format === 'png' ? PNG_LEAD : 0;
  const part = region ?? { x: 0, y: 0, width: frame.width, height: frame.height };
  const { width, height } = size ?? sizeOf(frame, scale, part);
  const picture = cut(frame, part, lead);
  drawCursor(picture, part, cursor);
  const isScaled = width !== part.width || height !== part.height;
  return isScaled ? resample(picture, width, height, lead) : picture;
};

/** The size of an image of that part: it fills the width or the height of the scaled display. */
const sizeOf = (
  frame: { readonly width: number; readonly height: number },
  scale: number,
  part: Region,
): { readonly width: number; readonly height: number } => {
  const width = Math.max(1, Math.round(frame.width * scale));
  const height = Math.max(1, Math.round(frame.height * scale));
  const factor = Math.min(width / part.width, height / part.height);
  const fill = (side: number, most: number): number => Math.min(most, Math.max(1, Math.round(side * factor)));
  const isWhole = part.width === frame.width && part.height === frame.height;
  return isWhole ? { width, height } : { width: fill(part.width, width), height: fill(part.height, height) };
};
