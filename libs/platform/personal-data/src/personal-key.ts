import { SecretBox } from '@berth/persistence';

/** Every sealed text begins with it. */
const KEY_ID = 'p';

/** The key of one end user's personal data: seals with AES-256-GCM, bound to the end user and to what the data is about. */
export class PersonalKey {
  readonly #box: SecretBox;

  /** `bytes`: 32. */
  constructor(
    readonly endUserId: string,
    readonly bytes: Uint8Array,
  ) {
    this.#box = new SecretBox({ current: KEY_ID, keys: new Map([[KEY_ID, bytes]]) });
  }

  /** `value` must survive a round trip through JSON. `about` names the place that holds the sealed text. */
  seal(about: string, value: unknown): string {
    return this.#box.seal(JSON.stringify(value), this.#aad(about));
  }

  /** Throws if the text was sealed under another key, for another end user or about something else. */
  open(about: string, sealed: string): unknown {
    return JSON.parse(this.#box.open(sealed, this.#aad(about)));
  }

  #aad(about: string): string {
    return `${this.endUserId}/${about}`;
  }
}
