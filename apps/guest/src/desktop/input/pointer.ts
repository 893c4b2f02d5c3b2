import { setTimeout as delay } from 'node:timers/promises';
import type { MouseButton, Point } from '@berth/contracts/computers/plan';
import type { XInput } from './x-input.js';

const LEFT: MouseButton = 1;
const NOTCHES = { up: 4, down: 5, left: 6, right: 7 } as const;

/**
 * How a path is dragged: a program begins to drag only when it sees the pointer move away from where the button went
 * down, and knows what it drags over only after exchanges with the program below. A person takes half a second.
 */
const DRAG = { stepPixels: 40, stepMs: 8, mostMs: 1_000, restMs: 50 } as const;

/**
 * The least time between two presses of a button: browsers take those of one millisecond, as the server tells the time, for
 * one, and so miss a double click.
 */
const PRESSES_APART_MS = 20;

/** The pointer of a display. Each call resolves when the server has passed on all of its events. */
export class Pointer {
  #pressedAt = -PRESSES_APART_MS;

  constructor(
    private readonly input: XInput,
    private readonly sync: () => Promise<void>,
  ) {}

  async position(): Promise<Point> {
    const { x, y } = await this.input.pointerState();
    return { x, y };
  }

  /** Where the pointer is if a button is down, whoever pressed it. */
  async pressedAt(): Promise<Point | undefined> {
    const { x, y, isPressed } = await this.input.pointerState();
    return isPressed ? { x, y } : undefined;
  }

  async move(to: Point): Promise<void> {
    this.input.motion(to);
    await this.sync();
  }

  async click(at: Point, button: MouseButton, clicks: number): Promise<void> {
    await this.move(at);
    for (let time = 0; time < clicks; time++) {
      await this.down(button);
      await this.up(button);
    }
  }

  /** Presses a button, which stays down until it is released. */
  async down(button: MouseButton): Promise<void> {
    const early = this.#pressedAt + PRESSES_APART_MS - performance.now();
    if (early > 0) await delay(early);
    this.#pressedAt = performance.now();
    this.input.button(button, true);
    await this.sync();
  }

  async up(button: MouseButton): Promise<void> {
    this.input.button(button, false);
    await this.sync();
  }

  /** Turns the wheel at a place; positive is right and down. */
  async scroll(at: Point, { right, down }: { readonly right: number; readonly down: number }): Promise<void> {
    this.input.motion(at);
    this.#turn(down < 0 ? NOTCHES.up : NOTCHES.down, Math.abs(down));
    this.#turn(right < 0 ? NOTCHES.left : NOTCHES.right, Math.abs(right));
    await this.sync();
  }

  /** Moves the pointer through all points of a path while the left button is down. Throws when `signal` aborts. */
  async drag(path: readonly Point[], signal?: AbortSignal): Promise<void> {
    const [start] = path;
    if (start === undefined) return;
    await this.move(start);
    await this.down(LEFT);
    try {
      await this.follow(path.slice(1), signal);
    } finally {
      await this.up(LEFT);
    }
  }

  /** Moves the pointer through all points while a button is down, as a person drags. Throws when `signal` aborts. */
  async follow(path: readonly Point[], signal?: AbortSignal): Promise<void> {
    const start = await this.position();
    await delay(DRAG.restMs, undefined, { signal });
    const steps = path.flatMap((point, index) => stepsTo(path[index - 1] ?? start, point));
    const stepMs = Math.min(DRAG.stepMs, DRAG.mostMs / Math.max(1, steps.length));
    let behindMs = 0;
    for (const step of steps) {
      await this.move(step);
      behindMs += stepMs;
      // A timer waits for a whole millisecond at least.
      if (behindMs < 1) continue;
      await delay(behindMs, undefined, { signal });
      behindMs = 0;
    }
    await delay(DRAG.restMs, undefined, { signal });
  }

  #turn(button: number, notches: number): void {
    for (let notch = 0; notch < notches; notch++) {
      this.input.button(button, true);
      this.input.button(button, false);
    }
  }
}

/** The way between two points in steps, the last of which is its end. */
const stepsTo = (from: Point, to: Point): readonly Point[] => {
  const count = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / DRAG.stepPixels));
  return Array.from({ length: count }, (_, index) => ({
    x: Math.round(from.x + ((to.x - from.x) * (index + 1)) / count),
    y: Math.round(from.y + ((to.y - from.y) * (index + 1)) / count),
  }));
};
