import { Clock, isoTime, stepOf, type CommandEnvelope } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ComputerOfEndUserStreams } from './computer-of-end-user.streams.js';

/** A claim on being the one computer of an end user. */
export interface Claim {
  readonly endUserId: string;
  readonly computerId: string;
  /** See `ClaimComputer`. */
  readonly instead: string | null;
}

/** Keeps end users to one computer each, across any number of processes. */
@Injectable()
export class Claims {
  constructor(
    private readonly streams: ComputerOfEndUserStreams,
    private readonly clock: Clock,
  ) {}

  /** Returns the computer that holds the claim now: this one, or another one that was first. */
  async claim({ endUserId, computerId, instead }: Claim, envelope: CommandEnvelope): Promise<string> {
    const at = isoTime(this.clock.now());
    const command = { endUserId, computerId, instead, at };
    const origin = stepOf(envelope, `claim:${instead ?? 'first'}`);
    const { state } = await this.streams.handle(endUserId, command, origin);
    return state.computerId ?? computerId;
  }
}
