import { aboutRequestedPaths } from '@berth/contracts/files';
import { DomainError, isDomainError } from '@berth/kernel';
import { EndUserKeys, fromPersonal, toPersonal, type PersonalKey } from '@berth/personal-data';
import { Injectable } from '@nestjs/common';
import type { Changed, FileOp, RecordedResult } from './file-change.js';
import type { FileChangeCommand } from './file-change.decider.js';

/** The operation as the audit records it. */
export interface RequestedChange {
  readonly op: FileOp;
  readonly path: string;
  readonly to?: string;
}

/** The recorded data of one change; the paths of an end user's agent are sealed. */
export class ChangeRecord {
  constructor(
    private readonly changeId: string,
    private readonly key: PersonalKey | null,
  ) {}

  request(
    ids: { readonly agentId: string; readonly accountId: string },
    { op, path, to }: RequestedChange,
    at: string,
  ): FileChangeCommand {
    const { agentId, accountId } = ids;
    const paths = { path, ...(to === undefined ? {} : { to }) };
    const personal = toPersonal(this.key, aboutRequestedPaths(this.changeId), paths);
    return { type: 'Request', changeId: this.changeId, agentId, accountId, op, personal, at };
  }

  completion({ size, ...paths }: Changed, at: string): FileChangeCommand {
    const personal = toPersonal(this.key, this.aboutChanged, paths);
    return { type: 'Complete', result: { personal, size }, at };
  }

  /** Errors: not_found `agent_not_found` if its end user is deleted. */
  open({ personal, size }: RecordedResult): Changed {
    const paths = fromPersonal(this.key, this.aboutChanged, personal);
    if (paths === null) throw agentNotFound();
    return { ...paths, size };
  }

  private get aboutChanged(): string {
    return `file-change/${this.changeId}/changed`;
  }
}

/** Opens and seals the paths of changes. */
@Injectable()
export class PersonalPaths {
  constructor(private readonly keys: EndUserKeys) {}

  /**
   * `endUserId`: the owner of the agent; null without one. Errors: not_found `agent_not_found` if the owner is deleted;
   * unavailable `agent_unavailable`.
   */
  async recordOf(changeId: string, endUserId: string | null): Promise<ChangeRecord> {
    if (endUserId === null) return new ChangeRecord(changeId, null);
    const key = await this.keys.find(endUserId).catch((error: unknown) => {
      throw isDomainError(error) ? unavailable(error) : error;
    });
    // Its agents are deleted before its key is.
    if (key === null) throw agentNotFound();
    return new ChangeRecord(changeId, key);
  }
}

/** Nothing was changed yet. */
const unavailable = (cause: DomainError): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The end user of the agent cannot be looked up; try again.',
    {},
    { cause, effect: 'none' },
  );

const agentNotFound = (): DomainError =>
  new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
