import { setTimeout as delay } from 'node:timers/promises';
import type { Region, Size } from '@berth/contracts/computers/plan';
import { Semaphore } from '../../files/semaphore.js';
import type { FrameSource, View } from './frame-source.js';
import { encodeJpeg } from './jpeg.js';
import { cut, drawCursor, type Picture } from './pixels.js';
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
  /** Of the image. */
  readonly size: Size;
  /** A part of the display; the whole if it is left out. */
  readonly region?: Region;
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
  #latest: Promise<unknown> = Promise.resolve();
  #next: Promise<View> | undefined;

  constructor(private readonly source: Pick<FrameSource, 'refresh'>) {}

  /** The screen as it is after the call. Errors: unavailable `display_lost`, timeout `display_unresponsive`. */
  capture(request: ImageRequest): Promise<ScreenImage> {
    // Callers wait for their turn before they look: a look is soon overwritten, and a copy of each would take much memory.
    return this.#encoding.run(async () => {
      const view = await this.#view();
      const capturedAt = Date.now();
      const { cursor, generation } = view;
      const key = JSON.stringify([generation, cursor.x, cursor.y, cursor.serial, request]);
      const made = this.#images.get(key) ?? this.#make(key, view, request);
      return { ...(await made), capturedAt };
    });
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

  /**
   * Looks at the screen once for all that ask at the same time, after the look before; nobody gets a look that began before
   * the call. Whoever gets it reads its pixels at once.
   */
  #view(): Promise<View> {
    this.#next ??= this.#latest
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        const look = this.source.refresh();
        this.#latest = look;
        return look;
      });
    return this.#next;
  }

  #make(key: string, view: View, request: ImageRequest): Promise<Omit<ScreenImage, 'capturedAt'>> {
    const made = encode(pictureOf(view, request), request);
    this.#images.set(key, made);
    made.catch(() => this.#images.delete(key));
    const [oldest] = this.#images.keys();
    if (this.#images.size > KEPT_IMAGES && oldest !== undefined) this.#images.delete(oldest);
    return made;
  }
}

const encode = async (
  picture: Picture,
  { format, quality }: ImageRequest,
): Promise<Omit<ScreenImage, 'capturedAt'>> => {
  const data = format === 'png' ? await encodePng(picture) : await encodeJpeg(picture, quality);
  return { format, width: picture.width, height: picture.height, data };
};

const pictureOf = ({ frame, cursor }: View, { format, size, region }: ImageRequest): Picture => {
  const lead = format === 'png' ? PNG_LEAD : 0;
  const part = region ?? { x: 0, y: 0, width: frame.width, height: frame.height };
  const { width, height } = size;
  const picture = cut(frame, part, lead);
  drawCursor(picture, part, cursor);
  const isScaled = width !== part.width || height !== part.height;
  return isScaled ? resample(picture, width, height, lead) : picture;
};
