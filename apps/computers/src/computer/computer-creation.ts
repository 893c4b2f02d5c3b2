import type { CreateComputer, CreatedComputer } from '@berth/contracts/computers';
import { deriveId, DomainError } from '@berth/kernel';
import type { PersonalKey } from '@berth/personal-data';
import { pause } from '@berth/supervision';
import { Injectable } from '@nestjs/common';
import { Claims } from '../claim/claims.js';
import { Admission } from './admission.js';
import type { ComputerWithRow } from './computer.streams.js';
import { computerNotFound } from './decide-requested.js';
import { NewComputers } from './new-computers.js';

/** Less than a caller waits. */
const WITHIN_MS = 20_000;
/** Who holds the claim of an end user has this long to create its computer; then those who wait create it. */
const AWAITED_MS = 1_000;
const RETRY_MS = 50;

/** What one command is to create. */
interface Creation {
  readonly request: CreateComputer;
  /** The key of the end user who will own it. */
  readonly key: PersonalKey | null;
  /** The id that derives from the command. */
  readonly ownId: string;
}

/**
 * Creates computers; an end user has one. Who creates it for an end user first claims this for the id of a computer, so
 * that any number of commands in any number of processes speak of the same id: one of them creates the computer, and if
 * that one dies, another one does.
 */
@Injectable()
export class ComputerCreation {
  constructor(
    private readonly admission: Admission,
    private readonly claims: Claims,
    private readonly computers: NewComputers,
  ) {}

  /** Errors: see `computersRequests.create`; forbidden `end_user_suspended`; invalid `invalid_external_id`. */
  async create(request: CreateComputer): Promise<CreatedComputer> {
    const key = await this.computers.enlist(request);
    await this.admission.admit({ accountId: request.accountId, endUserId: key?.endUserId ?? null });
    const creation = { request, key, ownId: deriveId('cmp', request.commandId) };
    return key === null
      ? this.computers.create(request, key, creation.ownId)
      : this.getOrCreate(creation, key.endUserId);
  }

  private async getOrCreate({ request, key, ownId }: Creation, endUserId: string): Promise<CreatedComputer> {
    const begun = performance.now();
    let instead: string | null = null;
    while (performance.now() - begun < WITHIN_MS) {
      const claimed = await this.claims.claim({ endUserId, computerId: ownId, instead }, request);
      const found = await this.computers.load(claimed);
      if (isGone(found)) {
        // The repetition of a command whose computer was deleted in the meantime.
        if (claimed === ownId) throw computerNotFound();
        instead = claimed;
        continue;
      }
      const isAwaited = claimed !== ownId && performance.now() - begun < AWAITED_MS;
      if (found.computer.status === 'live' && claimed !== ownId)
        return { computer: await this.computers.view(request, found), created: false };
      if (found.computer.status === 'live' || !isAwaited)
        return await this.computers.create(request, key, claimed);
      await pause(RETRY_MS);
    }
    throw new DomainError(
      'unavailable',
      'service_unavailable',
      'The computer is being created. Try again shortly.',
    );
  }
}

const isGone = ({ computer: { status } }: ComputerWithRow): boolean =>
  status === 'deleting' || status === 'deleted';
