import { EventStreams, EventStore, type EventCodec } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import {
  externalIdDecider,
  type ExternalId,
  type ExternalIdCommand,
  type ExternalIdEvent,
} from './external-id.decider.js';

/** Codec of the streams `endUserExternalId-<hash>`. */
export const externalIdCodec: EventCodec<ExternalIdEvent> = {
  category: 'endUserExternalId',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    if (type !== 'ExternalIdTaken' && type !== 'ExternalIdReleased')
      throw new Error(`No event of an external id has the type ${type}.`);
    return { type, ...data } as unknown as ExternalIdEvent;
  },
};

/** Executes commands on the streams `endUserExternalId-…`. */
@Injectable()
export class ExternalIdStreams extends EventStreams<ExternalId, ExternalIdCommand, ExternalIdEvent> {
  constructor(store: EventStore) {
    super({ store, decider: externalIdDecider, codec: externalIdCodec });
  }
}
