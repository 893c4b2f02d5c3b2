import { setTimeout as delay } from 'node:timers/promises';
import type { XInput, XPoint } from './x-input.js';

/** Buttons by the numbers of X. */
export const BUTTONS = { left: 1, wheel: 2, right: 3, back: 8, forward: 9 } as const;
const NOTCHES = { up: 4, down: 5, left: 6, right: 7 } as const;

export type Button = keyof typeof BUTTONS;

/**
 * How a path is dragged: a program begins to drag only when it sees the pointer move away from where the button went
 * down, and knows what it drags over only after exchanges with the program below. A person takes half a second.
 */
const DRAG = { stepPixels: 40, stepMs: 8, mostMs: 1_000, restMs: 50 } as const;

/** The pointer of a display. Each call resolves when the server has passed on all of its events. */
export class Pointer {
  constructor(
    private readonly input: XInput,
    private readonly sync: () => Promise<void>,
  ) {}

  async position(): Promise<XPoint> {
    const { x, y } = await this.input.pointerState();
    return { x, y };
  }

  /** Where the pointer is if a button is down, whoever pressed it. */
  async pressedAt(): Promise<XPoint | undefined> {
    const { x, y, isPressed } = await this.input.pointerState();
    return isPressed ? { x, y } : undefined;
  }

  async move(to: XPoint): Promise<void> {
    this.input.motion(to);
    await this.sync();
  }

  async click(at: XPoint, button: Button, clicks: number): Promise<void> {
    this.input.motion(at);
    this.#press(BUTTONS[button], clicks);
    await this.sync();
  }

  /** Presses a button, which stays down until it is released. */
  async down(button: Button): Promise<void> {
    this.input.button(BUTTONS[button], true);
    await this.sync();
  }

  async up(button: Button): Promise<void> {
    this.input.button(BUTTONS[button], false);
    await this.sync();
  }

  /** Turns the wheel at a place; positive is right and down. */
  async scroll(
    at: XPoint,
    { right, down }: { readonly right: number; readonly down: number },
  ): Promise<void> {
    this.input.motion(at);
    this.#press(down < 0 ? NOTCHES.up : NOTCHES.down, Math.abs(down));
    this.#press(right < 0 ? NOTCHES.left : NOTCHES.right, Math.abs(right));
    await this.sync();
  }

  /** Moves the pointer through all points of a path while the left button is down. Throws when `signal` aborts. */
  async drag(path: readonly XPoint[], signal?: AbortSignal): Promise<void> {
    const [start] = path;
    if (start === undefined) return;
    await this.move(start);
    await this.down('left');
    try {
      await this.follow(path.slice(1), signal);
    } finally {
      await this.up('left');
    }
  }

  /** Moves the pointer through all points while a button is down, as a person drags. Throws when `signal` aborts. */
  async follow(path: readonly XPoint[], signal?: AbortSignal): Promise<void> {
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

  #press(button: number, times: number): void {
    for (let time = 0; time < times; time++) {
      this.input.button(button, true);
      this.input.button(button, false);
    }
  }
}

/** The way between two points in steps, the last of which is its end. */
const stepsTo = (from: XPoint, to: XPoint): readonly XPoint[] => {
  const count = Math.max(1, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / DRAG.stepPixels));
  return Array.from({ length: count }, (_, index) => ({
    x: Math.round(from.x + ((to.x - from.x) * (index + 1)) / count),
    y: Math.round(from.y + ((to.y - from.y) * (index + 1)) / count),
  }));
};
