import type { CreateEnlisted, PutEndUser } from '@berth/contracts/end-users';
import { isExternalUserId } from '@berth/contracts/schema';
import type { Handled, ProjectionRunner } from '@berth/event-store';
import { Clock, deriveId, DomainError, stepOf, type CommandEnvelope } from '@berth/kernel';
import { InjectProjection } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { END_USER_LIST } from '../end-user-list/end-user-list.projection.js';
import { ExternalIds } from '../external-id/external-ids.js';
import type { PersonalData } from '../personal-data/personal-data.js';
import { PersonalKeys } from '../personal-data/personal-keys.js';
import type { EndUser, EndUserEvent, LiveEndUser } from './end-user.js';
import { endUserNotFound, requireLive, type EndUserCommandToDecide } from './end-user.decider.js';
import { EndUserStreams } from './end-user.streams.js';

/** A put meets at most this many end users that are being deleted. */
const MAX_EVICTIONS = 5;

export interface Written {
  readonly endUser: LiveEndUser;
  readonly created: boolean;
}

interface Enlisted {
  readonly endUserId: string;
  readonly personal: PersonalData;
}

/** Writes the streams of end users, which are found by their external ids. */
@Injectable()
export class EndUserWrites {
  constructor(
    private readonly streams: EndUserStreams,
    private readonly externalIds: ExternalIds,
    private readonly keys: PersonalKeys,
    @InjectProjection(END_USER_LIST) private readonly list: Pick<ProjectionRunner, 'waitFor'>,
    private readonly clock: Clock,
  ) {}

  /** Creates or updates. Errors: invalid `invalid_external_id`. */
  put(command: PutEndUser): Promise<Written> {
    const { displayName, metadata, tags } = command;
    return this.write(command, {
      ...(displayName === undefined ? {} : { displayName }),
      ...(metadata === undefined ? {} : { metadata: metadata ?? {} }),
      ...(tags === undefined ? {} : { tags: tags ?? [] }),
    });
  }

  /** Creates an end user who may have been enlisted only. Errors: not_found `end_user_not_found` once it is deleted. */
  async createEnlisted(command: CreateEnlisted): Promise<void> {
    const { endUserId, accountId, externalId } = command;
    const personal = await this.keys.find(endUserId);
    if (personal === null) throw endUserNotFound();
    const now = this.clock.now();
    const sealed = personal.seal({ externalId }).externalId ?? '';
    await this.handle({ type: 'Ensure', endUserId, accountId, now, externalId: sealed }, command);
  }

  /**
   * Returns the end user with the external id, and the key of its data. If an interrupted creation took the external id,
   * the caller gets the end user that was to be created, so the id stays usable. Errors: invalid `invalid_external_id`.
   */
  async enlist(
    command: CommandEnvelope & { readonly externalId: string },
    evicted: string | null = null,
  ): Promise<Enlisted> {
    const { externalId } = command;
    if (!isExternalUserId(externalId)) throw invalidExternalId();
    // The id of a new end user derives from the command's id.
    const newId = deriveId('eus', command.commandId);
    let gone = evicted;
    for (let evictions = 0; evictions <= MAX_EVICTIONS; evictions++) {
      const endUserId = await this.externalIds.take(command, { externalId, endUserId: newId, evicted: gone });
      const { state } = await this.streams.load(endUserId);
      const personal = state.kind === 'deleted' ? null : await this.keys.ensure(endUserId);
      if (personal !== null) return { endUserId, personal };
      gone = endUserId;
    }
    throw beingDeleted();
  }

  /** Executes a command on the end user who has the external id. Errors: not_found `end_user_not_found`. */
  async change(
    envelope: CommandEnvelope & { readonly externalId: string },
    type: 'Suspend' | 'Resume' | 'Delete',
  ): Promise<Handled<EndUser, EndUserEvent>> {
    const endUserId = await this.externalIds.find(envelope.accountId, envelope.externalId);
    if (endUserId === null) throw endUserNotFound();
    const { accountId } = envelope;
    return this.handle({ type, endUserId, accountId, now: this.clock.now() }, envelope);
  }

  /** Records that nothing is left of a deleted end user. */
  async recordErasure(endUserId: string, envelope: CommandEnvelope): Promise<void> {
    const { accountId } = envelope;
    const command = { type: 'RecordErasure', endUserId, accountId, now: this.clock.now() } as const;
    await this.handle(command, stepOf(envelope, 'erased'));
  }

  /** Returns the end user who has the external id. Errors: not_found `end_user_not_found`. */
  async load(accountId: string, externalId: string): Promise<LiveEndUser> {
    const endUserId = await this.externalIds.find(accountId, externalId);
    if (endUserId === null) throw endUserNotFound();
    return requireLive((await this.streams.load(endUserId)).state);
  }

  /** Appends to a stream, and returns once the list contains the events. */
  async handle(
    command: EndUserCommandToDecide,
    envelope: CommandEnvelope,
  ): Promise<Handled<EndUser, EndUserEvent>> {
    const handled = await this.streams.handle(command.endUserId, command, envelope);
    if (handled.position !== null) await this.list.waitFor(handled.position);
    return handled;
  }

  private async write(
    command: CommandEnvelope & { readonly externalId: string },
    given: Pick<PutEndUser, 'displayName' | 'metadata' | 'tags'>,
  ): Promise<Written> {
    const { externalId, accountId } = command;
    let evicted: string | null = null;
    for (let evictions = 0; evictions <= MAX_EVICTIONS; evictions++) {
      const { endUserId, personal } = await this.enlist(command, evicted);
      const now = this.clock.now();
      const sealed = {
        externalId: personal.seal({ externalId }).externalId ?? '',
        given: personal.seal(given as object),
      };
      const { state, events } = await this.handle(
        { type: 'Put', endUserId, accountId, now, ...sealed },
        command,
      );
      if (state.kind === 'live')
        return { endUser: state, created: events.some((event) => event.type === 'EndUserCreated') };
      evicted = endUserId;
    }
    throw beingDeleted();
  }
}

const beingDeleted = (): DomainError =>
  new DomainError('unavailable', 'service_unavailable', 'The end user is being deleted. Try again shortly.');

const invalidExternalId = (): DomainError =>
  new DomainError(
    'invalid',
    'invalid_external_id',
    'Use an external id of 1 to 128 letters, digits and _ @ . : + -, but not . or ..',
  );
