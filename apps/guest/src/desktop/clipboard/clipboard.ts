import { DomainError } from '@berth/kernel';
import { createHiddenWindow, internAtom, type XConnection } from '../x11/x-connection.js';
import { packRequest, u32, u8 } from '../x11/x-packing.js';
import { IncomingSelection } from './incoming-selection.js';

const SELECTION_REQUEST = 30;
const SELECTION_NOTIFY = 31;
const PROPERTY_CHANGES = 0x400000;
const ATOM = 4;
/** Text in Latin 1. */
const STRING = 31;
const NAMES = ['CLIPBOARD', 'UTF8_STRING', 'TARGETS', 'INCR', 'TEXT', 'text/plain;charset=utf-8'] as const;

/** Each reading has another property, in turn. */
const PROPERTIES = 16;

interface Atoms {
  readonly clipboard: number;
  readonly utf8: number;
  readonly targets: number;
  readonly incremental: number;
  /** Asks for a text in the encoding that its owner prefers. */
  readonly text: number;
  readonly plainText: number;
}

/** The clipboard of a display. */
export class Clipboard {
  readonly #window: number;
  /** What was last put on the clipboard from here, also when another program has taken it since. */
  #text = '';
  #readings = 0;
  #reading: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly connection: XConnection,
    private readonly atoms: Atoms,
    private readonly properties: readonly number[],
  ) {
    this.#window = createHiddenWindow(connection, PROPERTY_CHANGES);
    connection.onEvent(SELECTION_REQUEST, (event) => this.#answer(event));
  }

  static async open(connection: XConnection): Promise<Clipboard> {
    const intern = (name: string): Promise<number> => internAtom(connection, name);
    const [clipboard = 0, utf8 = 0, targets = 0, incremental = 0, text = 0, plainText = 0] =
      await Promise.all(NAMES.map(intern));
    const names = Array.from({ length: PROPERTIES }, (_, index) => `BERTH_SELECTION_${index}`);
    const properties = await Promise.all(names.map(intern));
    const atoms = { clipboard, utf8, targets, incremental, text, plainText };
    return new Clipboard(connection, atoms, properties);
  }

  /** Puts a text on the clipboard; other programs take it from here as long as nothing else is put there. */
  async write(text: string): Promise<void> {
    this.#text = text;
    const now = 0;
    this.connection.send(packRequest(22, 0, u32(this.#window, this.atoms.clipboard, now)));
    await this.connection.sync();
  }

  /**
   * The first characters of the text on the clipboard; empty if there is no text. Errors: timeout
   * `clipboard_unresponsive`, if the program that has it does not hand it out.
   */
  read(characters: number): Promise<string> {
    // The answers of two readers at a time would be in one property.
    const turn = this.#reading.then(() => this.#read(characters));
    this.#reading = turn.catch(() => undefined);
    return turn;
  }

  async #read(characters: number): Promise<string> {
    const reply = await this.connection.ask(packRequest(23, 0, u32(this.atoms.clipboard)));
    const owner = reply.readUInt32LE(8);
    if (owner === 0) return '';
    if (owner === this.#window) return firstCharacters(characters, this.#text);
    for (const target of [this.atoms.utf8, STRING]) {
      const bytes = await this.#convert(target, characters);
      if (bytes === undefined) continue;
      return firstCharacters(characters, bytes.toString(target === STRING ? 'latin1' : 'utf8'));
    }
    return '';
  }

  /** What the owner of the clipboard has for a target, at least that of so many characters; undefined if nothing. */
  async #convert(target: number, characters: number): Promise<Buffer | undefined> {
    const { clipboard, incremental } = this.atoms;
    const property = this.properties[this.#readings++ % PROPERTIES] ?? 0;
    const atoms = { incremental, property };
    const incoming = new IncomingSelection(this.connection, this.#window, atoms, characters * 4);
    const now = 0;
    this.connection.send(
      packRequest(19, 0, u32(this.#window, property)),
      packRequest(24, 0, u32(this.#window, clipboard, target, property, now)),
    );
    try {
      return await incoming.received;
    } catch (cause) {
      if (cause !== IncomingSelection.late) throw cause;
      throw new DomainError(
        'timeout',
        'clipboard_unresponsive',
        'The program that has the clipboard does not hand it out.',
        {},
        { effect: 'none' },
      );
    } finally {
      incoming.end();
    }
  }

  #answer(event: Buffer): void {
    const [time = 0, , requestor = 0, selection = 0, target = 0, wanted = 0] = Array.from(
      { length: 6 },
      (_, index) => event.readUInt32LE(4 + index * 4),
    );
    // Old programs name no property.
    const property = wanted === 0 ? target : wanted;
    const given = this.#put(requestor, property, target);
    const notice = Buffer.concat([
      u8(SELECTION_NOTIFY, 0, 0, 0),
      u32(time, requestor, selection, target, given ? property : 0, 0, 0),
    ]);
    this.connection.send(packRequest(25, 0, u32(requestor, 0), notice));
  }

  /** Returns whether the text can be handed out for that target. */
  #put(window: number, property: number, target: number): boolean {
    if (target === this.atoms.targets) {
      const targets = [this.atoms.targets, ...this.#encodings().keys()];
      this.#change(window, property, {
        type: ATOM,
        format: 32,
        length: targets.length,
        data: u32(...targets),
      });
      return true;
    }
    const encoding = this.#encodings().get(target);
    if (encoding === undefined) return false;
    const data = Buffer.from(this.#text, encoding.charset);
    this.#change(window, property, { type: encoding.type, format: 8, length: data.length, data });
    return true;
  }

  /** By the target that asks for it. */
  #encodings(): ReadonlyMap<number, { readonly type: number; readonly charset: 'utf8' | 'latin1' }> {
    const { utf8, text, plainText } = this.atoms;
    const isLatin = Buffer.from(this.#text, 'latin1').toString('latin1') === this.#text;
    return new Map([
      [utf8, { type: utf8, charset: 'utf8' }],
      [plainText, { type: plainText, charset: 'utf8' }],
      [text, { type: utf8, charset: 'utf8' }],
      ...(isLatin ? ([[STRING, { type: STRING, charset: 'latin1' }]] as const) : []),
    ]);
  }

  #change(
    window: number,
    property: number,
    value: { readonly type: number; readonly format: 8 | 32; readonly length: number; readonly data: Buffer },
  ): void {
    const { type, format, length, data } = value;
    this.connection.send(
      packRequest(18, 0, u32(window, property, type), u8(format, 0, 0, 0), u32(length), data),
    );
  }
}

const firstCharacters = (count: number, text: string): string =>
  text.length <= count ? text : Array.from(text).slice(0, count).join('');
