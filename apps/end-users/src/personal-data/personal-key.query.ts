import type { PersonalKeyView } from '@berth/contracts/end-users';
import { Injectable } from '@nestjs/common';
import { EndUserStreams } from '../end-user/end-user.streams.js';
import { PersonalKeys } from './personal-keys.js';

/** The key of an end user, for the services that hold personal data of it. */
@Injectable()
export class PersonalKeyQuery {
  constructor(
    private readonly streams: EndUserStreams,
    private readonly keys: PersonalKeys,
  ) {}

  /** The log decides: a key that a restored backup has brought back is not given away. */
  async run(endUserId: string): Promise<PersonalKeyView> {
    const { state } = await this.streams.load(endUserId);
    const personal = state.kind === 'deleted' ? null : await this.keys.find(endUserId);
    return { key: personal === null ? null : Buffer.from(personal.key.bytes).toString('base64') };
  }
}
