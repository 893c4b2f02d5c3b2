import type { Point } from '@berth/contracts/computers/plan';
import { packRequest, u16, u32, u8 } from '../x11/x-packing.js';
import type { XConnection, XExtension } from '../x11/x-connection.js';
import { displayUnsupported } from '../x11/x-errors.js';
import type { KeyTable } from './keyboard-map.js';

const KEY_PRESS = 2;
const BUTTON_PRESS = 4;
const MOTION = 6;
/** In a state: of the buttons that it tells. */
const BUTTONS_DOWN = 0x1f00;
const CORE_KEYBOARD = 0x100;
const KEYCODE_OF_NO_KEY = 8;
const MODIFIER_MAPS = 8;

/** What is locked and which group of the keyboard map is in use. */
export interface KeyboardState {
  readonly locked: number;
  readonly group: number;
}

/** The requests to an X server that enter keys, buttons and motions as if a device had. */
export class XInput {
  private constructor(
    private readonly connection: XConnection,
    private readonly test: XExtension,
    private readonly xkb: XExtension,
  ) {}

  /** Errors: unsupported `display_unsupported`. */
  static async open(connection: XConnection): Promise<XInput> {
    const [test, xkb] = await Promise.all([connection.extension('XTEST'), connection.extension('XKEYBOARD')]);
    if (test === undefined || xkb === undefined)
      throw displayUnsupported('The X server lacks XTEST or XKEYBOARD.');
    const use = 0;
    await connection.ask(packRequest(xkb.opcode, use, u16(1, 0)));
    const grabControl = 3;
    // A program that grabs the server stops all others, but not this connection.
    connection.send(packRequest(test.opcode, grabControl, u8(1, 0, 0, 0)));
    return new XInput(connection, test, xkb);
  }

  /**
   * Makes the keyboard that enters keys here the one whose map counts. A viewer's keyboard is another, to whose map the VNC
   * server adds what a person types; the map changes with the first event of the other, also with one that nobody sees.
   */
  takeKeyboard(): void {
    this.key(KEYCODE_OF_NO_KEY, false);
  }

  key(keycode: number, down: boolean): void {
    this.#fake(down ? KEY_PRESS : KEY_PRESS + 1, keycode);
  }

  button(button: number, down: boolean): void {
    this.#fake(down ? BUTTON_PRESS : BUTTON_PRESS + 1, button);
  }

  motion({ x, y }: Point): void {
    this.#fake(MOTION, 0, { x, y });
  }

  async pointerState(): Promise<Point & { readonly isPressed: boolean }> {
    const reply = await this.connection.ask(packRequest(38, 0, u32(this.connection.setup.root)));
    const isPressed = (reply.readUInt16LE(24) & BUTTONS_DOWN) !== 0;
    return { x: reply.readInt16LE(16), y: reply.readInt16LE(18), isPressed };
  }

  async keyTable(): Promise<KeyTable> {
    const { firstKeycode, lastKeycode } = this.connection.setup;
    const [keys, modifiers] = await Promise.all([
      this.connection.ask(packRequest(101, 0, u8(firstKeycode, lastKeycode - firstKeycode + 1, 0, 0))),
      this.connection.ask(packRequest(119, 0)),
    ]);
    const width = keys[1] ?? 0;
    const keysyms = Array.from({ length: (keys.length - 32) / 4 }, (_, index) =>
      keys.readUInt32LE(32 + index * 4),
    );
    const ofModifiers = modifiers.subarray(32, 32 + MODIFIER_MAPS * (modifiers[1] ?? 0));
    return { firstKeycode, width, keysyms, modifiers: new Set(ofModifiers) };
  }

  /**
   * Lets keycodes enter these keysyms. All programs read the map again after each request, so keycodes in a row are one.
   */
  remap(keysyms: ReadonlyMap<number, number>): void {
    const codes = [...keysyms.keys()].toSorted((one, other) => one - other);
    for (let from = 0; from < codes.length;) {
      const first = codes[from] ?? 0;
      let to = from + 1;
      while (codes[to] === first + to - from) to++;
      // Twice: of a lone capital, the server would make the small letter of the key.
      const given = codes.slice(from, to).flatMap((code) => [keysyms.get(code) ?? 0, keysyms.get(code) ?? 0]);
      this.connection.send(packRequest(100, to - from, u8(first, 2, 0, 0), u32(...given)));
      from = to;
    }
  }

  async keyboardState(): Promise<KeyboardState> {
    const getState = 4;
    const reply = await this.connection.ask(packRequest(this.xkb.opcode, getState, u16(CORE_KEYBOARD, 0)));
    return { locked: reply[11] ?? 0, group: reply[12] ?? 0 };
  }

  /** Locks or unlocks the modifiers of `mask`. */
  lock(mask: number, locked: boolean): void {
    const latchLockState = 5;
    this.connection.send(
      packRequest(
        this.xkb.opcode,
        latchLockState,
        u16(CORE_KEYBOARD),
        u8(mask, locked ? mask : 0, 0, 0, 0, 0, 0, 0, 0, 0),
      ),
    );
  }

  #fake(type: number, detail: number, { x, y }: Point = { x: 0, y: 0 }): void {
    const fakeInput = 2;
    const anyDevice = u32(0, 0);
    this.connection.send(
      packRequest(this.test.opcode, fakeInput, u8(type, detail, 0, 0), u32(0, 0, 0, 0), u16(x, y), anyDevice),
    );
  }
}
