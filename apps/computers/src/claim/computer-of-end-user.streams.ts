import { EventStore, EventStreams } from '@berth/event-store';
import { Injectable } from '@nestjs/common';
import {
  claimCodec,
  claimDecider,
  type ClaimComputer,
  type ClaimOfEndUser,
  type ComputerOfEndUserClaimed,
} from './computer-of-end-user.js';

/** Loads the streams `computerOfEndUser-eus_…` and appends the claims that their decider decides. */
@Injectable()
export class ComputerOfEndUserStreams extends EventStreams<
  ClaimOfEndUser,
  ClaimComputer,
  ComputerOfEndUserClaimed
> {
  constructor(store: EventStore) {
    super({ store, decider: claimDecider, codec: claimCodec });
  }
}
