import { DomainError } from '@berth/kernel';
import { createHiddenWindow, internAtom, type XConnection } from '../x11/x-connection.js';
import { packRequest, u32, u8 } from '../x11/x-packing.js';
import { IncomingSelection } from './incoming-selection.js';

const SELECTION_CLEAR = 29;
const SELECTION_REQUEST = 30;
const SELECTION_NOTIFY = 31;
const PROPERTY_CHANGES = 0x400000;
const ATOM = 4;
const STRING = 31;
/** Text is cut after this many characters when it is read. */
export const CLIPBOARD_CHARACTERS = 262_144;

const NAMES = ['CLIPBOARD', 'UTF8_STRING', 'TARGETS', 'INCR', 'text/plain;charset=utf-8', 'TEXT'] as const;

/** Each reading has another property, in turn. */
const PROPERTIES = 16;

interface Atoms {
  readonly clipboard: number;
  readonly utf8: number;
  readonly targets: number;
  readonly incremental: number;
}

/** The clipboard of a display. */
export class Clipboard {
  readonly #window: number;
  readonly #texts: ReadonlySet<number>;
  #own: string | undefined;
  #readings = 0;
  #reading: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly connection: XConnection,
    private readonly atoms: Atoms,
    texts: readonly number[],
    private readonly properties: readonly number[],
  ) {
    this.#texts = new Set(texts);
    this.#window = createHiddenWindow(connection, PROPERTY_CHANGES);
    connection.onEvent(SELECTION_REQUEST, (event) => this.#answer(event));
    connection.onEvent(SELECTION_CLEAR, () => (this.#own = undefined));
  }

  static async open(connection: XConnection): Promise<Clipboard> {
    const intern = (name: string): Promise<number> => internAtom(connection, name);
    const [clipboard = 0, utf8 = 0, targets = 0, incremental = 0, ...texts] = await Promise.all(
      NAMES.map(intern),
    );
    const names = Array.from({ length: PROPERTIES }, (_, index) => `BERTH_SELECTION_${index}`);
    const properties = await Promise.all(names.map(intern));
    return new Clipboard(
      connection,
      { clipboard, utf8, targets, incremental },
      [utf8, ...texts, STRING],
      properties,
    );
  }

  /** Puts a text on the clipboard; other programs take it from here as long as nothing else is put there. */
  async write(text: string): Promise<void> {
    this.#own = text;
    const now = 0;
    this.connection.send(packRequest(22, 0, u32(this.#window, this.atoms.clipboard, now)));
    await this.connection.sync();
  }

  /**
   * The first characters of the text on the clipboard; empty if there is no text. Errors: timeout
   * `clipboard_unresponsive`, if the program that has it does not hand it out.
   */
  read(): Promise<string> {
    // The answers of two readers at a time would be in one property.
    const turn = this.#reading.then(() => this.#read());
    this.#reading = turn.catch(() => undefined);
    return turn;
  }

  async #read(): Promise<string> {
    // Also brings the news that another program has taken the clipboard.
    const owner = await this.connection.ask(packRequest(23, 0, u32(this.atoms.clipboard)));
    if (owner.readUInt32LE(8) === 0) return '';
    if (this.#own !== undefined) return firstCharacters(this.#own);
    for (const target of [this.atoms.utf8, STRING]) {
      const bytes = await this.#convert(target);
      if (bytes === undefined) continue;
      return firstCharacters(bytes.toString(target === STRING ? 'latin1' : 'utf8'));
    }
    return '';
  }

  /** What the owner of the clipboard has for a target; undefined if nothing. */
  async #convert(target: number): Promise<Buffer | undefined> {
    const { clipboard, incremental } = this.atoms;
    const property = this.properties[this.#readings++ % PROPERTIES] ?? 0;
    const atoms = { incremental, property };
    const incoming = new IncomingSelection(this.connection, this.#window, atoms, CLIPBOARD_CHARACTERS * 4);
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
    const given = this.#own !== undefined && this.#put(requestor, property, target, this.#own);
    const notice = Buffer.concat([
      u8(SELECTION_NOTIFY, 0, 0, 0),
      u32(time, requestor, selection, target, given ? property : 0, 0, 0),
    ]);
    this.connection.send(packRequest(25, 0, u32(requestor, 0), notice));
  }

  #put(window: number, property: number, target: number, text: string): boolean {
    const change = (type: number, format: 8 | 32, length: number, data: Buffer): boolean => {
      this.connection.send(
        packRequest(18, 0, u32(window, property, type), u8(format, 0, 0, 0), u32(length), data),
      );
      return true;
    };
    if (target === this.atoms.targets) {
      const targets = [this.atoms.targets, ...this.#texts];
      return change(ATOM, 32, targets.length, u32(...targets));
    }
    if (!this.#texts.has(target)) return false;
    const isLatin = target === STRING;
    const bytes = Buffer.from(text, isLatin ? 'latin1' : 'utf8');
    const { utf8 } = this.atoms;
    return change(isLatin || target !== utf8 ? target : utf8, 8, bytes.length, bytes);
  }
}

const firstCharacters = (text: string): string =>
  text.length <= CLIPBOARD_CHARACTERS ? text : Array.from(text).slice(0, CLIPBOARD_CHARACTERS).join('');
