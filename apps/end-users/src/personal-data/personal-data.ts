import type { MetadataValue } from '@berth/contracts/end-users';
import { SecretBox } from '@berth/persistence';

/** The personal fields of an end user. */
export interface PersonalFields {
  readonly externalId: string;
  readonly displayName: string | null;
  readonly metadata: Readonly<Record<string, MetadataValue>>;
  readonly tags: readonly string[];
}

export type PersonalField = keyof PersonalFields;

/** The fields as events hold them: each sealed by itself, null when it is empty. */
export type SealedFields = { readonly [Field in PersonalField]: string | null };

const KEY_ID = 'p';

/** Seals and opens the personal fields of one end user, with AES-256-GCM under the key of that end user. */
export class PersonalData {
  readonly #box: SecretBox;

  /** `key`: 32 bytes. */
  constructor(
    private readonly endUserId: string,
    key: Uint8Array,
  ) {
    this.#box = new SecretBox({ current: KEY_ID, keys: new Map([[KEY_ID, key]]) });
  }

  /** Seals those of the fields that are given. */
  seal<Given extends Partial<PersonalFields>>(
    fields: Given,
  ): { readonly [Field in keyof Given]: string | null } {
    const sealed = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [
        field,
        isEmpty(value) ? null : this.#box.seal(JSON.stringify(value), this.#aad(field)),
      ]);
    return Object.fromEntries(sealed) as { [Field in keyof Given]: string | null };
  }

  open(sealed: SealedFields): PersonalFields {
    return {
      externalId: this.#open('externalId', sealed) ?? '',
      displayName: this.#open('displayName', sealed),
      metadata: this.#open('metadata', sealed) ?? {},
      tags: this.#open('tags', sealed) ?? [],
    };
  }

  #open<Field extends PersonalField>(field: Field, sealed: SealedFields): PersonalFields[Field] | null {
    const text = sealed[field];
    return text === null
      ? null
      : (JSON.parse(this.#box.open(text, this.#aad(field))) as PersonalFields[Field]);
  }

  #aad(field: string): string {
    return `${this.endUserId}/${field}`;
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);
