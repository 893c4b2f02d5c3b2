import { isStaleEpoch } from '@berth/agent-client';
import type { PutComputerFile } from '@berth/contracts/computers';
import { pathProblem } from '@berth/contracts/files';
import type { PutFile } from '@berth/contracts/hosting';
import { runtimeRequests } from '@berth/contracts/runtime';
import { Clock, DomainError, effectOf, isDomainError, isoTime } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { Admission, ownerOf } from '../computer/admission.js';
import { ComputersFromLog } from '../computer-list/computers-from-log.js';
import { ComputerUseStreams } from './computer-use.streams.js';

/** Puts files in their places that were received. */
@Injectable()
export class WriteFileHandler {
  constructor(
    private readonly fromLog: ComputersFromLog,
    private readonly admission: Admission,
    private readonly uses: ComputerUseStreams,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly clock: Clock,
  ) {}

  /** Errors: see `filesRequests.put`. */
  async put({ staged, path, ...request }: PutComputerFile): Promise<PutFile> {
    const { accountId, computerId } = request;
    const computer = await this.fromLog.load(accountId, computerId);
    const problem = pathProblem(path);
    if (problem !== undefined) throw problem;
    await this.admission.admit(ownerOf(computer));
    const { stagedId, host, epoch } = staged;
    const command = { op: 'commit', stagedId, target: { kind: 'path', path } } as const;
    const written = await this.requester
      .request(runtimeRequests.changeFile, { agentId: computerId, epoch, command }, { host })
      .catch((error: unknown) => {
        throw failureOf(error);
      });
    const data = { computerId, bytes: written.size, at: isoTime(this.clock.now()) };
    await this.uses.handle(computerId, { type: 'ComputerFileWritten', data }, request);
    return { path: written.path, name: written.name, size: written.size };
  }
}

const failureOf = (error: unknown): unknown => {
  if (isStaleEpoch(error) || (isDomainError(error) && error.code === 'staged_file_unknown'))
    return new DomainError(
      'unavailable',
      'transfer_lost',
      'The computer went away before the file was put in place; nothing was changed. Send it again.',
      {},
      { cause: error, effect: 'none' },
    );
  if (effectOf(error) !== 'unknown') return error;
  return new DomainError(
    'unavailable',
    'computer_unavailable',
    'The response of the computer was lost: the file may have been written. Check before you try again.',
    {},
    { cause: error, effect: 'unknown' },
  );
};
