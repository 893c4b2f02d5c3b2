import type { MetadataValue } from '@berth/contracts/end-users';
import type { PersonalKey } from '@berth/personal-data';

/** The personal fields of an end user. */
export interface PersonalFields {
  readonly externalId: string;
  readonly displayName: string | null;
  readonly metadata: Readonly<Record<string, MetadataValue>>;
  readonly tags: readonly string[];
}

export type PersonalField = keyof PersonalFields;

/** The fields as events hold them: each sealed separately, null when it is empty. */
export type SealedFields = { readonly [Field in PersonalField]: string | null };

/** Seals and opens the personal fields of one end user. */
export class PersonalData {
  constructor(readonly key: PersonalKey) {}

  /** Seals those of the fields that are given. */
  seal<Given extends Partial<PersonalFields>>(
    fields: Given,
  ): { readonly [Field in keyof Given]: string | null } {
    const sealed = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [field, isEmpty(value) ? null : this.key.seal(field, value)]);
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
    return text === null ? null : (this.key.open(field, text) as PersonalFields[Field]);
  }
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);
