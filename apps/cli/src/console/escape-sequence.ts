const TILDE = 0x7e;
const DOT = 0x2e;
const NEWLINES = [0x0a, 0x0d];

/** What the keys mean: bytes for the shell, and whether the reader leaves the console. */
export interface Typed {
  readonly bytes: Uint8Array;
  readonly leaves: boolean;
}

/**
 * Recognises `~.` at the beginning of a line, with which one leaves a console whose shell does not respond, as in ssh.
 * `~~` there is one `~` for the shell.
 */
export class EscapeSequence {
  #afterNewline = true;
  #afterTilde = false;

  read(keys: Uint8Array): Typed {
    const bytes: number[] = [];
    for (const key of keys) {
      if (this.#afterTilde && key === DOT) return { bytes: Uint8Array.from(bytes), leaves: true };
      if (this.#afterNewline && !this.#afterTilde && key === TILDE) {
        this.#afterTilde = true;
        continue;
      }
      // What was held back was no escape sequence.
      if (this.#afterTilde && key !== TILDE) bytes.push(TILDE);
      bytes.push(key);
      this.#afterTilde = false;
      this.#afterNewline = NEWLINES.includes(key);
    }
    return { bytes: Uint8Array.from(bytes), leaves: false };
  }
}
