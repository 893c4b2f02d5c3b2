import type { Region, Size } from '@berth/contracts/computers/plan';
import type { XConnection, XExtension } from '../x11/x-connection.js';
import { packRequest, u16, u32, u8 } from '../x11/x-packing.js';
import { displayUnsupported } from '../x11/x-errors.js';
import type { Cursor, Frame } from './pixels.js';

/** More parts than this are fetched as the one region around them. */
const MOST_PARTS = 16;
const PIXEL_FORMAT = 2;

/** What is on the screen at one moment. */
export interface View {
  readonly frame: Frame;
  readonly cursor: Cursor;
  /** Grows with each change of a pixel. */
  readonly generation: number;
}

/** Keeps a copy of the pixels of a display, and fetches only what has changed since. */
export class FrameSource {
  #frame: Frame = { width: 0, height: 0, pixels: Buffer.alloc(0) };
  #generation = 0;
  #isDamaged = false;
  /** Whether the frame has every pixel that was on the screen when it was last looked at. */
  #isWhole = false;
  readonly #damage: number;
  readonly #parts: number;

  private constructor(
    private readonly connection: XConnection,
    private readonly fixes: XExtension,
    private readonly damaging: XExtension,
  ) {
    this.#damage = connection.newId();
    this.#parts = connection.newId();
    const createRegion = 5;
    const createDamage = 1;
    const whenNotEmpty = 3;
    connection.onEvent(damaging.firstEvent, () => (this.#isDamaged = true));
    connection.send(
      packRequest(fixes.opcode, createRegion, u32(this.#parts)),
      packRequest(
        damaging.opcode,
        createDamage,
        u32(this.#damage, connection.setup.root),
        u8(whenNotEmpty, 0, 0, 0),
      ),
    );
  }

  /** Errors: unsupported `display_unsupported`. */
  static async open(connection: XConnection): Promise<FrameSource> {
    const [fixes, damaging] = await Promise.all([
      connection.extension('XFIXES'),
      connection.extension('DAMAGE'),
    ]);
    if (fixes === undefined || damaging === undefined) {
      throw displayUnsupported('The X server lacks XFIXES or DAMAGE.');
    }
    const queryVersion = 0;
    await connection.ask(packRequest(fixes.opcode, queryVersion, u32(5, 0)));
    await connection.ask(packRequest(damaging.opcode, queryVersion, u32(1, 1)));
    return new FrameSource(connection, fixes, damaging);
  }

  /** Not to be called again before it has resolved. The frame stays valid until then. */
  async refresh(): Promise<View> {
    const [size, cursor] = await Promise.all([this.#size(), this.#cursor()]);
    const { width, height } = this.#frame;
    const isWhole = this.#isWhole && size.width === width && size.height === height;
    if (!isWhole || this.#isDamaged) {
      // A part that cannot be fetched is not named as changed again.
      this.#isWhole = false;
      this.#isDamaged = false;
      this.#subtract();
      if (!isWhole) this.#frame = { ...size, pixels: Buffer.alloc(size.width * size.height * 4) };
      const parts = isWhole ? await this.#damagedParts() : [{ x: 0, y: 0, ...size }];
      const changes = await Promise.all(parts.map((part) => this.#fetch(part)));
      if (!isWhole || changes.includes(true)) this.#generation++;
      this.#isWhole = true;
    }
    return { frame: this.#frame, cursor, generation: this.#generation };
  }

  #subtract(): void {
    const subtract = 3;
    const noRepair = 0;
    this.connection.send(
      packRequest(this.damaging.opcode, subtract, u32(this.#damage, noRepair, this.#parts)),
    );
  }

  async #damagedParts(): Promise<readonly Region[]> {
    const fetchRegion = 19;
    const reply = await this.connection.ask(packRequest(this.fixes.opcode, fetchRegion, u32(this.#parts)));
    const count = (reply.length - 32) / 8;
    if (count === 0) return [];
    const offsets = count > MOST_PARTS ? [8] : Array.from({ length: count }, (_, index) => 32 + index * 8);
    return offsets
      .map((at) => ({
        x: reply.readInt16LE(at),
        y: reply.readInt16LE(at + 2),
        width: reply.readUInt16LE(at + 4),
        height: reply.readUInt16LE(at + 6),
      }))
      .filter(({ width, height }) => width > 0 && height > 0);
  }

  /** Copies a part of the screen into the frame; returns whether a pixel changed. */
  async #fetch({ x, y, width, height }: Region): Promise<boolean> {
    const allPlanes = 0xffffffff;
    const { root } = this.connection.setup;
    const reply = await this.connection.ask(
      packRequest(73, PIXEL_FORMAT, u32(root), u16(x, y, width, height), u32(allPlanes)),
    );
    const { pixels, width: frameWidth } = this.#frame;
    let changed = false;
    for (let row = 0; row < height; row++) {
      const from = 32 + row * width * 4;
      const to = ((y + row) * frameWidth + x) * 4;
      if (reply.compare(pixels, to, to + width * 4, from, from + width * 4) === 0) continue;
      changed = true;
      reply.copy(pixels, to, from, from + width * 4);
    }
    return changed;
  }

  /** A program may have changed the size of the screen. */
  async #size(): Promise<Size> {
    const reply = await this.connection.ask(packRequest(14, 0, u32(this.connection.setup.root)));
    return { width: reply.readUInt16LE(16), height: reply.readUInt16LE(18) };
  }

  async #cursor(): Promise<Cursor> {
    const getCursorImage = 4;
    const reply = await this.connection.ask(packRequest(this.fixes.opcode, getCursorImage));
    return {
      x: reply.readInt16LE(8) - reply.readUInt16LE(16),
      y: reply.readInt16LE(10) - reply.readUInt16LE(18),
      width: reply.readUInt16LE(12),
      height: reply.readUInt16LE(14),
      serial: reply.readUInt32LE(20),
      pixels: reply.subarray(32),
    };
  }
}
