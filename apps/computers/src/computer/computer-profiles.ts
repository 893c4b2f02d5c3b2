import type { CreateComputer } from '@berth/contracts/computers';
import { OperatorSettings } from '@berth/operator-file';
import { ResourceOwners, type PersonalKey } from '@berth/personal-data';
import { Inject, Injectable } from '@nestjs/common';
import { toPersonalIdentity } from '../personal-data/computer-identity.js';
import type { Profile } from './computer.js';

/** The profiles of computers that are to be created, and the end users who will own them. */
@Injectable()
export class ComputerProfiles {
  constructor(
    private readonly owners: ResourceOwners,
    @Inject(OperatorSettings) private readonly operator: Pick<OperatorSettings, 'current'>,
  ) {}

  /** Errors: see `ResourceOwners.enlist`. */
  enlist(request: CreateComputer): Promise<PersonalKey | null> {
    return this.owners.enlist(request);
  }

  of(request: CreateComputer, key: PersonalKey | null, computerId: string): Profile {
    const { accountId, name, externalUserId, display, idleTtlSeconds } = request;
    return {
      accountId,
      personal: toPersonalIdentity(key, computerId, { name, externalUserId }),
      display,
      resources: this.operator.current.computers,
      idleTtlSeconds,
    };
  }

  /** Creates the owner unless it exists; returns false if it was deleted, so that the computer must go, too. */
  createOwner(request: CreateComputer, { personal }: Profile): Promise<boolean> {
    return personal.endUserId === null
      ? Promise.resolve(true)
      : this.owners.create(request, personal.endUserId);
  }
}
